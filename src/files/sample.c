/* SPDX-License-Identifier: MIT */
/*
 * Reads a little of a large file, at its beginning, middle and end, for its entity tag: times and
 * sizes can be equal where the content is not. It makes no tag (validator.c does).
 * Called by fetch.c.
 */
#include "files/sample.h"

#include <assert.h>
#include <sys/uio.h>

#include "files/hash.h"

#define PIECES      3
#define PIECE_BYTES 4096
#define SAMPLE_SEED 0x65766978642d3032u /* part of the format of tags: don't change */

static void read_on(struct fill *fill);

/* The next part to be read, of a file that may be no longer than all pieces: then it is whole. */
static uint64_t piece_of(const struct fill *fill, uint64_t *offset)
{
    uint64_t size = fill->entry->stat.size, begin = (uint64_t)fill->piece * PIECE_BYTES;
    uint64_t end = begin + PIECE_BYTES < size ? begin + PIECE_BYTES : size;

    if (size > PIECES * PIECE_BYTES && fill->piece > 0) {
        begin = fill->piece == 1 ? size / 2 - size / 2 % PIECE_BYTES : size - PIECE_BYTES;
        end = begin + PIECE_BYTES;
    }
    begin += fill->filled;
    *offset = begin;
    return begin < end ? end - begin : 0;
}

static void take(struct fill *fill, uint64_t got)
{
    fill->filled += got;
    fill->sampled += got;
}

static void next_piece(struct fill *fill)
{
    fill->piece++;
    fill->filled = 0;
}

static void on_read(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (fill->abandoned) {
        fill_free(fill);
        return;
    }
    /* Cut meanwhile, or not to be read: who is sent the content will find out. */
    if (result <= 0)
        next_piece(fill);
    else
        take(fill, (uint64_t)result);
    read_on(fill);
}

/* What the page cache has is here at once. */
static bool read_inline(struct fill *fill, uint64_t offset, uint64_t length)
{
    struct iovec iov = {fill->chunk + fill->sampled, length};
    ssize_t got = -1;

    if (!fill->store->never_inline)
        got = preadv2(fill->fd, &iov, 1, (off_t)offset, RWF_NOWAIT);
    if (got <= 0)
        return false;
    take(fill, (uint64_t)got);
    return true;
}

static void read_on(struct fill *fill)
{
    uint64_t offset, length;

    while (fill->piece < PIECES) {
        length = piece_of(fill, &offset);
        if (length == 0) {
            next_piece(fill);
        } else if (!read_inline(fill, offset, length)) {
            evix_file_read(&fill->op, fill->store->loop, &fill->request, fill->fd,
                           fill->chunk + fill->sampled, (uint32_t)length, offset, on_read);
            return;
        }
    }
    fill->sample = hash_bytes(SAMPLE_SEED, fill->chunk, fill->sampled);
    chunk_give(&fill->store->chunks, fill->chunk);
    fill->chunk = NULL;
    fetch_sampled(fill);
}

void sample_start(struct fill *fill)
{
    static_assert(PIECES * PIECE_BYTES <= CHUNK_BYTES, "a chunk holds a sample");
    fill->chunk = chunk_take(&fill->store->chunks);
    if (fill->chunk == NULL) {
        fill_conclude(fill, NULL);
        return;
    }
    fill->step = FILL_SAMPLE;
    fill->piece = 0;
    fill->filled = 0;
    fill->sampled = 0;
    read_on(fill);
}
