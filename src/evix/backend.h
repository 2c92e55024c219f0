/* SPDX-License-Identifier: MIT */
#ifndef EVIX_BACKEND_H
#define EVIX_BACKEND_H

/*
 * The kernel's side of a loop: one table of functions for each mechanism. A backend holds its own
 * memory in `loop->backend_data`. To add one: write its table, list it in backend.c.
 */

#include "op_private.h"

enum {
    BACKEND_SOCKETS = 1, /* has socket operations; without it AUTO never takes the backend */
    BACKEND_READY = 2,   /* by ready.c: submitting does not enter the kernel's queue */
    BACKEND_EDGE = 4,    /* with READY: says once when a descriptor becomes ready */
    BACKEND_FILES = 8,   /* has file operations of its own: `loop->files` is not used */
};

#define BACKEND_FOREVER UINT64_MAX

struct backend {
    enum evix_backend id;
    const char *name;
    unsigned capabilities;

    /* -ENOSYS: the kernel lacks it; -EPERM: it is forbidden; -ENOMEM, -EMFILE. */
    int (*open)(struct evix_loop *loop, const struct evix_options *options);
    void (*close)(struct evix_loop *loop);

    /*
     * Takes the started operations, linked by `next`, to run them; sets their state to RUNNING (or
     * completes them by evix__op_complete(), never by a callback). May leave the kernel's part to
     * wait().
     */
    void (*submit)(struct evix_loop *loop, struct evix_op *list);

    /* Ends a RUNNING (or RETRY) operation soon, by evix__op_complete() or evix__op_finish(). */
    void (*cancel)(struct evix_loop *loop, struct evix_op *op);

    /* The descriptor is about to be closed; no operation is left on it. No event may follow. */
    void (*forget)(struct evix_loop *loop, struct evix_socket *socket);

    /*
     * Sleeps until something happened, for `timeout_ns` at most (rounded up, 0: not at all), and
     * keeps what happened for dispatch(). How much it was, or a negative errno; -EINTR is fine.
     */
    int (*wait)(struct evix_loop *loop, uint64_t timeout_ns);

    /* Phase 3: hands over what wait() found: evix__op_finish(), evix__op_deliver(),
     * evix__io_dispatch(). */
    void (*dispatch)(struct evix_loop *loop);

    /*
     * For send_file.c: gives the RUNNING operation to evix__send_file_queue() when its full socket
     * has room.
     */
    void (*await_room)(struct evix_loop *loop, struct evix_op *op);

    /* For the same: what was submitted goes to the kernel now, before it has much else to do. */
    void (*push)(struct evix_loop *loop);

    /*
     * For io.c: the interest in `fd` changes from `was` to `wanted` (EVIX_READ | EVIX_WRITE; 0 is
     * none). Level-triggered. `token` comes back through evix__io_dispatch(); it is new whenever
     * `was` is 0. -EBADF, -EPERM, -ENOMEM; never fails when `wanted` is 0.
     */
    int (*watch)(struct evix_loop *loop, int fd, unsigned was, unsigned wanted, uint64_t token);

    /* For ready.c only: makes the kernel know the descriptor, once in its life (REGISTERED). */
    int (*arm)(struct evix_loop *loop, struct evix_socket *socket);
};

/* Compiled in where configure found what they need. */
extern const struct backend evix__backend_uring;
extern const struct backend evix__backend_epoll;
extern const struct backend evix__backend_kqueue;
extern const struct backend evix__backend_poll;

/* Opens the one that is asked for, or the best one; sets loop->backend. */
int evix__backend_open(struct evix_loop *loop, const struct evix_options *options);

/*
 * Within a large batch dispatch() lets what was started leave each time that so many things were
 * handed over: the first clients need not wait for the last, and memory that a send gives back is
 * the next one's, while it is in the processor's cache. Measured with 1,000 busy connections: 7 to
 * 12 % less CPU time a request than one submit step for the whole batch, and a quarter less p99. 16
 * and 64 are not much worse.
 */
enum { DISPATCH_STRIDE = 32 };

/*
 * For dispatch(), between two things that it hands over: a submit step, and the final callbacks of
 * what it completed. False if nothing was started.
 */
bool evix__ops_submit_early(struct evix_loop *loop);

/* ---- ranges of files (send_file.c) ---- */

/* The operation is RUNNING and its socket has room, as far as is known. From anywhere in the loop.
 */
void evix__send_file_queue(struct evix_loop *loop, struct evix_op *op);

/* After the submit step: lets those that have waited longest send, until the turn's bytes are used
 * up. */
void evix__send_files_run(struct evix_loop *loop);

/* ---- readiness watchers (io.c) ---- */

/* The lowest bit of a token is 1, so that it can share a word with aligned pointers. */
#define IO_TOKEN_BIT ((uint64_t)1)

/* Events (EVIX_READ | EVIX_WRITE | EVIX_HANGUP) for a token; dropped if it is out of date. */
void evix__io_dispatch(struct evix_loop *loop, uint64_t token, unsigned events);

/* ---- completion on top of readiness (ready.c) ---- */

void evix__ready_submit(struct evix_loop *loop, struct evix_op *list);
void evix__ready_cancel(struct evix_loop *loop, struct evix_op *op);
void evix__ready_await_room(struct evix_loop *loop, struct evix_op *op);
void evix__ready_push(struct evix_loop *loop);

/* Phase 3: runs what is to be tried anew. Called by dispatch() before it hands over events. */
void evix__ready_run_retries(struct evix_loop *loop);

/* A registered socket became ready: EVIX_READ, EVIX_WRITE, EVIX_HANGUP (error, half-close too). */
void evix__ready_event(struct evix_loop *loop, struct evix_socket *socket, unsigned events);

/* Frees the lent buffer. */
void evix__ready_fini(struct evix_loop *loop);

#endif
