/* SPDX-License-Identifier: MIT */
/*
 * The io_uring backend: the ring's life, one entry into the kernel an iteration, the order in which
 * completions are handed over, readiness watchers through a nested epoll descriptor.
 * Does not know what an entry or a completion means for an operation: that is uring_op.c.
 * Called by loop.c and op.c through the backend table.
 */
#include "uring.h"

#include "epoll_watch.h"
#include "uring_open.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_BUFFERS = 256, DEFAULT_BUFFER_BYTES = 16 * 1024 };

static struct uring *uring_of(const struct evix_loop *loop)
{
    return loop->backend_data;
}

struct io_uring_sqe *evix__uring_take_entry(struct uring *uring)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&uring->ring);
    if (!entry) {
        io_uring_submit(&uring->ring);
        entry = io_uring_get_sqe(&uring->ring);
    }
    if (entry)
        uring->in_kernel++;
    return entry;
}

static int uring_backend_open(struct evix_loop *loop, const struct evix_options *options)
{
    uint32_t count = options->receive_buffers ? options->receive_buffers : DEFAULT_BUFFERS;
    size_t bytes =
        options->receive_buffer_bytes ? options->receive_buffer_bytes : DEFAULT_BUFFER_BYTES;
    struct uring *uring = calloc(1, sizeof(*uring));
    if (!uring)
        return -ENOMEM;
    int error = evix__uring_open(&uring->ring, URING_WAITED_FOR, URING_ENTRIES, URING_COMPLETIONS);
    if (error < 0)
        goto free_uring;
    error = evix__uring_buffers_open(&uring->buffers, &uring->ring, count, bytes);
    if (error < 0)
        goto exit_ring;
    uring->epoll_fd = error = evix__epoll_watch_open();
    if (error < 0)
        goto exit_ring;
    uring->loop = loop;
    op_queue_init(&uring->backlog);
    op_queue_init(&uring->cancels);
    loop->backend_data = uring;
    return 0;

exit_ring: /* the kernel must let go of the buffers before they are unmapped */
    io_uring_queue_exit(&uring->ring);
    evix__uring_buffers_close(&uring->buffers);
free_uring:
    free(uring);
    return error;
}

/* Copies a completion and gives its place back before anything else is called. */
static bool next_completion(struct uring *uring, struct io_uring_cqe *out)
{
    struct io_uring_cqe *completion;
    unsigned head;
    io_uring_for_each_cqe(&uring->ring, head, completion)
    {
        *out = *completion;
        io_uring_cq_advance(&uring->ring, 1);
        if (!(out->flags & IORING_CQE_F_MORE)) {
            assert(uring->in_kernel > 0);
            uring->in_kernel--;
        }
        return true;
    }
    return false;
}

