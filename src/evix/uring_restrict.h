/* SPDX-License-Identifier: MIT */
#ifndef EVIX_URING_RESTRICT_H
#define EVIX_URING_RESTRICT_H

/*
 * A ring makes system calls that no filter of them sees. So a ring of the loop's is limited to
 * what the loop asks of it: it opens no connection, makes no socket, writes and removes no file.
 */

#include <liburing.h>

/*
 * To be called right after the ring was made, disabled; later a filter may forbid it. 0 or a
 * negative errno; kernels before 5.10 (which have no disabled rings either) do not know it.
 */
int evix__uring_restrict(struct io_uring *ring);

#endif
