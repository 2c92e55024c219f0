/* SPDX-License-Identifier: MIT */
#ifndef EVIX_ACCEPT_H
#define EVIX_ACCEPT_H

/*
 * Accepting by system calls, on every backend. Not by the ring of io_uring: an accept that waits in
 * the kernel may be carried out for a process that was woken to be killed, and the connection dies
 * with it, although its successor has the same listener.
 */

#include "op_private.h"

enum {
    ACCEPT_EMPTY,    /* nothing waits any more: go on when the listener becomes readable */
    ACCEPT_MORE,     /* its turn is over */
    ACCEPT_UNWANTED, /* cancelled by its callback */
};

/* Delivers connections, in phase 3. What is to come next, or the error that ends the operation. */
int evix__accept_burst(struct evix_loop *loop, struct evix_op *op);

#endif
