/* SPDX-License-Identifier: MIT */
#ifndef EVIX_URING_H
#define EVIX_URING_H

/*
 * The io_uring backend from inside: one ring, one group of lent buffers, and an epoll descriptor
 * for readiness watchers that the ring watches in its turn.
 *
 * An operation is in one of three places: in the kernel (an entry of it was prepared), in
 * `backlog` (it found the submission queue full), or detached (its entry has completed and its
 * callback runs). Only operations in the kernel are cancelled by an entry.
 */

#include "backend.h"
#include "uring_buffers.h"

#include <liburing.h>

enum { URING_ENTRIES = 1024, URING_COMPLETIONS = 8192 };

/* op.flags of this backend */
enum {
    URING_BACKLOG = OP_BACKEND,         /* in `backlog` */
    URING_DETACHED = OP_BACKEND << 1,   /* neither there nor in the kernel */
    URING_POLLING = OP_BACKEND << 2,    /* its entry is a poll, after which it is tried again */
    URING_CANCEL_DUE = OP_BACKEND << 3, /* in `cancels` */

    /* and of socket.events */
    URING_STREAM = SOCKET_BACKEND,     /* receives one buffer an entry, see uring_op.c */
    URING_BEGUN = SOCKET_BACKEND << 1, /* has received before */
};

/* User data: a pointer to an operation, with a bit if the entry is its poll; or one of the rest. */
enum {
    URING_POLL_BIT = 1,
    URING_CANCEL = 2,
    URING_WATCH = 4,
    URING_TAKEN = 6, /* put there by us: a completion that was dispatched out of turn */
    URING_NO_POINTER = 8
};

struct uring {
    struct io_uring ring;
    struct uring_buffers buffers;
    struct evix_loop *loop;
    struct op_queue backlog; /* wait for room in the submission queue */
    struct op_queue cancels; /* in the kernel, and to be cancelled when there is room */
    size_t in_kernel;        /* entries that were prepared and whose last completion has not come */
    int epoll_fd;            /* nested: the readiness watchers */
    bool is_started;
    bool is_watching; /* the poll of `epoll_fd` is in the kernel */
    /* Heads of vectored sends, one for each place in the submission queue: the kernel has copied
     * a head when it has taken the entry (IORING_FEAT_SUBMIT_STABLE). */
    struct msghdr heads[URING_ENTRIES];
};

/* ---- backend_uring.c ---- */

/*
 * An entry of the submission queue, submitted on the spot if it is full; NULL if the kernel takes
 * nothing just now. The caller fills it and sets its user data: from now on it counts.
 */
struct io_uring_sqe *evix__uring_take_entry(struct uring *uring);

/* ---- uring_op.c: socket and file operations as entries ---- */

/* Brings an operation into the kernel, into the backlog, or to its end. */
void evix__uring_op_start(struct uring *uring, struct evix_op *op);

/* Has it go on when its socket has room, or something to read. */
void evix__uring_op_poll(struct uring *uring, struct evix_op *op);

/* Phase 3: what a completion means for its operation. */
void evix__uring_op_completed(struct uring *uring, const struct io_uring_cqe *completion);

/* Backlog and cancels, as far as there is room. */
void evix__uring_op_flush(struct uring *uring);

/* The body of the backend's cancel(). */
void evix__uring_op_cancel(struct uring *uring, struct evix_op *op);

/* At the loop's end: takes care of what a completion carries that nobody will be told of. */
void evix__uring_op_dropped(struct uring *uring, const struct io_uring_cqe *completion);

#endif
