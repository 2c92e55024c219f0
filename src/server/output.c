/* SPDX-License-Identifier: MIT */
/*
 * Gathers what a connection sends, and keeps a pool of the buffers for that.
 * It does not send, and does not know what the bytes are.
 * Called by http1.c.
 */
#include "server/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "server/poison.h"

/* As many idle ones are kept as a burst on one worker plausibly needs at a time. */
#define POOL_KEEPS 64

struct output_block {
    struct output_block *next;
    char memory[];
};

static struct output *unpool(struct output_pool *pool)
{
    struct output *output = pool->free;

    ASAN_UNPOISON_MEMORY_REGION(output, sizeof(*output));
    pool->free = output->next_free;
    pool->free_count--;
    return output;
}

struct output *output_get(struct output_pool *pool)
{
    struct output *output;

    if (pool->free != NULL)
        return unpool(pool);
    output = malloc(sizeof(*output));
    if (output != NULL) {
        memset(output, 0, offsetof(struct output, buffer));
        output->leaving_end = &output->leaving;
    }
    return output;
}

void output_put(struct output_pool *pool, struct output *output)
{
    assert(!evix_op_pending(&output->op));
    assert(output->leaving == NULL);
    output_reset(output);
    if (pool->free_count == POOL_KEEPS) {
        free(output);
        return;
    }
    output->next_free = pool->free;
    pool->free = output;
    pool->free_count++;
    ASAN_POISON_MEMORY_REGION(output, sizeof(*output));
}

void output_pool_fini(struct output_pool *pool)
{
    while (pool->free != NULL)
        free(unpool(pool));
}

void output_reset(struct output *output)
{
    while (output->blocks != NULL) {
        struct output_block *block = output->blocks;

        output->blocks = block->next;
        free(block);
    }
    output->leaving = NULL;
    output->leaving_end = &output->leaving;
    output->queued_bytes = 0;
    output->piece_count = 0;
    output->used = 0;
}

char *output_reserve(struct output *output, size_t length)
{
    if (length <= OUTPUT_BYTES - output->used)
        return output->buffer + output->used;

    struct output_block *block = malloc(sizeof(*block) + length);
    if (block == NULL)
        return NULL;
    block->next = output->blocks;
    output->blocks = block;
    return block->memory;
}

void output_commit(struct output *output, const char *start, size_t length)
{
    if (start == output->buffer + output->used)
        output->used += (unsigned)length;
    output_refer(output, start, length);
}

bool output_copy(struct output *output, const char *data, size_t length)
{
    char *memory = output_reserve(output, length);

    if (memory == NULL)
        return false;
    memcpy(memory, data, length);
    output_commit(output, memory, length);
    return true;
}

void output_refer(struct output *output, const char *data, size_t length)
{
    if (length == 0)
        return;
    output->queued_bytes += length;
    if (output->piece_count != 0) {
        struct iovec *last = &output->pieces[output->piece_count - 1];

        /* What follows on directly is one piece: a plain send is cheaper than a gathering one. */
        if ((char *)last->iov_base + last->iov_len == data) {
            last->iov_len += length;
            return;
        }
    }
    assert(output->piece_count < OUTPUT_PIECES);
    output->pieces[output->piece_count++] =
        (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = length};
}
