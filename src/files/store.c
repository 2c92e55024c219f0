/* SPDX-License-Identifier: MIT */
/*
 * A store's life: its parts are made and freed here, and events are read.
 * It answers no lookups itself. Called by the server's worker.
 */

#include "files/interior.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "files/describe.h"

/* Without requests, events are read at most once in so long. */
#define PAUSE_MS 1000

static void on_entry_removed(void *data, struct entry *entry)
{
    struct store *store = data;

    freshness_forget(&store->freshness, entry);
}

/*
 * While nobody asks, nobody reads events, and in the end the kernel's queue would overflow, or
 * deleted files would be held open. A busy directory must not keep an idle worker busy either.
 */
static void on_events(struct evix_io *io, unsigned events)
{
    struct store *store = EVIX_CONTAINER_OF(io, struct store, events);

    (void)events;
    freshness_refresh(&store->freshness);
    evix_timer_start(&store->pause, PAUSE_MS, 0);
    evix_unref(&store->pause.handle);
}

static void on_pause_over(struct evix_timer *timer)
{
    struct store *store = EVIX_CONTAINER_OF(timer, struct store, pause);

    /* Not being told is no harm: then events are read with the next request. */
    (void)!evix_io_start(&store->events, EVIX_READ | EVIX_ONE_SHOT);
    evix_unref(&store->events.handle);
}

static int watch_events(struct store *store)
{
    int error;

    evix_io_init(&store->events, store->loop, store->freshness.watches.fd, on_events);
    evix_timer_init(&store->pause, store->loop, on_pause_over);
    if (store->freshness.mode != STORE_WATCH)
        return 0;
    error = evix_io_start(&store->events, EVIX_READ | EVIX_ONE_SHOT);
    if (error == 0)
        evix_unref(&store->events.handle);
    return error;
}

int store_new(struct store **out, struct evix_loop *loop, const struct store_options *options)
{
    struct store *store = calloc(1, sizeof(*store));
    int error;

    *out = NULL;
    if (store == NULL)
        return -ENOMEM;
    store->loop = loop;
    store->options = options;
    store->generation = 1;
    store->listings.most = LISTINGS_BYTES;
    error = media_types_new(&store->types, options->mime_types, options->default_type);
    if (error < 0)
        goto free_store;
    store->out_of_memory = representation_absent(503, -ENOMEM, "out of memory");
    if (store->out_of_memory == NULL) {
        error = -ENOMEM;
        goto free_types;
    }
    error = cache_init(&store->cache, options->entries, options->descriptors, options->memory,
                       on_entry_removed, store);
    if (error < 0)
        goto free_answer;
    if (options->counters != NULL)
        store->cache.counters = options->counters;
    error = freshness_init(&store->freshness, options->freshness, options->entries, &store->cache,
                           &store->devices, &store->roots);
    if (error < 0)
        goto fini_cache;
    error = watch_events(store);
    if (error < 0)
        goto fini_freshness;
    *out = store;
    return 0;
fini_freshness:
    freshness_fini(&store->freshness);
fini_cache:
    cache_fini(&store->cache);
free_answer:
    representation_unref(&store->out_of_memory);
free_types:
    media_types_free(&store->types);
free_store:
    free(store);
    return error;
}

static void destroy(struct store *store)
{
    while (store->roots != NULL) {
        struct root *root = store->roots;

        store->roots = root->next;
        root_free(&root);
    }
    chunk_pool_fini(&store->chunks);
    representation_unref(&store->out_of_memory);
    media_types_free(&store->types);
    free(store);
}

void store_free(struct store **out)
{
    struct store *store = *out;

    *out = NULL;
    if (store == NULL)
        return;
    evix_io_stop(&store->events);
    evix_timer_stop(&store->pause);
    cache_close(&store->cache);
    for (struct root *root = store->roots; root != NULL; root = root->next)
        freshness_release_root(&store->freshness, root);
    freshness_fini(&store->freshness);
    cache_fini(&store->cache);
    store->closing = true;
    if (store->in_flight == 0)
        destroy(store);
}

void store_hold(struct store *store)
{
    store->in_flight++;
}

void store_release(struct store *store)
{
    assert(store->in_flight > 0);
    if (--store->in_flight == 0 && store->closing)
        destroy(store);
}

int store_root(struct store *store, const struct root_options *options, struct root **out)
{
    int error = root_new(out, store, options);

    if (error < 0)
        return error;
    (*out)->next = store->roots;
    store->roots = *out;
    freshness_renew_root(&store->freshness, *out);
    return 0;
}

void store_refresh(struct store *store)
{
    store->generation++;
    freshness_refresh(&store->freshness);
}
