/* SPDX-License-Identifier: MIT */
#ifndef EVIX_HOOK_H
#define EVIX_HOOK_H

/* Hooks around the poll: prepare runs before it (before the submit step), check after it. */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_hook;
typedef void evix_hook_fn(struct evix_hook *hook);

enum evix_hook_phase { EVIX_HOOK_PREPARE, EVIX_HOOK_CHECK };

/* Embedded and owned by the caller; its memory is the caller's whenever it is stopped. */
struct evix_hook {
    struct evix_handle handle;
    evix_hook_fn *fn;
    enum evix_hook_phase phase;
    struct evix_link link; /* private */
};

/* A hook does not keep the loop alive. Hooks of one phase run in the order they were started. */
EVIX_EXPORT void evix_hook_start(struct evix_hook *hook, struct evix_loop *loop,
                                 enum evix_hook_phase phase, evix_hook_fn *fn);
EVIX_EXPORT void evix_hook_stop(struct evix_hook *hook);

#ifdef __cplusplus
}
#endif

#endif
