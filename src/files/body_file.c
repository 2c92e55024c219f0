/* SPDX-License-Identifier: MIT */
/*
 * A body that is a range of a file: its bytes if they are in memory; ranges of the descriptor that
 * the page cache holds; and what it does not hold, read asynchronously, a bounded piece at a time.
 * It never gives more or less than was promised: where the file ends early, it fails.
 * Called by the server's static handler.
 */

#include <config.h>

#include "files/interior.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * A piece is bounded, so that one fast client can't hold the loop: this much takes some 0.15 ms.
 * With a quarter of it 10 MiB cost 1.72 ms instead of 1.53 (nginx: 1.60).
 */
#define PIECE_BYTES (1024 * 1024)
/*
 * One byte speaks for the block that it ends. What the kernel reads ahead is on its way in blocks
 * of this size or larger, and comes in order.
 */
#define BLOCK_BYTES (64 * 1024)
/* So much is looked up in the page cache at once, and believed for so long: a hot file costs its
 * probes once for many pieces and many clients. Pages leave the cache by the second, not faster. */
#define WINDOW_BYTES (2 * 1024 * 1024)
#define BELIEVED_MS  100

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum read_state { READ_NONE, READ_PENDING, READ_DONE };

struct file_body {
    struct body body;
    struct store *store;
    struct representation *file;
    uint64_t offset, end;
    enum read_state state;
    bool released;
    void *chunk; /* in use from the read to the piece after it */
    ssize_t result;
    struct evix_op op;
    struct evix_file_request request;
};

/* ---- hot or cold ---- */

enum presence { ABSENT, PRESENT, UNKNOWN };

/* cachestat(2), Linux 6.5: are there pages for all of the range, even if still being read? */
static enum presence probe_pages(struct store *store, int fd, uint64_t from, uint64_t to)
{
    struct {
        uint64_t offset, length;
    } range = {from, to - from};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (store->no_cachestat)
        return UNKNOWN;
    if (syscall(SYS_cachestat, fd, &range, &pages, 0) < 0) {
        /* No such call, or (since 6.13) only for who may write the file: then don't ask again. */
        store->no_cachestat = errno == ENOSYS || errno == EPERM;
        return UNKNOWN;
    }
    return pages.cached >= (to - 1) / page - from / page + 1 ? PRESENT : ABSENT;
}

/* Reads a byte if that needs no waiting. 0 means nothing: old kernels gave it without reason. */
static enum presence probe_byte(int fd, uint64_t at)
{
    char byte;
    struct iovec iov = {&byte, 1};
    ssize_t got = preadv2(fd, &iov, 1, (off_t)at, RWF_NOWAIT);

    if (got < 0 && errno == EOPNOTSUPP)
        return UNKNOWN; /* tmpfs, overlayfs */
    return got == 1 ? PRESENT : ABSENT;
}

/*
 * How much from `from` on is in memory, as far as its blocks' last bytes tell. A byte that is not
 * there is being read from then on: so they are asked for in order, and none behind a missing one.
 * (Asked first, the end would be there first, and hide what is missing before it.)
 */
static uint64_t probe_blocks(int fd, uint64_t from, uint64_t to, enum presence *found)
{
    uint64_t at = from;

    *found = PRESENT;
    while (at < to) {
        uint64_t end = at - at % BLOCK_BYTES + BLOCK_BYTES;

        if (end > to)
            end = to;
        *found = probe_byte(fd, end - 1);
        if (*found != PRESENT)
            break;
        at = end;
    }
    return at - from;
}

/* The bytes tell what is still on its way, the pages whether there are holes. */
static uint64_t probe(struct store *store, int fd, uint64_t from, uint64_t to)
{
    enum presence found;
    uint64_t length = probe_blocks(fd, from, to, &found);

    if (found == UNKNOWN)
        return probe_pages(store, fd, from, to) == PRESENT ? to - from : 0;
    return length == 0 || probe_pages(store, fd, from, from + length) == ABSENT ? 0 : length;
}

/*
 * How much of the next piece can be sent from the page cache, which may have a part of it only. It
 * may be wrong; that costs a short stall, never a wrong byte.
 */
static uint64_t hot_length(const struct file_body *body, uint64_t length)
{
    struct representation *file = body->file;
    struct store *store = body->store;
    uint64_t from = body->offset, now = evix_now_ms(store->loop);
    uint64_t window = from + WINDOW_BYTES < file->size ? from + WINDOW_BYTES : file->size;
    uint64_t found;

    if (from >= file->hot_from && from + length <= file->hot_to && now < file->hot_until)
        return length;
    if (store->never_inline)
        return 0;
    found = probe(store, file->fd, from, window < from + length ? from + length : window);
    if (found != 0) {
        file->hot_from = from;
        file->hot_to = from + found;
        file->hot_until = now + BELIEVED_MS;
    }
    return found < length ? found : length;
}

