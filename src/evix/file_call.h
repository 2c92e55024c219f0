/* SPDX-License-Identifier: MIT */
#ifndef EVIX_FILE_CALL_H
#define EVIX_FILE_CALL_H

/* File operations as plain system calls, which may block: for the threads of the work pool. */

#include "op_private.h"

#include <evix/file.h>

/* How often an open that met a rename is tried again. */
enum { FILE_OPEN_TRIES = 8 };

/* Does what the operation says. A descriptor, 0, a count of bytes, or a negative errno. */
ssize_t evix__file_call(const struct evix_op *op);

static inline struct evix_file_request *file_request(const struct evix_op *op)
{
    return op->u.file.request;
}

/*
 * What the caller of a finished operation is told. A cancelled one that succeeded all the same
 * counts as cancelled where success would leave something behind: its descriptor is closed.
 */
ssize_t evix__file_verdict(const struct evix_op *op, ssize_t result);

#endif
