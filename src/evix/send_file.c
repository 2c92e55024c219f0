/* SPDX-License-Identifier: MIT */
/*
 * Ranges of files that are sent: each in its turn, so much in an iteration and no more.
 * Does not wait for room in a socket: backends do, and bring the operation back when there is some.
 * Called by loop.c once an iteration, and by the backends.
 *
 * Sending a megabyte takes as long as answering a dozen small requests. If every download whose
 * socket has room were served in an iteration, a small request would wait for all of them: measured
 * with 16 downloads that never pause, its p99 was 0.9 ms. Here the rest keeps its place in the
 * queue until the kernel was asked for events, and what was answered meanwhile leaves first.
 *
 * By sendfile(2) on io_uring, too. Measured with 10 MiB of the page cache to loopback, 256 KiB a
 * call: it costs 1.1 to 1.2 ms, as do two calls of splice(2) through a pipe, which would be one
 * more pair of descriptors for each download; the ring's splice 2.7 ms, since the kernel gives it
 * to threads; a copy through our memory 2.9 ms.
 */
#include "backend.h"
#include "platform.h"

#include <assert.h>
#include <errno.h>

enum { BYTES_PER_TURN = 1 << 20 };

void evix__send_file_queue(struct evix_loop *loop, struct evix_op *op)
{
    assert(op->kind == OP_SEND_FILE);
    op->state = OP_TURN;
    op_queue_append(&loop->turns, op);
}

/* Less than was asked for may be the end of the file or a full socket: the next call tells. */
static ssize_t send_once(const struct evix_op *op, size_t allowed)
{
    size_t bytes = op->length - op->u.range.sent;
    ssize_t sent;
    do
        sent = evix__platform_send_file(op->socket->fd, op->u.range.fd,
                                        op->u.range.offset + op->u.range.sent,
                                        bytes < allowed ? bytes : allowed);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

/* How much of its turn it has used. */
static size_t take_turn(struct evix_loop *loop, struct evix_op *op)
{
    size_t used = 0;
    while (op->u.range.sent < op->length) {
        if (used == BYTES_PER_TURN) {
            evix__send_file_queue(loop, op);
            return used;
        }
        ssize_t sent = send_once(op, BYTES_PER_TURN - used);
        if (sent == -EAGAIN || sent == -EWOULDBLOCK) {
            loop->backend->await_room(loop, op);
            return used;
        }
        if (sent < 0) {
            evix__op_complete(loop, op, sent);
            return used;
        }
        if (sent == 0)
            break;
        op->u.range.sent += (uint32_t)sent;
        used += (size_t)sent;
    }
    evix__op_complete(loop, op, 0);
    return used;
}

void evix__send_files_run(struct evix_loop *loop)
{
    struct op_queue *turns = &loop->turns;
    struct evix_op *last = EVIX_CONTAINER_OF(turns->end, struct evix_op, next);
    size_t left = BYTES_PER_TURN;
    for (bool was_last = false; !was_last && left > 0;) {
        struct evix_op *op = turns->first;
        was_last = op == last; /* those that are queued again wait for the next time */
        turns->first = op->next;
        if (!turns->first)
            turns->end = &turns->first;
        bool has_begun = op->flags & OP_BEGUN;
        op->flags |= OP_BEGUN;
        op->state = OP_RUNNING;
        if (op->flags & OP_CANCELLED)
            evix__op_complete(loop, op, -ECANCELED);
        else if (has_begun && op_is_stale(loop, op))
            evix__op_complete(loop, op, 0);
        else {
            size_t used = take_turn(loop, op);
            left -= used < left ? used : left;
        }
    }
}