/* ---- cold reads ---- */

static void destroy(struct file_body *body)
{
    chunk_give(&body->store->chunks, body->chunk);
    representation_unref(&body->file);
    free(body);
}

static void on_read(struct evix_op *op, ssize_t result)
{
    struct file_body *body = EVIX_CONTAINER_OF(op, struct file_body, op);
    struct store *store = body->store;

    assert(body->state == READ_PENDING);
    body->state = READ_DONE;
    body->result = result;
    if (body->released)
        destroy(body);
    else
        body->body.ready(body->body.ready_data);
    store_release(store);
}

/* The kernel reads ahead by itself, as these reads are in order. */
static void start_read(struct file_body *body, struct body_piece *out)
{
    uint64_t left = body->end - body->offset;
    uint32_t length = left < CHUNK_BYTES ? (uint32_t)left : CHUNK_BYTES;

    assert(left > 0 && body->chunk == NULL);
    body->chunk = chunk_take(&body->store->chunks);
    if (body->chunk == NULL) {
        *out = (struct body_piece){.kind = BODY_FAILED, .error = -ENOMEM};
        return;
    }
    body->state = READ_PENDING;
    store_hold(body->store);
    if (body->file->closer != NULL) /* a slow file */
        evix_file_read_aside(&body->op, body->store->loop, &body->request, body->file->fd,
                             body->chunk, length, body->offset, on_read);
    else
        evix_file_read(&body->op, body->store->loop, &body->request, body->file->fd, body->chunk,
                       length, body->offset, on_read);
    *out = (struct body_piece){.kind = BODY_LATER};
}

static void finish_read(struct file_body *body, struct body_piece *out)
{
    assert(body->chunk != NULL && body->result <= CHUNK_BYTES);
    body->state = READ_NONE;
    if (body->result <= 0) {
        /* Nothing where more was promised: the file was cut. */
        *out = (struct body_piece){
            .kind = BODY_FAILED,
            .error = body->result < 0 ? (int)body->result : -ENODATA,
        };
        return;
    }
    *out = (struct body_piece){
        .kind = BODY_BYTES, .data = body->chunk, .length = (size_t)body->result};
    body->offset += (uint64_t)body->result;
}

/* ---- the body ---- */

static void next_of_file(struct body *base, struct body_piece *out)
{
    struct file_body *body = EVIX_CONTAINER_OF(base, struct file_body, body);
    uint64_t left = body->end - body->offset;
    uint64_t length = left < PIECE_BYTES ? left : PIECE_BYTES;

    if (body->state == READ_DONE) {
        finish_read(body, out);
        return;
    }
    assert(body->state == READ_NONE);
    chunk_give(&body->store->chunks, body->chunk);
    body->chunk = NULL;
    if (left == 0) {
        *out = (struct body_piece){.kind = BODY_END};
        return;
    }
    if (body->file->bytes != NULL) {
        *out = (struct body_piece){
            .kind = BODY_BYTES, .data = body->file->bytes + body->offset, .length = left};
        body->offset = body->end;
        return;
    }
    length = hot_length(body, length);
    if (length == 0) {
        start_read(body, out);
        return;
    }
    *out = (struct body_piece){
        .kind = BODY_FILE,
        .fd = body->file->fd,
        .offset = (int64_t)body->offset,
        .length = length,
    };
    body->offset += length;
}

static void release_file(struct body *base)
{
    struct file_body *body = EVIX_CONTAINER_OF(base, struct file_body, body);

    if (body->state != READ_PENDING) {
        destroy(body);
        return;
    }
    body->released = true; /* its memory is the read's until that has ended */
    evix_cancel(&body->op);
}

static const struct body_ops file_ops = {next_of_file, release_file};

int body_from_file(struct body **out, struct store *store, struct representation *file,
                   uint64_t offset, uint64_t length)
{
    struct file_body *body = calloc(1, sizeof(*body));

    *out = NULL;
    assert(file->kind == REPRESENTATION_FILE && offset <= file->size &&
           length <= file->size - offset);
    if (body == NULL)
        return -ENOMEM;
    body->body.ops = &file_ops;
    body->body.length = (int64_t)length;
    body->store = store;
    body->file = representation_ref(file);
    body->offset = offset;
    body->end = offset + length;
    *out = &body->body;
    return 0;
}

void body_file_aim(struct body *base, uint64_t offset, uint64_t length)
{
    struct file_body *body = EVIX_CONTAINER_OF(base, struct file_body, body);

    assert(body->state == READ_NONE && body->offset == body->end);
    assert(offset <= body->file->size && length <= body->file->size - offset);
    body->offset = offset;
    body->end = offset + length;
}
