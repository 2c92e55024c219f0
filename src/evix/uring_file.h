/* SPDX-License-Identifier: MIT */
#ifndef EVIX_URING_FILE_H
#define EVIX_URING_FILE_H

/* File operations as entries of a ring; which ring is the caller's affair. */

#include "file_call.h"

#include <liburing.h>

/* Fills an entry for the operation; its user data is the pointer to the operation. */
void evix__uring_file_prepare(struct io_uring_sqe *entry, struct evix_op *op);

/* True if this completion settles nothing and the operation is to be submitted once more. */
bool evix__uring_file_again(struct evix_op *op, int result);

/* What the caller of the operation is told, from the completion's result; see evix__file_verdict().
 */
ssize_t evix__uring_file_verdict(const struct evix_op *op, int result);

#endif
