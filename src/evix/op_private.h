/* SPDX-License-Identifier: MIT */
#ifndef EVIX_OP_PRIVATE_H
#define EVIX_OP_PRIVATE_H

/*
 * The life of an operation.
 *
 *   IDLE -> STARTED    evix_receive() and the like: queued for the submit step
 *        -> RUNNING    the backend's: in the kernel, or parked until the descriptor is ready
 *       (-> RETRY      ready.c only: to be tried in the next phase 3)
 *       (-> TURN       send_file.c only: waits for its turn, and is RUNNING again afterwards)
 *        -> COMPLETED  evix__op_complete(): its final callback is queued
 *        -> IDLE       just before the final callback, which may start it again
 *
 * An operation is in at most one queue, by `next`; only the queue's owner takes it out.
 */

#include "loop_private.h"

enum op_state { OP_IDLE, OP_STARTED, OP_RUNNING, OP_RETRY, OP_TURN, OP_COMPLETED };

enum op_kind {
    OP_ACCEPT = 1,
    OP_RECEIVE,
    OP_CONNECT,
    OP_SEND,
    OP_SEND_FILE,
    OP_FILE_OPEN,
    OP_FILE_STAT,
    OP_FILE_READ,
};

/* op.flags */
enum {
    OP_MORE = 1,      /* this callback is not the final one */
    OP_CANCELLED = 2, /* evix_cancel() was called */
    OP_TIMED_OUT = 4, /* by its time limit: -ECANCELED becomes -ETIMEDOUT */
    OP_SEND_MORE = 8, /* EVIX_SEND_MORE */
    OP_BEGUN = 16,    /* of a file range: it has had a turn, and waits for another */
    OP_BACKEND = 256, /* this bit and those above are the backend's; cleared at the start */
};

/* socket.events */
enum {
    SOCKET_CLOSING = 1,      /* evix_socket_close() was called */
    SOCKET_CLOSE_QUEUED = 2, /* and no operation is left */
    SOCKET_REGISTERED = 4,   /* the backend's: the kernel knows the descriptor */
    SOCKET_READ_BLOCKED = 8, /* ready.c's, as those below: reading would block */
    SOCKET_WRITE_BLOCKED = 16,
    SOCKET_ENDED = 32,    /* hang-up, error or half-close seen: reading goes on to the end */
    SOCKET_BACKEND = 256, /* this bit and those above are the backend's */
};

/* For moments that are near to each other. */
static inline uint32_t op_clock_ms(const struct evix_loop *loop)
{
    return (uint32_t)(loop->now_ns / 1000000);
}

/* Of a file range: whoever waited for room waited too long to send on without a new look. */
static inline bool op_is_stale(const struct evix_loop *loop, const struct evix_op *op)
{
    return op->kind == OP_SEND_FILE && op->count != 0 &&
           (int32_t)(op_clock_ms(loop) - op->count) > 0;
}

static inline void op_queue_init(struct op_queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

static inline void op_queue_append(struct op_queue *queue, struct evix_op *op)
{
    op->next = NULL;
    *queue->end = op;
    queue->end = &op->next;
}

/* Empties it; what it held is linked by `next`. */
static inline struct evix_op *op_queue_take(struct op_queue *queue)
{
    struct evix_op *first = queue->first;
    op_queue_init(queue);
    return first;
}

/* The loop that a pending operation runs on. */
struct evix_loop *evix__op_loop(const struct evix_op *op);

/*
 * Starts it: queued for the submit step, and keeping the loop alive. `op->socket` (NULL for files,
 * whose u.file.loop is set) and `op->u` are set by the caller before.
 */
void evix__op_start(struct evix_op *op, struct evix_loop *loop, enum op_kind kind, evix_op_fn *fn);

/*
 * The backend is done with it: its final callback is queued and runs in phase 3. From anywhere in
 * the loop's thread. `result` is a count or a negative errno; for sends that succeeded it does not
 * matter, since the bytes were counted.
 */
void evix__op_complete(struct evix_loop *loop, struct evix_op *op, ssize_t result);

/*
 * The same, but the final callback runs at once: for a backend's dispatch and other places of
 * phase 3, where no user's call is on the stack. The operation is the caller's again afterwards.
 */
void evix__op_finish(struct evix_loop *loop, struct evix_op *op, ssize_t result);

/*
 * Runs a callback of a multishot operation that goes on, in phase 3. Afterwards the operation is
 * still there, but maybe COMPLETED or RETRY with OP_CANCELLED: look at `op->state`.
 */
void evix__op_deliver(struct evix_loop *loop, struct evix_op *op, ssize_t result);

/* close.c: a socket whose close was asked for goes when its last operation has ended. */
void evix__socket_close_if_idle(struct evix_socket *socket);

/* ---- file operations where the backend has none of its own (file.c) ---- */

/* Set in `loop->files` by file.c at the first file operation; ready.c hands them over. */
struct file_engine {
    void (*submit)(struct evix_loop *loop, struct evix_op *op); /* its state is RUNNING */
    void (*flush)(struct evix_loop *loop); /* at the end of a submit step; may be NULL */
    void (*cancel)(struct evix_loop *loop, struct evix_op *op);
};

#endif
