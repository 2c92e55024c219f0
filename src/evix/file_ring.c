/* SPDX-License-Identifier: MIT */
/*
 * A small ring for the file operations of a loop that otherwise works by readiness. That the ring
 * has completions is seen like any other readiness: its descriptor is watched.
 * Does not fill or interpret entries (uring_file.c), and has no part in loops on io_uring.
 * Made by file.c at a loop's first file operation, called by ready.c.
 */
#include "file_ring.h"

#include "op_private.h"
#include "uring_file.h"
#include "uring_open.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ENTRIES = 64, /* more go in several submissions */
    COMPLETIONS = 1024,
    RETRY_MS = 5,
    CANCEL_DUE = OP_BACKEND, /* op.flags: waits for room in the submission queue */
    IN_BACKLOG = OP_BACKEND << 1,
};

/* User data of entries that cancel; everything else is a pointer to an operation. */
static const uint64_t cancel_data = 1;

struct file_ring {
    struct file_engine engine;
    struct loop_part part;
    struct evix_loop *loop;
    struct io_uring ring;
    struct evix_io io;
    struct evix_timer retry;   /* the kernel refused a submission */
    struct evix_link requests; /* under way, in the kernel or in the backlog */
    struct op_queue backlog;   /* found the submission queue full */
    size_t in_kernel;
    bool has_cancels_due;
};

static struct file_ring *file_ring(struct evix_loop *loop)
{
    return EVIX_CONTAINER_OF(loop->files, struct file_ring, engine);
}

/* NULL if the queue is full and the kernel takes none of it just now. */
static struct io_uring_sqe *take_entry(struct file_ring *ring)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->ring);
    if (entry)
        return entry;
    io_uring_submit(&ring->ring);
    return io_uring_get_sqe(&ring->ring);
}

static bool enter(struct file_ring *ring, struct evix_op *op)
{
    struct io_uring_sqe *entry = take_entry(ring);
    if (!entry)
        return false;
    evix__uring_file_prepare(entry, op);
    ring->in_kernel++;
    return true;
}

static void enter_or_wait(struct file_ring *ring, struct evix_op *op)
{
    if (!ring->backlog.first && enter(ring, op))
        return;
    op->flags |= IN_BACKLOG;
    op_queue_append(&ring->backlog, op);
}

static void submit(struct evix_loop *loop, struct evix_op *op)
{
    struct file_ring *ring = file_ring(loop);
    list_append(&ring->requests, &file_request(op)->link);
    enter_or_wait(ring, op);
}

static bool enter_cancel(struct file_ring *ring, struct evix_op *op)
{
    struct io_uring_sqe *entry = take_entry(ring);
    if (!entry)
        return false;
    io_uring_prep_cancel(entry, op, 0);
    io_uring_sqe_set_data64(entry, cancel_data);
    ring->in_kernel++;
    return true;
}

static void settle(struct file_ring *ring, struct evix_op *op, ssize_t result)
{
    list_remove(&file_request(op)->link);
    evix__op_finish(ring->loop, op, result);
}

static void enter_backlog(struct file_ring *ring)
{
    struct evix_op *op = op_queue_take(&ring->backlog), *next;
    for (; op; op = next) {
        next = op->next;
        op->flags &= (uint16_t)~IN_BACKLOG;
        if (!(op->flags & OP_CANCELLED)) {
            enter_or_wait(ring, op);
            continue;
        }
        list_remove(&file_request(op)->link);
        evix__op_complete(ring->loop, op, -ECANCELED);
    }
}

static void enter_cancels(struct file_ring *ring)
{
    ring->has_cancels_due = false;
    struct evix_link *link = ring->requests.next;
    for (; link != &ring->requests; link = link->next) {
        struct evix_op *op = EVIX_CONTAINER_OF(link, struct evix_file_request, link)->op;
        if (!(op->flags & CANCEL_DUE) || (op->flags & IN_BACKLOG))
            continue;
        if (enter_cancel(ring, op))
            op->flags &= (uint16_t)~CANCEL_DUE;
        else
            ring->has_cancels_due = true;
    }
}

/* What the kernel does not take now, for want of memory or room, is offered again a little later.
 */
static void flush(struct evix_loop *loop)
{
    struct file_ring *ring = file_ring(loop);
    if (ring->backlog.first)
        enter_backlog(ring);
    if (ring->has_cancels_due)
        enter_cancels(ring);
    if (io_uring_sq_ready(&ring->ring) == 0)
        return;
    io_uring_submit(&ring->ring);
    if (io_uring_sq_ready(&ring->ring) > 0 || ring->backlog.first)
        evix_timer_start(&ring->retry, RETRY_MS, 0);
}

static void on_retry(struct evix_timer *timer)
{
    flush(EVIX_CONTAINER_OF(timer, struct file_ring, retry)->loop);
}

