/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_CHUNK_H
#define EVIXD_FILES_CHUNK_H

/*
 * Buffers for what is read from cold files: one size, a few kept for the next.
 */

#include <stddef.h>

#define CHUNK_BYTES (128 * 1024)

/* All zero is empty. */
struct chunk_pool {
    struct chunk *spare;
    size_t count;
};

/* CHUNK_BYTES of memory, or NULL. */
void *chunk_take(struct chunk_pool *pool);
/* NULL is fine. */
void chunk_give(struct chunk_pool *pool, void *memory);
void chunk_pool_fini(struct chunk_pool *pool);

#endif
