/* SPDX-License-Identifier: MIT */
#ifndef EVIX_POST_H
#define EVIX_POST_H

/* Immediate callbacks: run once, at the start of the next iteration, in the order posted. */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_post;
typedef void evix_post_fn(struct evix_post *post);

/* Embedded and owned by the caller; untouchable by the caller from evix_post() to its callback. */
struct evix_post {
    struct evix_handle handle;
    evix_post_fn *fn;
    struct evix_link link; /* private */
};

EVIX_EXPORT void evix_post_init(struct evix_post *post, struct evix_loop *loop, evix_post_fn *fn);

/*
 * Has the callback run in the next iteration, before the poll, which then does not sleep. Posting
 * from a callback that is itself posted is fine and cannot starve I/O. Posting twice before it ran
 * runs it once.
 */
EVIX_EXPORT void evix_post(struct evix_post *post);

/* Takes it back; nothing happens if it is not posted. */
EVIX_EXPORT void evix_post_cancel(struct evix_post *post);

#ifdef __cplusplus
}
#endif

#endif
