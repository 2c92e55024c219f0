/* SPDX-License-Identifier: MIT */
/*
 * Immediate callbacks: a list that is run at the start of an iteration.
 * Does not poll, and does not wake a loop that sleeps: only the loop's thread may post.
 * Called by users of the loop, and by loop.c.
 */
#include "loop_private.h"

void evix_post_init(struct evix_post *post, struct evix_loop *loop, evix_post_fn *fn)
{
    handle_init(&post->handle, loop, HANDLE_POST);
    post->fn = fn;
    list_init(&post->link);
}

void evix_post(struct evix_post *post)
{
    if (evix_is_active(&post->handle))
        return;
    list_append(&post->handle.loop->posts, &post->link);
    handle_activate(&post->handle);
}

void evix_post_cancel(struct evix_post *post)
{
    if (!evix_is_active(&post->handle))
        return;
    list_remove(&post->link);
    handle_stop(&post->handle);
}

/* Those added meanwhile are in the loop's list again, and wait for the next iteration. */
void evix__posts_run(struct evix_loop *loop)
{
    struct evix_link batch;
    list_take(&batch, &loop->posts);
    while (!list_is_empty(&batch)) {
        struct evix_post *post = EVIX_CONTAINER_OF(batch.next, struct evix_post, link);
        evix_post_cancel(post);
        TRACE_CALL(loop, HANDLE_POST, post->fn, post);
    }
}

void evix__posts_fini(struct evix_loop *loop)
{
    while (!list_is_empty(&loop->posts))
        evix_post_cancel(EVIX_CONTAINER_OF(loop->posts.next, struct evix_post, link));
}