/* Cancels whatever is in the kernel and waits for it, since it uses memory that is the caller's. */
static void drain(struct uring *uring)
{
    struct io_uring_sqe *entry = evix__uring_take_entry(uring);
    if (entry) {
        io_uring_prep_cancel64(entry, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
        io_uring_sqe_set_data64(entry, URING_CANCEL);
    }
    while (uring->in_kernel > 0) {
        struct io_uring_cqe completion;
        int error = io_uring_submit_and_wait(&uring->ring, 1);
        if (error < 0 && error != -EINTR && error != -EBUSY && error != -EAGAIN)
            return; /* another thread's ring: closing it is all we can do */
        while (next_completion(uring, &completion))
            evix__uring_op_dropped(uring, &completion);
    }
}

static void uring_backend_close(struct evix_loop *loop)
{
    struct uring *uring = uring_of(loop);
    if (uring->is_started && loop_is_ours(loop))
        drain(uring);
    close(uring->epoll_fd);
    io_uring_queue_exit(&uring->ring);
    evix__uring_buffers_close(&uring->buffers);
    loop->backend_data = NULL;
    free(uring);
}

static void uring_backend_submit(struct evix_loop *loop, struct evix_op *list)
{
    struct uring *uring = uring_of(loop);
    struct evix_op *next;
    for (struct evix_op *op = list; op; op = next) {
        next = op->next;
        op->state = OP_RUNNING;
        evix__uring_op_start(uring, op);
    }
}

static void uring_backend_cancel(struct evix_loop *loop, struct evix_op *op)
{
    evix__uring_op_cancel(uring_of(loop), op);
}

static void uring_backend_await_room(struct evix_loop *loop, struct evix_op *op)
{
    evix__uring_op_poll(uring_of(loop), op);
}

static void uring_backend_push(struct evix_loop *loop)
{
    struct uring *uring = uring_of(loop);
    if (uring->is_started)
        io_uring_submit(&uring->ring);
}

/* The ring holds a reference to a socket only while an operation is in the kernel: none is left. */
static void uring_backend_forget(struct evix_loop *loop, struct evix_socket *socket)
{
    (void)loop;
    (void)socket;
}

/*
 * One-shot, anew each time: the kernel looks when the entry is submitted, so a watcher that left
 * something unread is called again, as level-triggered watchers are. A multishot poll would not
 * see it.
 */
static void watch_epoll(struct uring *uring)
{
    if (uring->is_watching)
        return;
    struct io_uring_sqe *entry = evix__uring_take_entry(uring);
    if (!entry)
        return; /* the queue is full of entries that wake us soon */
    io_uring_prep_poll_add(entry, uring->epoll_fd, POLLIN);
    io_uring_sqe_set_data64(entry, URING_WATCH);
    uring->is_watching = true;
}

static int enter(struct uring *uring, uint64_t timeout_ns)
{
    struct io_uring *ring = &uring->ring;
    if (timeout_ns == 0 || io_uring_cq_ready(ring) > 0 || uring->backlog.first)
        return io_uring_submit_and_get_events(ring);
    if (timeout_ns == BACKEND_FOREVER)
        return io_uring_submit_and_wait(ring, 1);
    struct io_uring_cqe *ignored;
    struct __kernel_timespec timeout = {.tv_sec = (int64_t)(timeout_ns / 1000000000),
                                        .tv_nsec = (int64_t)(timeout_ns % 1000000000)};
    return io_uring_submit_and_wait_timeout(ring, &ignored, 1, &timeout, NULL);
}

/*
 * EBUSY: completions found their queue full; they are kept by the kernel, and come when the ones
 * before them were taken. EAGAIN: no memory for a request just now; its entry stays in the queue
 * and is offered again in the next iteration.
 */
static int uring_backend_wait(struct evix_loop *loop, uint64_t timeout_ns)
{
    struct uring *uring = uring_of(loop);
    if (!uring->is_started) {
        int error = evix__uring_start(&uring->ring);
        if (error < 0)
            return error;
        uring->is_started = true;
    }
    evix__uring_op_flush(uring);
    watch_epoll(uring);
    int error = enter(uring, timeout_ns);
    if (error < 0 && error != -ETIME && error != -EBUSY && error != -EAGAIN)
        return error;
    return (int)io_uring_cq_ready(&uring->ring);
}

static struct io_uring_cqe *completion_at(const struct uring *uring, unsigned at)
{
    return &uring->ring.cq.cqes[at & uring->ring.cq.ring_mask];
}

/* Watchers come before operations: whoever serves files must know of changes before requests. */
static bool take_watch(struct uring *uring, unsigned count)
{
    unsigned head = *uring->ring.cq.khead;
    for (unsigned i = 0; i < count; i++)
        if (completion_at(uring, head + i)->user_data == URING_WATCH)
            return true;
    return false;
}

/* Receives have their turn: what they bring may be newer than what watchers have told. */
static bool is_send(const struct io_uring_cqe *completion)
{
    const struct evix_op *op = (const struct evix_op *)(uintptr_t)completion->user_data;
    return completion->user_data >= URING_NO_POINTER && !(completion->user_data & URING_POLL_BIT) &&
           op->kind == OP_SEND;
}

/*
 * What was started so far leaves now. Nearly all of it has left when the kernel returns, and stands
 * at the end of the queue; it is dispatched out of turn, so that its memory can be used again.
 */
static void send_early(struct evix_loop *loop)
{
    struct uring *uring = uring_of(loop);
    unsigned at = *uring->ring.cq.ktail; /* deferred: the kernel adds nothing unless we enter it */
    if (!evix__ops_submit_early(loop))
        return;
    io_uring_submit(&uring->ring);
    for (unsigned end = io_uring_smp_load_acquire(uring->ring.cq.ktail); at != end; at++) {
        struct io_uring_cqe completion = *completion_at(uring, at);
        if (!is_send(&completion))
            continue;
        completion_at(uring, at)->user_data = URING_TAKEN;
        evix__uring_op_completed(uring, &completion);
    }
}

static void drop_taken(struct uring *uring)
{
    struct io_uring_cqe ignored;
    while (io_uring_cq_ready(&uring->ring) > 0 &&
           completion_at(uring, *uring->ring.cq.khead)->user_data == URING_TAKEN)
        next_completion(uring, &ignored);
}

static void uring_backend_dispatch(struct evix_loop *loop)
{
    struct uring *uring = uring_of(loop);
    struct io_uring_cqe completion;
    unsigned count = io_uring_cq_ready(&uring->ring); /* a bound: callbacks may enter the kernel */
    if (uring->is_watching && take_watch(uring, count)) {
        uring->is_watching = false;
        evix__epoll_watch_collect(loop, uring->epoll_fd);
    }
    for (unsigned i = 1; i <= count && next_completion(uring, &completion); i++) {
        if (completion.user_data >= URING_NO_POINTER)
            evix__uring_op_completed(uring, &completion);
        if (i % DISPATCH_STRIDE == 0)
            send_early(loop);
    }
    drop_taken(uring);
}

static int uring_backend_watch(struct evix_loop *loop, int fd, unsigned was, unsigned wanted,
                               uint64_t token)
{
    return evix__epoll_watch_change(uring_of(loop)->epoll_fd, fd, was, wanted, token);
}

const struct backend evix__backend_uring = {
    .id = EVIX_BACKEND_IO_URING,
    .name = "io_uring",
    .capabilities = BACKEND_SOCKETS | BACKEND_FILES,
    .open = uring_backend_open,
    .close = uring_backend_close,
    .submit = uring_backend_submit,
    .cancel = uring_backend_cancel,
    .forget = uring_backend_forget,
    .await_room = uring_backend_await_room,
    .push = uring_backend_push,
    .wait = uring_backend_wait,
    .dispatch = uring_backend_dispatch,
    .watch = uring_backend_watch,
};
