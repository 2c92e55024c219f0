/* SPDX-License-Identifier: MIT */
/*
 * A pool of equal buffers, so that cold downloads do not allocate for each piece.
 * It does not bound how many are in use: each body holds at most one. Called by body_file.c.
 */

#include "files/chunk.h"

#include <assert.h>
#include <stdlib.h>

/* 2 MiB: enough for the reads that a disk has in flight; the rest goes back to the system. */
#define SPARE_MAX 16

struct chunk {
    struct chunk *next;
};

void *chunk_take(struct chunk_pool *pool)
{
    struct chunk *chunk = pool->spare;

    if (chunk == NULL)
        return malloc(CHUNK_BYTES);
    assert(pool->count > 0);
    pool->spare = chunk->next;
    pool->count--;
    return chunk;
}

void chunk_give(struct chunk_pool *pool, void *memory)
{
    struct chunk *chunk = memory;

    if (chunk == NULL)
        return;
    if (pool->count >= SPARE_MAX) {
        free(chunk);
        return;
    }
    chunk->next = pool->spare;
    pool->spare = chunk;
    pool->count++;
}

void chunk_pool_fini(struct chunk_pool *pool)
{
    while (pool->spare != NULL) {
        struct chunk *chunk = pool->spare;

        pool->spare = chunk->next;
        free(chunk);
    }
    pool->count = 0;
}
