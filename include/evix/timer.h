/* SPDX-License-Identifier: MIT */
#ifndef EVIX_TIMER_H
#define EVIX_TIMER_H

/* Timers: one-shot or repeating, on the loop's monotonic clock. Starting never fails. */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_op;
struct evix_timer;
typedef void evix_timer_fn(struct evix_timer *timer);

/* Embedded and owned by the caller; its memory is the caller's whenever it is stopped. */
struct evix_timer {
    struct evix_handle handle;
    evix_timer_fn *fn;
    uint64_t due_ns; /* private, as all below: read with evix_timer_due_ms() */
    union {
        uint64_t repeat_ns;
        struct evix_op *op; /* that it limits, see evix_op_timeout() */
    };
    uint64_t order;                              /* of the start, breaks ties */
    struct evix_timer *child, *sibling, *parent; /* heap links */
};

EVIX_EXPORT void evix_timer_init(struct evix_timer *timer, struct evix_loop *loop,
                                 evix_timer_fn *fn);

/*
 * Fires `timeout_ms` after the real present (the clock is read again, since this iteration may have
 * run for long), never earlier, then every `repeat_ms` if that is not 0. Starting a running timer
 * starts it anew. A timer that starts itself with 0 fires once an iteration. A repeating timer that
 * fell behind fires once and is due next relative to now.
 */
EVIX_EXPORT void evix_timer_start(struct evix_timer *timer, uint64_t timeout_ms,
                                  uint64_t repeat_ms);

/* Stops it; safe from any callback, its own included. Nothing happens if it is not running. */
EVIX_EXPORT void evix_timer_stop(struct evix_timer *timer);

/* Starts it anew with its repeat as the timeout. -EINVAL if it was never given a repeat. */
EVIX_EXPORT int evix_timer_again(struct evix_timer *timer);

/* When it is due, on the clock of evix_now_ms(); 0 if it is not running. */
EVIX_EXPORT uint64_t evix_timer_due_ms(const struct evix_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
