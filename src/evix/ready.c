/* SPDX-License-Identifier: MIT */
/*
 * Completion on top of readiness: tries the call, parks the operation in its socket's read or write
 * slot when it would block, and tries again when the descriptor is ready.
 * Does not speak to epoll and the like: a backend arms descriptors and reports events.
 * Called by the backends epoll, poll and kqueue.
 */
#include "accept.h"
#include "backend.h"
#include "platform.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Bounds of what one socket may do in a turn, so that it cannot hold the loop. */
enum {
    RECEIVES_PER_TURN = 4,
    DEFAULT_BUFFER_BYTES = 64 * 1024,
};

/* What came of trying a call. */
enum verdict {
    BLOCKED, /* park it */
    DONE,    /* op->result */
};

static bool is_edge(const struct evix_loop *loop)
{
    return loop->backend->capabilities & BACKEND_EDGE;
}

/* It stays RUNNING in its slot. The first time, the kernel has to learn of the descriptor. */
static void park(struct evix_loop *loop, struct evix_op *op)
{
    if (op->socket->events & SOCKET_REGISTERED)
        return;
    int error = loop->backend->arm(loop, op->socket);
    if (error < 0)
        evix__op_complete(loop, op, error);
}

static void try_later(struct evix_loop *loop, struct evix_op *op)
{
    op->state = OP_RETRY;
    op_queue_append(&loop->ready.retry, op);
}

/* ---- reading; in phase 3 only, since each success is a callback ---- */

static int provide_buffer(struct evix_loop *loop)
{
    if (loop->ready.buffer)
        return 0;
    if (loop->ready.buffer_bytes == 0)
        loop->ready.buffer_bytes = DEFAULT_BUFFER_BYTES;
    loop->ready.buffer = malloc(loop->ready.buffer_bytes);
    return loop->ready.buffer ? 0 : -ENOMEM;
}

static void park_reader(struct evix_loop *loop, struct evix_op *op)
{
    op->socket->events |= SOCKET_READ_BLOCKED;
    park(loop, op);
}

/* The call gave nothing to deliver: `result` is 0 or -1. */
static void end_or_park_receive(struct evix_loop *loop, struct evix_op *op, ssize_t result)
{
    if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        park_reader(loop, op);
    else
        evix__op_finish(loop, op, result < 0 ? -errno : 0);
}

/*
 * Receiving less than there was room for means that the socket is drained (epoll(7)): a second call
 * that only finds EAGAIN is saved. Unless the peer is done: its end must be read, and is not told a
 * second time.
 */
static void receive(struct evix_loop *loop, struct evix_op *op)
{
    struct evix_socket *socket = op->socket;
    size_t room = loop->ready.buffer_bytes;
    for (int turn = 0; turn < RECEIVES_PER_TURN; turn++) {
        ssize_t count = recv(socket->fd, loop->ready.buffer, room, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            end_or_park_receive(loop, op, count);
            return;
        }
        bool is_drained = (size_t)count < room && !(socket->events & SOCKET_ENDED);
        op->u.lent.data = loop->ready.buffer;
        evix__op_deliver(loop, op, count);
        if (op->state != OP_RUNNING) /* cancelled by its callback */
            return;
        if (is_drained) {
            park_reader(loop, op);
            return;
        }
    }
    try_later(loop, op);
}

static void accept_some(struct evix_loop *loop, struct evix_op *op)
{
    int outcome = evix__accept_burst(loop, op);
    if (outcome < 0)
        evix__op_finish(loop, op, outcome);
    else if (outcome == ACCEPT_EMPTY)
        park_reader(loop, op);
    else if (outcome == ACCEPT_MORE)
        try_later(loop, op);
}

static void run_reader(struct evix_loop *loop, struct evix_op *op)
{
    if (op->kind == OP_RECEIVE)
        receive(loop, op);
    else
        accept_some(loop, op);
}

/* ---- writing ---- */

static enum verdict done(struct evix_op *op, int result)
{
    op->result = result;
    return DONE;
}

/* After a write that failed. */
static enum verdict blocked_or_failed(struct evix_op *op)
{
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return done(op, -errno);
    op->socket->events |= SOCKET_WRITE_BLOCKED;
    return BLOCKED;
}

static ssize_t send_once(const struct evix_op *op, size_t batch)
{
    int flags = MSG_NOSIGNAL;
    if ((op->flags & OP_SEND_MORE) || batch < op->count)
        flags |= MSG_MORE;
    if (batch == 1)
        return send(op->socket->fd, op->u.send.iov->iov_base, op->u.send.iov->iov_len, flags);
    struct msghdr message = {.msg_iov = op->u.send.iov, .msg_iovlen = batch};
    return sendmsg(op->socket->fd, &message, flags);
}

/* Leaves in the vector what was not sent. */
static void advance(struct evix_op *op, size_t bytes)
{
    struct iovec *iov = op->u.send.iov;
    op->u.send.sent += bytes;
    while (op->count > 0 && bytes >= iov->iov_len) {
        bytes -= iov->iov_len;
        iov++;
        op->count--;
    }
    if (bytes > 0) {
        iov->iov_base = (char *)iov->iov_base + bytes;
        iov->iov_len -= bytes;
    }
    op->u.send.iov = iov;
}

/* A send that took less than it was given has filled the socket: no call that only finds that. */
static enum verdict try_send(struct evix_op *op)
{
    while (op->count > 0) {
        size_t batch = op->count < IOV_MAX ? op->count : IOV_MAX;
        ssize_t count = send_once(op, batch);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return blocked_or_failed(op);
        size_t left = op->count - batch;
        advance(op, (size_t)count);
        if (op->count > left) {
            op->socket->events |= SOCKET_WRITE_BLOCKED;
            return BLOCKED;
        }
    }
    return done(op, 0);
}

