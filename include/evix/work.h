/* SPDX-License-Identifier: MIT */
#ifndef EVIX_WORK_H
#define EVIX_WORK_H

/* The work pool: a bounded number of threads for what would block the loop or burn CPU. */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_work;
struct evix_work_queue;

/*
 * A class of work that waits for nothing but its own kind, whatever the other classes wait for: at
 * most `threads` threads of the pool run it at once, and the pool may start as many for it beside
 * those of all other classes. Within a class, work runs in the order of its starts. Only where the
 * system gives no more threads do classes share those that there are, and then they take turns.
 * Told apart by its address, and must outlive the loop: a static constant, as a rule.
 */
struct evix_work_class {
    unsigned threads; /* 0: as many as evix_options.work_threads says */
};

/* Runs in a thread of the pool; must not call the loop. */
typedef void evix_work_run_fn(struct evix_work *work);

/* Runs in the loop's thread: exactly once, with 0, or -ECANCELED if `run` never ran. */
typedef void evix_work_done_fn(struct evix_work *work, int error);

/*
 * Embedded and owned by the caller; the loop's from the start until `done` is called.
 * evix_loop_free() drops what is queued, waits for what runs, and calls no `done`.
 */
struct evix_work {
    struct evix_handle handle;
    evix_work_run_fn *run;
    evix_work_done_fn *done;
    int state;                     /* private */
    struct evix_link link;         /* private */
    struct evix_work_queue *queue; /* private */
};

/*
 * Queues it, among the work that has no class of its own. -EAGAIN if no thread at all could be
 * started, or without memory.
 */
EVIX_EXPORT EVIX_MUST_CHECK int evix_work_start(struct evix_work *work, struct evix_loop *loop,
                                                evix_work_run_fn *run, evix_work_done_fn *done);

/* The same, among the work of its class. */
EVIX_EXPORT EVIX_MUST_CHECK int evix_work_start_in(struct evix_work *work, struct evix_loop *loop,
                                                   const struct evix_work_class *work_class,
                                                   evix_work_run_fn *run, evix_work_done_fn *done);

/*
 * Takes it out of the queue: 0, and `done` will be called with -ECANCELED. -EBUSY if it runs or has
 * run already: `done` will be called with 0.
 */
EVIX_EXPORT int evix_work_cancel(struct evix_work *work);

#ifdef __cplusplus
}
#endif

#endif
