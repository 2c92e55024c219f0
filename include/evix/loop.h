/* SPDX-License-Identifier: MIT */
#ifndef EVIX_LOOP_H
#define EVIX_LOOP_H

/*
 * The event loop: one thread runs one loop; a process may have any number of loops.
 *
 * An iteration does, in this order:
 *   1. immediate callbacks (post.h), first in first out; those added meanwhile wait a turn;
 *   2. prepare hooks (hook.h), then the submit step (op.h), then the poll: sleep until I/O, a
 *      wake-up or the nearest timer, and not at all while anything is ready to run;
 *   3. completions and watchers in the order the backend gives, file-system watches first and
 *      signals last; within a large batch, what was started so far is submitted now and then; then
 *      check hooks;
 *   4. expired timers by deadline, equal deadlines in the order they were started;
 *   5. closing callbacks.
 * The loop ends by itself when no active, referenced handle or operation is left.
 *
 * Errors are negative errno values. Every function here is for the loop's own thread, but for
 * evix_async_send() (async.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EVIX_MUST_CHECK __attribute__((warn_unused_result))
#define EVIX_EXPORT     __attribute__((visibility("default")))
#else
#define EVIX_MUST_CHECK
#define EVIX_EXPORT
#endif

/* The struct of `type` whose `member` lies at `address`: from a handle to what embeds it. */
#define EVIX_CONTAINER_OF(address, type, member)                                                   \
    ((type *)(void *)((char *)(address)-offsetof(type, member)))

struct evix_loop;

enum evix_backend {
    EVIX_BACKEND_AUTO, /* the best one that the machine lets us use */
    EVIX_BACKEND_IO_URING,
    EVIX_BACKEND_EPOLL,
    EVIX_BACKEND_KQUEUE,
    EVIX_BACKEND_POLL,
};

/* One line of text about what the loop did or could not do, without a newline. */
typedef void evix_report_fn(void *data, const char *text);

/* All zero is a good default. */
struct evix_options {
    enum evix_backend backend;
    unsigned work_threads;       /* threads for work without a class at most; 0: 4. See work.h */
    unsigned receive_buffers;    /* io_uring: buffers in the ring, a power of two; 0: 256. Memory
                                    is taken for the first 64, and for more when they were needed */
    size_t receive_buffer_bytes; /* size of a lent receive buffer; 0: 16 KiB, epoll 64 KiB */
    uint64_t slow_callback_ns;   /* report callbacks that hold the loop longer; 0: never */
    bool no_file_ring;           /* epoll, poll: files go to the work pool, never to io_uring */
    evix_report_fn *report;      /* where diagnosis goes; may be NULL */
    void *report_data;
    /*
     * Where the loop shows that it turns, to a thread or, in shared memory, to a process that looks
     * now and then: written before and after each poll, odd while callbacks run, even while the
     * loop sleeps or does not run. Outlives the loop. NULL: nowhere.
     */
    uint64_t *pulse;
};

enum evix_run_mode {
    EVIX_RUN_DEFAULT, /* until nothing is left, or evix_loop_stop() */
    EVIX_RUN_ONCE,    /* one iteration, which may sleep */
    EVIX_RUN_NOWAIT,  /* one iteration that does not sleep */
};

/* Counters since the loop was made. Reading them costs a copy. */
struct evix_counters {
    uint64_t iterations;
    uint64_t waits;          /* system calls that may sleep */
    uint64_t wakeups;        /* asynchronous wake-ups seen */
    uint64_t operations;     /* operations that were completed */
    uint64_t callbacks;      /* callbacks that were run */
    uint64_t slow_callbacks; /* those over slow_callback_ns */
    uint64_t busy_ns;        /* time spent outside the poll */
    uint64_t lag_max_ns;     /* the longest iteration outside the poll */
};

/*
 * What the handles below have in common; embedded as their first member. A handle is active
 * between its start and its stop; an active handle keeps the loop alive unless unreferenced.
 */
struct evix_handle {
    struct evix_loop *loop;
    uint16_t kind;  /* private */
    uint16_t flags; /* private */
};

/* A place in one of the loop's lists. Private. */
struct evix_link {
    struct evix_link *next, *previous;
};

/*
 * Makes a loop. `options` may be NULL. A backend that is asked for by name and cannot be had is an
 * error (-ENOSYS: not compiled in or absent from the kernel; -EPERM: forbidden); with AUTO the next
 * one is taken and reported. The caller frees the loop with evix_loop_free().
 */
EVIX_EXPORT EVIX_MUST_CHECK int evix_loop_new(struct evix_loop **out,
                                              const struct evix_options *options);

/*
 * Frees the loop and sets *loop to NULL. Handles that are still active are cut off without a
 * callback, and reported; their memory is the caller's again, and so are the descriptors of sockets
 * that were not being closed. Must not be called from a callback. In a child process it is all that
 * may be done with a loop of the parent, which does not notice.
 */
EVIX_EXPORT void evix_loop_free(struct evix_loop **loop);

/* Runs the loop. Returns 1 if active handles are left, 0 if not, or a negative errno. */
EVIX_EXPORT int evix_loop_run(struct evix_loop *loop, enum evix_run_mode mode);

/* Makes evix_loop_run() return at the end of the current iteration. */
EVIX_EXPORT void evix_loop_stop(struct evix_loop *loop);

/* True while an active, referenced handle or operation is left. */
EVIX_EXPORT bool evix_loop_alive(const struct evix_loop *loop);

/* CLOCK_MONOTONIC as read once an iteration, after the poll. */
EVIX_EXPORT uint64_t evix_now_ns(const struct evix_loop *loop);
EVIX_EXPORT uint64_t evix_now_ms(const struct evix_loop *loop);

/* Reads the clock again, for callbacks that ran long. */
EVIX_EXPORT void evix_now_update(struct evix_loop *loop);

/* A referenced handle (the default) keeps the loop alive while it is active. */
EVIX_EXPORT void evix_ref(struct evix_handle *handle);
EVIX_EXPORT void evix_unref(struct evix_handle *handle);
EVIX_EXPORT bool evix_is_active(const struct evix_handle *handle);

EVIX_EXPORT void evix_loop_counters(const struct evix_loop *loop, struct evix_counters *out);

/* The longest iteration outside the poll since this was last called; for one watcher alone. */
EVIX_EXPORT uint64_t evix_loop_take_lag_ns(struct evix_loop *loop);

/*
 * How long nothing could be heard before the last poll ended: what it took longer than was asked
 * for, and the iteration before it. Seconds of it mean that the process was stopped or frozen, or
 * the machine slept: whoever counts time against others may want to leave that out.
 */
EVIX_EXPORT uint64_t evix_loop_absence_ns(const struct evix_loop *loop);

/* The backend in use, and its name: "io_uring", "epoll", "kqueue", "poll". */
EVIX_EXPORT enum evix_backend evix_loop_backend(const struct evix_loop *loop);
EVIX_EXPORT const char *evix_backend_name(enum evix_backend backend);

/* True if the backend is compiled in. Whether the kernel allows it shows in evix_loop_new(). */
EVIX_EXPORT bool evix_backend_built(enum evix_backend backend);

/* A short text for a negative errno value, like strerror(3). Never NULL. */
EVIX_EXPORT const char *evix_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
