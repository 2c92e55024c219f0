/* SPDX-License-Identifier: MIT */
#ifndef SERVER_OUTPUT_H
#define SERVER_OUTPUT_H

/*
 * What a connection is about to send: heads and small contents copied into one buffer, larger
 * contents by reference, gathered so that pipelined answers leave in one send. A connection holds
 * one only while it has something to send.
 */

#include <evix/op.h>

#include <stdbool.h>

#define OUTPUT_BYTES  24576
#define OUTPUT_PIECES 32

struct exchange;
struct output_block; /* memory for what the buffer is too small for */

struct output {
    struct evix_op op;
    struct output *next_free;
    struct exchange *leaving; /* whose last bytes are in here, in order; the carrier's */
    struct exchange **leaving_end;
    struct output_block *blocks;
    uint64_t queued_bytes; /* in all pieces */
    unsigned piece_count;
    unsigned used; /* of the buffer */
    struct iovec pieces[OUTPUT_PIECES];
    char buffer[OUTPUT_BYTES];
};

/* Outputs that wait for their next use; one pool a worker. */
struct output_pool {
    struct output *free;
    unsigned free_count;
};

/* An empty output, or NULL if there is no memory. */
struct output *output_get(struct output_pool *pool);
void output_put(struct output_pool *pool, struct output *output);
void output_pool_fini(struct output_pool *pool);

/* Empties it after a send; whose bytes were in it was taken off before. */
void output_reset(struct output *output);

static inline bool output_is_empty(const struct output *output)
{
    return output->queued_bytes == 0;
}

/* Whether another small response fits, or what is there should be sent first. */
static inline bool output_has_room(const struct output *output)
{
    return output->used < OUTPUT_BYTES - 4096 && output->piece_count < OUTPUT_PIECES - 4;
}

/*
 * Memory to write up to `length` bytes to; what was written is then queued with output_commit().
 * NULL if there is no memory.
 */
char *output_reserve(struct output *output, size_t length);
void output_commit(struct output *output, const char *start, size_t length);

/* Queues a copy. False if there is no memory. */
bool output_copy(struct output *output, const char *data, size_t length);

/* Queues memory that stays until the send is over. */
void output_refer(struct output *output, const char *data, size_t length);

#endif
