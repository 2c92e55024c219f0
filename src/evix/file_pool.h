/* SPDX-License-Identifier: MIT */
#ifndef EVIX_FILE_POOL_H
#define EVIX_FILE_POOL_H

#include "file_call.h"

/* File operations in the work pool. */
struct file_pool {
    struct file_engine engine;
    struct loop_part part;
    struct evix_link running; /* requests that the pool has */
};

/* Sets loop->files. -ENOMEM. */
int evix__file_pool_new(struct evix_loop *loop);

#endif
