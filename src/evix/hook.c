/* SPDX-License-Identifier: MIT */
/*
 * Prepare and check hooks: two lists of callbacks around the poll.
 * They neither keep the loop alive nor keep it awake.
 * Called by users of the loop, and by loop.c.
 */
#include "loop_private.h"

void evix_hook_start(struct evix_hook *hook, struct evix_loop *loop, enum evix_hook_phase phase,
                     evix_hook_fn *fn)
{
    handle_init(&hook->handle, loop, HANDLE_HOOK);
    hook->handle.flags = HANDLE_UNREFERENCED;
    handle_activate(&hook->handle);
    hook->fn = fn;
    hook->phase = phase;
    list_append(&loop->hooks[phase], &hook->link);
}

void evix_hook_stop(struct evix_hook *hook)
{
    if (!evix_is_active(&hook->handle))
        return;
    list_remove(&hook->link);
    handle_stop(&hook->handle);
}

void evix__hooks_run(struct evix_loop *loop, enum evix_hook_phase phase)
{
    struct list_walk walk;
    struct evix_link *link;
    evix__list_walk_begin(&walk, &loop->hooks[phase]);
    while ((link = evix__list_walk_next(&walk))) {
        struct evix_hook *hook = EVIX_CONTAINER_OF(link, struct evix_hook, link);
        TRACE_CALL(loop, HANDLE_HOOK, hook->fn, hook);
    }
}

void evix__hooks_fini(struct evix_loop *loop)
{
    for (int phase = EVIX_HOOK_PREPARE; phase <= EVIX_HOOK_CHECK; phase++)
        while (!list_is_empty(&loop->hooks[phase]))
            evix_hook_stop(EVIX_CONTAINER_OF(loop->hooks[phase].next, struct evix_hook, link));
}