/* At once: nothing else may be started in this iteration. */
static void cancel(struct evix_loop *loop, struct evix_op *op)
{
    struct file_ring *ring = file_ring(loop);
    if ((op->flags & IN_BACKLOG) || !enter_cancel(ring, op)) {
        op->flags |= CANCEL_DUE;
        ring->has_cancels_due = true;
    }
    flush(loop);
}

/* Copies a completion and gives its place back before anything else is called. */
static bool next_completion(struct file_ring *ring, struct io_uring_cqe *out)
{
    struct io_uring_cqe *completion;
    if (io_uring_cq_ready(&ring->ring) == 0 || io_uring_peek_cqe(&ring->ring, &completion) < 0 ||
        !completion)
        return false;
    *out = *completion;
    io_uring_cqe_seen(&ring->ring, completion);
    assert(ring->in_kernel > 0);
    ring->in_kernel--;
    return true;
}

static void on_readable(struct evix_io *io, unsigned events)
{
    struct file_ring *ring = EVIX_CONTAINER_OF(io, struct file_ring, io);
    struct io_uring_cqe completion;
    (void)events;
    if (io_uring_cq_ready(&ring->ring) == 0)
        io_uring_get_events(&ring->ring);            /* completions that found their queue full */
    unsigned count = io_uring_cq_ready(&ring->ring); /* a bound: callbacks start new ones */
    while (count-- > 0 && next_completion(ring, &completion)) {
        if (completion.user_data == cancel_data)
            continue;
        struct evix_op *op = io_uring_cqe_get_data(&completion);
        if (evix__uring_file_again(op, completion.res))
            enter_or_wait(ring, op);
        else
            settle(ring, op, evix__uring_file_verdict(op, completion.res));
    }
    flush(ring->loop);
}

/* Waits for all that the kernel has; false if it does not let us. */
static bool drain_one(struct file_ring *ring)
{
    struct io_uring_cqe completion;
    int error = io_uring_submit_and_wait(&ring->ring, 1);
    if (error < 0 && error != -EINTR && error != -EBUSY && error != -EAGAIN)
        return false;
    while (next_completion(ring, &completion)) {
        struct evix_op *op = io_uring_cqe_get_data(&completion);
        if (completion.user_data != cancel_data && op->kind == OP_FILE_OPEN && completion.res >= 0)
            close(completion.res); /* nobody is told of it any more */
    }
    return true;
}

static void drain(struct file_ring *ring)
{
    struct evix_link *link = ring->requests.next;
    for (; link != &ring->requests; link = link->next) {
        struct evix_op *op = EVIX_CONTAINER_OF(link, struct evix_file_request, link)->op;
        if (!(op->flags & (OP_CANCELLED | IN_BACKLOG)))
            (void)enter_cancel(ring, op);
    }
    while (ring->in_kernel > 0 && drain_one(ring)) {
    }
}

/* The watcher goes quietly: the kernel forgets it with the descriptor. */
static void ring_free(struct evix_loop *loop, struct loop_part *part)
{
    struct file_ring *ring = EVIX_CONTAINER_OF(part, struct file_ring, part);
    evix_timer_stop(&ring->retry);
    list_remove(&ring->io.link);
    handle_stop(&ring->io.handle);
    if (loop_is_ours(loop))
        drain(ring);
    io_uring_queue_exit(&ring->ring);
    loop->files = NULL;
    free(ring);
}

int evix__file_ring_new(struct evix_loop *loop)
{
    struct file_ring *ring = calloc(1, sizeof(*ring));
    if (!ring)
        return -ENOMEM;
    int error = evix__uring_open(&ring->ring, URING_POLLED, ENTRIES, COMPLETIONS);
    if (error < 0)
        goto free_ring;
    error = evix__uring_start(&ring->ring);
    if (error < 0)
        goto exit_ring;
    evix_io_init(&ring->io, loop, ring->ring.ring_fd, on_readable);
    ring->io.handle.kind = HANDLE_INTERNAL;
    error = evix_io_start(&ring->io, EVIX_READ);
    if (error < 0)
        goto exit_ring;
    evix_unref(&ring->io.handle); /* operations keep the loop alive by themselves */
    evix_timer_init(&ring->retry, loop, on_retry);
    evix_unref(&ring->retry.handle);
    list_init(&ring->requests);
    op_queue_init(&ring->backlog);
    ring->engine = (struct file_engine){.submit = submit, .flush = flush, .cancel = cancel};
    ring->loop = loop;
    ring->part.free = ring_free;
    evix__loop_part_add(loop, &ring->part);
    loop->files = &ring->engine;
    return 0;

exit_ring:
    io_uring_queue_exit(&ring->ring);
free_ring:
    free(ring);
    return error;
}
