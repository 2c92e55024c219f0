/* SPDX-License-Identifier: MIT */
/*
 * The life of an operation: started, submitted, cancelled, timed out, completed; each exactly once.
 * Does not know how any of them is done: backends do, or ready.c.
 * Called by users of the loop, by the backends, by file.c and by loop.c.
 */
#include "backend.h"
#include "platform.h"
#include "timer_private.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

static_assert(sizeof(struct evix_op) <= 64, "a connection can afford a few operations");

struct evix_loop *evix__op_loop(const struct evix_op *op)
{
    return op->socket ? op->socket->handle.loop : op->u.file.loop;
}

static bool is_referenced(const struct evix_op *op)
{
    return !op->socket || !(op->socket->handle.flags & HANDLE_UNREFERENCED);
}

/* ---- start and submit ---- */

void evix__op_start(struct evix_op *op, struct evix_loop *loop, enum op_kind kind, evix_op_fn *fn)
{
    op->fn = fn;
    op->timeout = NULL;
    op->kind = (uint8_t)kind;
    op->state = OP_STARTED;
    op->flags = 0;
    loop->active++;
    loop->referenced += is_referenced(op);
    op_queue_append(&loop->started, op);
}

/* On a socket that is being closed it is cancelled from the start. */
static void start_on(struct evix_op *op, struct evix_socket *socket, enum op_kind kind,
                     evix_op_fn *fn)
{
    struct evix_op **slot = kind <= OP_RECEIVE ? &socket->reader : &socket->writer;
    assert(!*slot);
    *slot = op;
    op->socket = socket;
    evix__op_start(op, socket->handle.loop, kind, fn);
    if (socket->events & SOCKET_CLOSING)
        evix_cancel(op);
}

/* What was cancelled before it was submitted goes no further. */
static struct evix_op *drop_cancelled(struct evix_loop *loop, struct evix_op *op)
{
    struct op_queue rest;
    struct evix_op *next;
    op_queue_init(&rest);
    for (; op; op = next) {
        next = op->next;
        if (op->flags & OP_CANCELLED)
            evix__op_complete(loop, op, -ECANCELED);
        else
            op_queue_append(&rest, op);
    }
    loop->has_cancelled_start = false;
    return rest.first;
}

void evix__ops_submit(struct evix_loop *loop)
{
    struct evix_op *list = op_queue_take(&loop->started);
    if (loop->has_cancelled_start)
        list = drop_cancelled(loop, list);
    if (list)
        loop->backend->submit(loop, list);
}

/* ---- completion ---- */

void evix__op_complete(struct evix_loop *loop, struct evix_op *op, ssize_t result)
{
    assert(op->state != OP_IDLE && op->state != OP_COMPLETED);
    op->state = OP_COMPLETED;
    op->result = (int32_t)result;
    op_queue_append(&loop->completed, op);
}

/* Sends count their bytes where a 64-bit total fits. */
static ssize_t final_result(const struct evix_op *op, ssize_t result)
{
    if (result < 0)
        return result == -ECANCELED && (op->flags & OP_TIMED_OUT) ? -ETIMEDOUT : result;
    if (op->kind == OP_SEND || op->kind == OP_SEND_FILE)
        return (ssize_t)evix_op_progress(op);
    return result;
}

void evix__op_finish(struct evix_loop *loop, struct evix_op *op, ssize_t result)
{
    struct evix_socket *socket = op->socket;
    assert(op->state != OP_IDLE);
    loop->active--;
    loop->referenced -= is_referenced(op);
    if (socket) {
        if (socket->writer == op)
            socket->writer = NULL;
        else
            socket->reader = NULL;
    }
    if (op->timeout)
        evix_timer_stop(op->timeout);
    op->state = OP_IDLE;
    op->flags &= (uint16_t)~OP_MORE;
    loop->counters.operations++;
    TRACE_CALL(loop, HANDLE_OPERATION, op->fn, op, final_result(op, result));
    /* The socket is still there: it goes in the last phase, not before. */
    if (socket && (socket->events & SOCKET_CLOSING))
        evix__socket_close_if_idle(socket);
}

void evix__op_deliver(struct evix_loop *loop, struct evix_op *op, ssize_t result)
{
    op->flags |= OP_MORE;
    TRACE_CALL(loop, HANDLE_OPERATION, op->fn, op, result);
}

/*
 * Those that are completed meanwhile run too: cancelling may add to the queue, but only what was
 * submitted before, so that it comes to an end.
 */
void evix__ops_run_completed(struct evix_loop *loop)
{
    while (loop->completed.first) {
        struct evix_op *op = op_queue_take(&loop->completed), *next;
        for (; op; op = next) {
            next = op->next;
            evix__op_finish(loop, op, op->result);
        }
    }
}

bool evix__ops_submit_early(struct evix_loop *loop)
{
    if (!loop->started.first)
        return false;
    evix__ops_submit(loop);
    evix__ops_run_completed(loop);
    return true;
}