/*
 * `count` says that connect(2) was called. A socket that is writable need not be connected:
 * SO_ERROR has the outcome, and getpeername(2) tells "not yet" from "yes".
 */
static enum verdict try_connect(struct evix_op *op)
{
    int fd = op->socket->fd;
    if (op->count == 0) {
        op->count = 1;
        if (connect(fd, op->u.connect.address, (socklen_t)op->u.connect.length) == 0)
            return done(op, 0);
        return errno == EINPROGRESS || errno == EINTR ? BLOCKED : done(op, -errno);
    }
    int error = 0;
    socklen_t length = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        error = errno;
    if (error != 0)
        return done(op, -error);
    struct sockaddr_storage peer;
    length = sizeof(peer);
    if (getpeername(fd, (struct sockaddr *)&peer, &length) < 0 && errno == ENOTCONN)
        return BLOCKED;
    return done(op, 0);
}

static enum verdict try_write(struct evix_op *op)
{
    assert(op->kind == OP_SEND || op->kind == OP_CONNECT);
    return op->kind == OP_SEND ? try_send(op) : try_connect(op);
}

/* In phase 3. */
static void run_writer(struct evix_loop *loop, struct evix_op *op)
{
    if (op->kind == OP_SEND_FILE)
        evix__send_file_queue(loop, op);
    else if (try_write(op) == DONE)
        evix__op_finish(loop, op, op->result);
    else
        park(loop, op);
}

void evix__ready_await_room(struct evix_loop *loop, struct evix_op *op)
{
    op->socket->events |= SOCKET_WRITE_BLOCKED;
    park(loop, op);
}

/* The calls were made when they were submitted. */
void evix__ready_push(struct evix_loop *loop)
{
    (void)loop;
}

/* ---- the submit step ---- */

static void start_reader(struct evix_loop *loop, struct evix_op *op)
{
    int error = op->kind == OP_RECEIVE ? provide_buffer(loop) : 0;
    op->count = 0;
    if (error < 0)
        evix__op_complete(loop, op, error);
    else if (!is_edge(loop) || !(op->socket->events & SOCKET_READ_BLOCKED))
        try_later(loop, op);
}

/* As run_writer(), but no callback may run. */
static void start_writer(struct evix_loop *loop, struct evix_op *op)
{
    if (op->kind == OP_CONNECT)
        op->count = 0;
    else if (is_edge(loop) && (op->socket->events & SOCKET_WRITE_BLOCKED))
        return;
    if (op->kind == OP_SEND_FILE)
        evix__send_file_queue(loop, op);
    else if (try_write(op) == DONE)
        evix__op_complete(loop, op, op->result);
    else
        park(loop, op);
}

static void submit_one(struct evix_loop *loop, struct evix_op *op)
{
    op->state = OP_RUNNING;
    switch (op->kind) {
    case OP_ACCEPT:
    case OP_RECEIVE:
        start_reader(loop, op);
        break;
    case OP_CONNECT:
    case OP_SEND:
    case OP_SEND_FILE:
        start_writer(loop, op);
        break;
    default:
        assert(loop->files);
        loop->files->submit(loop, op);
        break;
    }
}

void evix__ready_submit(struct evix_loop *loop, struct evix_op *list)
{
    struct evix_op *next;
    for (; list; list = next) {
        next = list->next;
        submit_one(loop, list);
    }
    if (loop->files && loop->files->flush)
        loop->files->flush(loop);
}

/* One that is queued to be tried again is found cancelled there. */
void evix__ready_cancel(struct evix_loop *loop, struct evix_op *op)
{
    if (!op->socket)
        loop->files->cancel(loop, op);
    else if (op->state == OP_RUNNING)
        evix__op_complete(loop, op, -ECANCELED);
}

/* ---- phase 3 ---- */

static void retry_one(struct evix_loop *loop, struct evix_op *op)
{
    op->state = OP_RUNNING;
    if (op->flags & OP_CANCELLED)
        evix__op_finish(loop, op, -ECANCELED);
    else if (op->kind <= OP_RECEIVE)
        run_reader(loop, op);
    else
        run_writer(loop, op);
}

void evix__ready_run_retries(struct evix_loop *loop)
{
    struct evix_op *op = op_queue_take(&loop->ready.retry), *next;
    for (int done = 1; op; op = next, done++) {
        next = op->next;
        retry_one(loop, op);
        if (done % DISPATCH_STRIDE == 0)
            evix__ops_submit_early(loop);
    }
}

/*
 * Both directions are looked at, whatever the event says of the other. The writer comes first: what
 * waits to leave is older than what arrives. Its callback may cancel the reader, or close the
 * socket, which stays in memory until the last phase.
 */
void evix__ready_event(struct evix_loop *loop, struct evix_socket *socket, unsigned events)
{
    if (events & EVIX_HANGUP)
        socket->events |= SOCKET_ENDED;
    if (events & EVIX_WRITE) {
        socket->events &= ~(unsigned)SOCKET_WRITE_BLOCKED;
        if (socket->writer && socket->writer->state == OP_RUNNING)
            run_writer(loop, socket->writer);
    }
    if (events & EVIX_READ) {
        socket->events &= ~(unsigned)SOCKET_READ_BLOCKED;
        if (socket->reader && socket->reader->state == OP_RUNNING)
            run_reader(loop, socket->reader);
    }
}

void evix__ready_fini(struct evix_loop *loop)
{
    free(loop->ready.buffer);
}
