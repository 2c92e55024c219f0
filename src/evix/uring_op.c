/* SPDX-License-Identifier: MIT */
/*
 * Operations on io_uring: which entry each kind becomes, and what its completions mean.
 * Does not enter the kernel (backend_uring.c), nor fill entries for files (uring_file.c).
 * Called by backend_uring.c.
 *
 * Receives are multishot: measured with scripts/wrk/floor.c and 64 connections, a one-shot receive
 * that is armed anew for each request cost 0.4 of 5.7 microseconds more. But a peer that streams
 * would fill every buffer of the ring before the first callback runs, whatever that callback wants:
 * who fills a buffer is received from one entry at a time, until one comes that is not full. So is
 * the first receive of a socket: what a connection is for may be over with it, and then there is
 * nothing in the kernel to be cancelled.
 */
#include "uring.h"

#include "accept.h"
#include "platform.h"
#include "uring_file.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

enum {
    SEND_BYTES_MAX = 1 << 30, /* a completion's result is an int */
};

/* ---- queues of this backend ---- */

static void queue_remove(struct op_queue *queue, const struct evix_op *op)
{
    struct evix_op **link = &queue->first;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    if (!*link)
        queue->end = link;
}

static void wait_in_backlog(struct uring *uring, struct evix_op *op)
{
    op->flags |= URING_BACKLOG;
    op_queue_append(&uring->backlog, op);
}

/* It is in the kernel no more: neither is there anything to cancel. */
static void leave_kernel(struct uring *uring, struct evix_op *op)
{
    if (op->flags & URING_CANCEL_DUE)
        queue_remove(&uring->cancels, op);
    op->flags &= (uint16_t) ~(URING_CANCEL_DUE | URING_POLLING);
    op->flags |= URING_DETACHED;
}

static ssize_t cancelled_or(const struct evix_op *op, ssize_t result)
{
    return (op->flags & OP_CANCELLED) && result < 0 ? -ECANCELED : result;
}

/* ---- entries ---- */

static void prepare_receive(struct io_uring_sqe *entry, struct evix_op *op)
{
    bool is_single = (op->socket->events & URING_STREAM) || !(op->socket->events & URING_BEGUN);
    op->socket->events |= URING_BEGUN;
    if (is_single)
        io_uring_prep_recv(entry, op->socket->fd, NULL, 0, 0);
    else
        io_uring_prep_recv_multishot(entry, op->socket->fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = 0;
}

/*
 * With WAITALL the kernel goes on after a short send by itself: one completion for the whole. A
 * vector's head lies where the entry lies, and may be used again when the entry may.
 */
static void prepare_send(struct uring *uring, struct io_uring_sqe *entry, struct evix_op *op)
{
    int flags = MSG_NOSIGNAL | MSG_WAITALL | (op->flags & OP_SEND_MORE ? MSG_MORE : 0);
    const struct iovec *iov = op->u.send.iov;
    if (op->count == 1) {
        size_t bytes = iov->iov_len < SEND_BYTES_MAX ? iov->iov_len : SEND_BYTES_MAX;
        io_uring_prep_send(entry, op->socket->fd, iov->iov_base, bytes, flags);
        return;
    }
    struct msghdr *head = &uring->heads[entry - uring->ring.sq.sqes];
    *head = (struct msghdr){.msg_iov = op->u.send.iov,
                            .msg_iovlen = op->count < IOV_MAX ? op->count : IOV_MAX};
    io_uring_prep_sendmsg(entry, op->socket->fd, head, (unsigned)flags);
}

static void prepare(struct uring *uring, struct io_uring_sqe *entry, struct evix_op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_RECEIVE:
        op->u.lent.index = uring->buffers.given;
        prepare_receive(entry, op);
        break;
    case OP_SEND:
        prepare_send(uring, entry, op);
        break;
    case OP_FILE_OPEN:
    case OP_FILE_STAT:
    case OP_FILE_READ:
        evix__uring_file_prepare(entry, op);
        break;
    case OP_ACCEPT:
    case OP_CONNECT:
    case OP_SEND_FILE: /* system calls, with a poll where they would block */
        assert(!"an entry of its own");
    }
    io_uring_sqe_set_data(entry, op);
}