/* ---- cancel and time limit ---- */

void evix_cancel(struct evix_op *op)
{
    if (op->state == OP_IDLE || op->state == OP_COMPLETED || (op->flags & OP_CANCELLED))
        return;
    struct evix_loop *loop = evix__op_loop(op);
    op->flags |= OP_CANCELLED;
    if (op->state == OP_STARTED)
        loop->has_cancelled_start = true;
    else if (op->state != OP_TURN) /* at its turn it is found cancelled */
        loop->backend->cancel(loop, op);
}

static void on_op_timeout(struct evix_timer *timer)
{
    struct evix_op *op = timer->op;
    if (op->flags & OP_CANCELLED)
        return;
    op->flags |= OP_TIMED_OUT;
    evix_cancel(op);
}

/* The operation keeps the loop alive, so its timer need not. */
void evix_op_timeout(struct evix_op *op, struct evix_timer *timer, uint64_t ms)
{
    if (!evix_op_pending(op))
        return;
    if (op->timeout)
        evix_timer_stop(op->timeout);
    evix_timer_init(timer, evix__op_loop(op), on_op_timeout);
    timer->handle.kind = HANDLE_OPERATION;
    timer->handle.flags = HANDLE_UNREFERENCED;
    timer->op = op;
    op->timeout = timer;
    evix__timer_arm(timer, ms);
}

bool evix_op_more(const struct evix_op *op)
{
    return op->flags & OP_MORE;
}

bool evix_op_pending(const struct evix_op *op)
{
    return op->state != OP_IDLE;
}

uint64_t evix_op_progress(const struct evix_op *op)
{
    switch (op->kind) {
    case OP_SEND:
        return op->u.send.sent;
    case OP_SEND_FILE:
        return op->u.range.sent;
    default:
        return 0;
    }
}

/* ---- the loop's end ---- */

/* Nobody is told of the result: a descriptor in it would be lost, and so would one to be closed. */
static void cut_off(struct evix_op *op)
{
    struct evix_socket *socket = op->socket;
    if (op->kind == OP_FILE_OPEN && op->state == OP_COMPLETED && op->result >= 0)
        close(op->result);
    op->state = OP_IDLE;
    if (!socket)
        return;
    if (socket->writer == op)
        socket->writer = NULL;
    else
        socket->reader = NULL;
    if (socket->events & SOCKET_CLOSING)
        evix__socket_close_if_idle(socket);
}

void evix__ops_fini(struct evix_loop *loop)
{
    struct op_queue *const queues[] = {&loop->started, &loop->ready.retry, &loop->turns,
                                       &loop->completed};
    struct evix_op *next;
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        for (struct evix_op *op = op_queue_take(queues[i]); op; op = next) {
            next = op->next;
            cut_off(op);
        }
    }
}

/* ---- the operations of a socket ---- */

void evix_socket_init(struct evix_socket *socket, struct evix_loop *loop, int fd)
{
    *socket = (struct evix_socket){.fd = fd};
    handle_init(&socket->handle, loop, HANDLE_SOCKET);
    evix__platform_quiet_socket(fd);
}

void evix_accept(struct evix_op *op, struct evix_socket *listener, evix_op_fn *fn)
{
    start_on(op, listener, OP_ACCEPT, fn);
}

void evix_receive(struct evix_op *op, struct evix_socket *socket, evix_op_fn *fn)
{
    start_on(op, socket, OP_RECEIVE, fn);
}

void evix_connect(struct evix_op *op, struct evix_socket *socket, const struct sockaddr *address,
                  socklen_t length, evix_op_fn *fn)
{
    op->u.connect.address = address;
    op->u.connect.length = length;
    start_on(op, socket, OP_CONNECT, fn);
}

void evix_send(struct evix_op *op, struct evix_socket *socket, struct iovec *iov, unsigned count,
               unsigned flags, evix_op_fn *fn)
{
    op->u.send.iov = iov;
    op->u.send.sent = 0;
    op->count = count;
    start_on(op, socket, OP_SEND, fn);
    if (flags & EVIX_SEND_MORE)
        op->flags |= OP_SEND_MORE;
}

void evix_send_file(struct evix_op *op, struct evix_socket *socket, int fd, int64_t offset,
                    uint32_t length, evix_op_fn *fn)
{
    evix_send_file_fresh(op, socket, fd, offset, length, 0, fn);
}

void evix_send_file_fresh(struct evix_op *op, struct evix_socket *socket, int fd, int64_t offset,
                          uint32_t length, uint32_t fresh_ms, evix_op_fn *fn)
{
    op->u.range.offset = offset;
    op->u.range.sent = 0;
    op->u.range.fd = fd;
    op->length = length;
    op->count = fresh_ms != 0 ? (op_clock_ms(socket->handle.loop) + fresh_ms) | 1 : 0;
    start_on(op, socket, OP_SEND_FILE, fn);
}
