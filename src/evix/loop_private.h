/* SPDX-License-Identifier: MIT */
#ifndef EVIX_LOOP_PRIVATE_H
#define EVIX_LOOP_PRIVATE_H

/*
 * The loop from inside: what the files of this room share. The core owns queues, timers, phases
 * and accounting; a backend (backend.h) owns only the kernel's side.
 */

#include <evix/hook.h>
#include <evix/io.h>
#include <evix/loop.h>
#include <evix/op.h>
#include <evix/post.h>
#include <evix/timer.h>

#include <sys/types.h>
#include <unistd.h>

#include "list.h"
#include "trace.h"

struct backend;
struct file_engine;
struct io_slot;
struct work_pool;

/* handle.flags */
enum { HANDLE_ACTIVE = 1, HANDLE_UNREFERENCED = 2 };

enum { LOOP_SIGNALS = 64 }; /* the highest number of a signal */

/* Operations, first in first out, linked by evix_op.next. */
struct op_queue {
    struct evix_op *first;
    struct evix_op **end; /* where the next one is hung */
};

/* Something that was built on the loop when first needed, and goes with it. */
struct loop_part {
    void (*free)(struct evix_loop *loop, struct loop_part *part);
    struct loop_part *next;
};

struct evix_loop {
    /* Touched in every iteration. */
    uint64_t now_ns;
    const struct backend *backend;
    void *backend_data;
    size_t referenced;         /* active and referenced handles, pending operations */
    size_t active;             /* the unreferenced ones too */
    struct op_queue started;   /* since the last submit step */
    struct op_queue completed; /* final callbacks to be run in the next phase 3 */
    struct op_queue turns;     /* ranges of files whose sockets have room (send_file.c) */
    struct trace trace;
    struct evix_counters counters;
    uint64_t lag_ns;        /* the longest turn since it was taken */
    uint64_t busy_since_ns; /* when the last poll ended */
    uint64_t *pulse;        /* see struct evix_options; never NULL */
    uint64_t own_pulse;     /* where nobody else looks */
    uint64_t absence_ns;    /* see evix_loop_absence_ns() */
    pid_t owner;            /* the process that made it */
    bool is_running;
    bool is_stopping;
    bool has_cancelled_start; /* an operation in `started` was cancelled */
    bool has_skipped_poll;    /* see loop.c */

    struct {
        struct evix_timer *root;
        uint64_t next_order;
    } timers;
    struct evix_link posts;
    struct evix_link hooks[2]; /* by enum evix_hook_phase */
    struct evix_link asyncs;
    struct evix_socket *closing; /* whose `closed` is due, in order */
    struct evix_socket **closing_end;

    /* Completion on top of readiness (ready.c). */
    struct {
        char *buffer; /* lent to one receive callback at a time; made at the first receive */
        size_t buffer_bytes;
        struct op_queue retry; /* to be tried in the next phase 3 */
    } ready;

    /* Readiness watchers (io.c). */
    struct {
        struct io_slot **blocks; /* by descriptor, 64 to a block; a slot never moves */
        size_t block_count;
    } io;

    struct {
        int read_fd, write_fd; /* the same one if it is an eventfd */
        struct evix_io io;
    } wake;

    struct {
        struct evix_link watchers;
        struct list_walk walk;             /* of those that run callbacks: a child forked by one of
                                              them has it in its list */
        struct evix_link link;             /* among the loops that watch; under signal.c's lock */
        uint64_t watched;                  /* bit n - 1: signal n; under the lock */
        uint16_t counts[LOOP_SIGNALS + 1]; /* watchers by number; under the lock */
        bool is_listed;                    /* under the lock */
        uint64_t pending;                  /* as `watched`; atomic */
        struct evix_io io;
    } signals;

    struct loop_part *parts; /* the newest first, the order in which they go */
    struct work_pool *work_pool;
    struct file_engine *files;
    unsigned work_threads;
    unsigned receive_buffers;
    bool no_file_ring;
};

/* ---- handles and what keeps the loop alive ---- */

static inline void handle_init(struct evix_handle *handle, struct evix_loop *loop,
                               enum handle_kind kind)
{
    handle->loop = loop;
    handle->kind = (uint16_t)kind;
    handle->flags = 0;
}

/* Nothing happens if it is active. */
static inline void handle_activate(struct evix_handle *handle)
{
    if (handle->flags & HANDLE_ACTIVE)
        return;
    handle->flags |= HANDLE_ACTIVE;
    handle->loop->active++;
    if (!(handle->flags & HANDLE_UNREFERENCED))
        handle->loop->referenced++;
}

/* handle_init() and handle_activate() in one, for handles that are not initialised apart. */
static inline void handle_start(struct evix_handle *handle, struct evix_loop *loop,
                                enum handle_kind kind)
{
    handle_init(handle, loop, kind);
    handle_activate(handle);
}

/* Nothing happens if it is not active. */
static inline void handle_stop(struct evix_handle *handle)
{
    if (!(handle->flags & HANDLE_ACTIVE))
        return;
    handle->flags &= (uint16_t)~HANDLE_ACTIVE;
    handle->loop->active--;
    if (!(handle->flags & HANDLE_UNREFERENCED))
        handle->loop->referenced--;
}

/*
 * False in a child of the process that made the loop. All that such a child may do with the loop is
 * to free it; then it must touch nothing that it shares with its parent (rings, the kernel's table
 * of an epoll descriptor), and threads of the parent are not there to be waited for.
 */
static inline bool loop_is_ours(const struct evix_loop *loop)
{
    return loop->owner == getpid();
}

/* ---- parts ---- */

/* Has `part` freed with the loop, before anything of the core is. */
void evix__loop_part_add(struct evix_loop *loop, struct loop_part *part);

/* ---- clock ---- */

uint64_t evix__clock_now_ns(void);

/* ---- wake.c: the loop's wake-up descriptor. evix__loop_wake(): any thread, any signal handler
 * ---- */

int evix__wake_open(struct evix_loop *loop);
void evix__wake_close(struct evix_loop *loop);
void evix__loop_wake(struct evix_loop *loop);

/* Reads until it is empty. */
void evix__pipe_drain(int fd);

/* ---- phases, in the files named after them ---- */

void evix__posts_run(struct evix_loop *loop);
void evix__hooks_run(struct evix_loop *loop, enum evix_hook_phase phase);
void evix__ops_submit(struct evix_loop *loop);
void evix__ops_run_completed(struct evix_loop *loop);
void evix__asyncs_run(struct evix_loop *loop);
void evix__signals_run(struct evix_loop *loop);
void evix__timers_run(struct evix_loop *loop);
void evix__sockets_run_closing(struct evix_loop *loop);

/* When the nearest timer is due; UINT64_MAX without one. */
uint64_t evix__timers_due_ns(const struct evix_loop *loop);

/* At the loop's end: what is still active is made inactive, without a callback. */
void evix__posts_fini(struct evix_loop *loop);
void evix__hooks_fini(struct evix_loop *loop);
void evix__asyncs_fini(struct evix_loop *loop);
void evix__signals_fini(struct evix_loop *loop);
void evix__timers_fini(struct evix_loop *loop);
void evix__io_fini(struct evix_loop *loop);

/* Once the backend has let go of everything: operations in a queue, and sockets being closed. */
void evix__ops_fini(struct evix_loop *loop);
void evix__closing_fini(struct evix_loop *loop);

#endif