static void prepare_poll(struct io_uring_sqe *entry, const struct evix_op *op)
{
    bool is_reading = op->kind == OP_ACCEPT || op->kind == OP_RECEIVE;
    io_uring_prep_poll_add(entry, op->socket->fd, is_reading ? POLLIN : POLLOUT);
    io_uring_sqe_set_data64(entry, (uintptr_t)op | URING_POLL_BIT);
}

/* The entry that the operation is in need of: its own, or a poll if URING_POLLING is set. */
static void enter_kernel(struct uring *uring, struct evix_op *op)
{
    struct io_uring_sqe *entry = uring->backlog.first ? NULL : evix__uring_take_entry(uring);
    if (!entry) {
        wait_in_backlog(uring, op);
        return;
    }
    op->flags &= (uint16_t)~URING_DETACHED;
    if (op->flags & URING_POLLING)
        prepare_poll(entry, op);
    else
        prepare(uring, entry, op);
}

void evix__uring_op_poll(struct uring *uring, struct evix_op *op)
{
    op->flags |= URING_POLLING;
    enter_kernel(uring, op);
}

/* ---- operations that are system calls of ours, and polls where those would block ---- */

static int start_connect(const struct evix_op *op)
{
    int error = connect(op->socket->fd, op->u.connect.address, (socklen_t)op->u.connect.length);
    if (error == 0)
        return 1;
    return errno == EINPROGRESS || errno == EINTR ? 0 : -errno;
}

