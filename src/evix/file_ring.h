/* SPDX-License-Identifier: MIT */
#ifndef EVIX_FILE_RING_H
#define EVIX_FILE_RING_H

#include "loop_private.h"

/*
 * Gives a loop on readiness a small ring for its files: sets loop->files. -ENOSYS or -EPERM where
 * there is no ring to be had; then file_pool.h is the way.
 */
int evix__file_ring_new(struct evix_loop *loop);

#endif
