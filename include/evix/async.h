/* SPDX-License-Identifier: MIT */
#ifndef EVIX_ASYNC_H
#define EVIX_ASYNC_H

/* Waking a loop from another thread or from a signal handler. */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_async;
typedef void evix_async_fn(struct evix_async *async);

/* Embedded and owned by the caller; its memory is the caller's after evix_async_stop(). */
struct evix_async {
    struct evix_handle handle;
    evix_async_fn *fn;
    int pending; /* private, atomic, as all below */
    struct evix_link link;
};

/* Starts it: active, and so keeping the loop alive, until evix_async_stop(). */
EVIX_EXPORT EVIX_MUST_CHECK int evix_async_start(struct evix_async *async, struct evix_loop *loop,
                                                 evix_async_fn *fn);

/*
 * Has the callback run in the loop's thread. Any thread, any signal handler. Calls before the
 * callback runs are one; a call after the callback began has it run again. Memory written before
 * the call is seen by the callback.
 */
EVIX_EXPORT void evix_async_send(struct evix_async *async);

/* Stops it. No thread may call evix_async_send() any more: the caller sees to that. */
EVIX_EXPORT void evix_async_stop(struct evix_async *async);

#ifdef __cplusplus
}
#endif

#endif