/* Writable means decided, not connected. */
static int finish_connect(const struct evix_op *op)
{
    int error = 0;
    socklen_t length = sizeof(error);
    if (getsockopt(op->socket->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        return -errno;
    return -error;
}

void evix__uring_op_start(struct uring *uring, struct evix_op *op)
{
    op->flags |= URING_DETACHED;
    if (op->kind == OP_ACCEPT) {
        op->count = 0;
        evix__uring_op_poll(uring, op);
        return;
    }
    if (op->kind == OP_SEND_FILE) {
        evix__send_file_queue(uring->loop, op);
        return;
    }
    if (op->kind != OP_CONNECT) {
        enter_kernel(uring, op);
        return;
    }
    int outcome = start_connect(op);
    if (outcome == 0)
        evix__uring_op_poll(uring, op);
    else
        evix__op_complete(uring->loop, op, outcome < 0 ? outcome : 0);
}

static void accept_some(struct uring *uring, struct evix_op *op)
{
    int outcome = evix__accept_burst(uring->loop, op);
    if (outcome < 0)
        evix__op_finish(uring->loop, op, outcome);
    else if (outcome == ACCEPT_UNWANTED)
        evix__op_finish(uring->loop, op, -ECANCELED);
    else
        evix__uring_op_poll(uring, op);
}

static void on_polled(struct uring *uring, struct evix_op *op, int result)
{
    if (op->flags & OP_CANCELLED) {
        evix__op_finish(uring->loop, op, -ECANCELED);
        return;
    }
    if (result < 0) {
        evix__op_finish(uring->loop, op, result);
        return;
    }
    switch ((enum op_kind)op->kind) {
    case OP_ACCEPT:
        accept_some(uring, op);
        break;
    case OP_SEND_FILE:
        evix__send_file_queue(uring->loop, op);
        break;
    case OP_CONNECT:
        evix__op_finish(uring->loop, op, finish_connect(op));
        break;
    default:
        enter_kernel(uring, op);
    }
}

/* ---- completions of entries ---- */

/* A multishot entry that the kernel gave up goes on, unless nobody wants it any more. */
static void go_on(struct uring *uring, struct evix_op *op)
{
    if (op->flags & OP_CANCELLED)
        evix__op_finish(uring->loop, op, -ECANCELED);
    else
        enter_kernel(uring, op);
}

/* After a socket's close nobody expects data; before, it was received and must be taken. */
static void deliver_data(struct uring *uring, struct evix_op *op, uint16_t index, int bytes)
{
    if (!(op->socket->events & SOCKET_CLOSING)) {
        op->u.lent.data = uring_buffers_data(&uring->buffers, index);
        evix__op_deliver(uring->loop, op, bytes);
    }
    evix__uring_buffers_give(&uring->buffers, index);
}

/*
 * Without a buffer left the kernel ends the multishot. It gets more of them, if there are, and
 * every buffer is given back within its callback, so when the entry that is prepared here is
 * submitted the ring is full again: no timer, no spinning. An ENOBUFS that came although no buffer
 * was away has another cause.
 */
static void on_receive_ended(struct uring *uring, struct evix_op *op, int result)
{
    bool is_starved = result == -ENOBUFS && (evix__uring_buffers_offer_more(&uring->buffers) ||
                                             op->u.lent.index != uring->buffers.given);
    bool is_switched = result == -ECANCELED && (op->socket->events & URING_STREAM);
    if ((is_starved || is_switched || result == -EINTR) || (op->flags & OP_CANCELLED && result < 0))
        go_on(uring, op);
    else if (result == -EAGAIN)
        evix__uring_op_poll(uring, op);
    else
        evix__op_finish(uring->loop, op, result);
}

static bool enter_cancel(struct uring *uring, const struct evix_op *op);

/* Changes between one entry for all and one for each buffer; a multishot has to end first. */
static void adapt_receive(struct uring *uring, struct evix_op *op, uint32_t bytes, bool has_more)
{
    bool is_full = bytes == uring->buffers.each_bytes;
    if (is_full && !(op->socket->events & URING_STREAM)) {
        op->socket->events |= URING_STREAM;
        /* Without room for the entry the multishot goes on; then the next buffer may try. */
        if (has_more && !(op->flags & OP_CANCELLED) && !enter_cancel(uring, op))
            op->socket->events &= ~(unsigned)URING_STREAM;
    } else if (!is_full && !has_more) {
        op->socket->events &= ~(unsigned)URING_STREAM;
    }
}

static void on_received(struct uring *uring, struct evix_op *op,
                        const struct io_uring_cqe *completion)
{
    bool has_more = completion->flags & IORING_CQE_F_MORE;
    bool has_buffer = completion->flags & IORING_CQE_F_BUFFER;
    uint16_t index = uring_buffers_index(completion->flags);
    if (completion->res > 0) {
        assert(has_buffer);
        deliver_data(uring, op, index, completion->res);
        adapt_receive(uring, op, (uint32_t)completion->res, has_more);
        if (!has_more)
            go_on(uring, op);
        return;
    }
    if (has_buffer)
        evix__uring_buffers_give(&uring->buffers, index);
    if (!has_more)
        on_receive_ended(uring, op, completion->res);
}

/* Takes what was sent off the vector. */
static void advance(struct evix_op *op, size_t bytes)
{
    op->u.send.sent += bytes;
    while (op->count > 0 && bytes >= op->u.send.iov->iov_len) {
        bytes -= op->u.send.iov->iov_len;
        op->u.send.iov++;
        op->count--;
    }
    if (bytes > 0) {
        assert(op->count > 0);
        op->u.send.iov->iov_base = (char *)op->u.send.iov->iov_base + bytes;
        op->u.send.iov->iov_len -= bytes;
    }
}

static void on_sent(struct uring *uring, struct evix_op *op, int result)
{
    uint32_t count = op->count;
    if (result >= 0)
        advance(op, (size_t)result);
    if (result >= 0 && op->count == 0)
        evix__op_finish(uring->loop, op, 0);
    else if (result == 0 && op->count == count)   /* no empty buffers either */
        evix__op_finish(uring->loop, op, -EPIPE); /* a socket that takes nothing never will */
    else if (result >= 0 || result == -EINTR)
        go_on(uring, op);
    else if (result == -EAGAIN && !(op->flags & OP_CANCELLED))
        evix__uring_op_poll(uring, op);
    else
        evix__op_finish(uring->loop, op, cancelled_or(op, result));
}

static void on_file_done(struct uring *uring, struct evix_op *op, int result)
{
    if (evix__uring_file_again(op, result))
        enter_kernel(uring, op);
    else
        evix__op_finish(uring->loop, op, evix__uring_file_verdict(op, result));
}

static struct evix_op *op_of(const struct io_uring_cqe *completion)
{
    return (struct evix_op *)(uintptr_t)(completion->user_data & ~(uint64_t)URING_POLL_BIT);
}

void evix__uring_op_completed(struct uring *uring, const struct io_uring_cqe *completion)
{
    struct evix_op *op = op_of(completion);
    bool has_more = completion->flags & IORING_CQE_F_MORE;
    assert(op->state == OP_RUNNING && !(op->flags & (URING_BACKLOG | URING_DETACHED)));
    if (completion->user_data & URING_POLL_BIT) {
        leave_kernel(uring, op);
        on_polled(uring, op, completion->res);
        return;
    }
    if (!has_more)
        leave_kernel(uring, op);
    switch ((enum op_kind)op->kind) {
    case OP_RECEIVE:
        on_received(uring, op, completion);
        break;
    case OP_SEND:
        on_sent(uring, op, completion->res);
        break;
    default:
        on_file_done(uring, op, completion->res);
    }
}

/* ---- backlog, cancelling, end ---- */

static bool enter_cancel(struct uring *uring, const struct evix_op *op)
{
    struct io_uring_sqe *entry = evix__uring_take_entry(uring);
    if (!entry)
        return false;
    uint64_t target = (uintptr_t)op | (op->flags & URING_POLLING ? URING_POLL_BIT : 0);
    io_uring_prep_cancel64(entry, target, 0);
    io_uring_sqe_set_data64(entry, URING_CANCEL);
    return true;
}

/*
 * A detached operation is at its callback, whose caller looks at OP_CANCELLED afterwards. An entry
 * of cancelling finds what was prepared before it, and nothing later: an operation that is started
 * anew at the same address is safe from it.
 */
void evix__uring_op_cancel(struct uring *uring, struct evix_op *op)
{
    if (op->flags & URING_BACKLOG) {
        queue_remove(&uring->backlog, op);
        evix__op_complete(uring->loop, op, -ECANCELED);
    } else if (!(op->flags & URING_DETACHED) && !enter_cancel(uring, op)) {
        op->flags |= URING_CANCEL_DUE;
        op_queue_append(&uring->cancels, op);
    }
}

void evix__uring_op_flush(struct uring *uring)
{
    struct evix_op *op = op_queue_take(&uring->backlog), *next;
    for (; op; op = next) {
        next = op->next;
        op->flags &= (uint16_t)~URING_BACKLOG;
        enter_kernel(uring, op);
    }
    for (op = op_queue_take(&uring->cancels); op; op = next) {
        next = op->next;
        if (enter_cancel(uring, op))
            op->flags &= (uint16_t)~URING_CANCEL_DUE;
        else
            op_queue_append(&uring->cancels, op);
    }
}

void evix__uring_op_dropped(struct uring *uring, const struct io_uring_cqe *completion)
{
    if (completion->user_data < URING_NO_POINTER)
        return;
    struct evix_op *op = op_of(completion);
    bool is_poll = completion->user_data & URING_POLL_BIT;
    if (!is_poll && completion->res >= 0 && op->kind == OP_FILE_OPEN)
        close(completion->res);
    if (!(completion->flags & IORING_CQE_F_MORE))
        evix__op_complete(uring->loop, op,
                          -ECANCELED); /* without a callback; its socket may close */
}
