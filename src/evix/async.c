/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups from other threads: a flag each, and the loop's one wake-up descriptor.
 * Carries no data; ordering of memory is all that it promises.
 * Called by users of the loop from any thread, by work.c, and by wake.c in the loop's thread.
 */
#include <evix/async.h>

#include "loop_private.h"

int evix_async_start(struct evix_async *async, struct evix_loop *loop, evix_async_fn *fn)
{
    handle_start(&async->handle, loop, HANDLE_ASYNC);
    async->fn = fn;
    __atomic_store_n(&async->pending, 0, __ATOMIC_RELEASE);
    list_append(&loop->asyncs, &async->link);
    return 0;
}

/* The flag before the byte: whoever reads the byte finds the flag. */
void evix_async_send(struct evix_async *async)
{
    if (__atomic_exchange_n(&async->pending, 1, __ATOMIC_SEQ_CST) == 0)
        evix__loop_wake(async->handle.loop);
}

void evix_async_stop(struct evix_async *async)
{
    if (!evix_is_active(&async->handle))
        return;
    list_remove(&async->link);
    handle_stop(&async->handle);
}

/* The flag is taken before the callback, so that a send after its beginning is seen again. */
void evix__asyncs_run(struct evix_loop *loop)
{
    struct list_walk walk;
    struct evix_link *link;
    evix__list_walk_begin(&walk, &loop->asyncs);
    while ((link = evix__list_walk_next(&walk))) {
        struct evix_async *async = EVIX_CONTAINER_OF(link, struct evix_async, link);
        if (__atomic_exchange_n(&async->pending, 0, __ATOMIC_SEQ_CST))
            TRACE_CALL(loop, HANDLE_ASYNC, async->fn, async);
    }
}

void evix__asyncs_fini(struct evix_loop *loop)
{
    while (!list_is_empty(&loop->asyncs))
        evix_async_stop(EVIX_CONTAINER_OF(loop->asyncs.next, struct evix_async, link));
}
