/* SPDX-License-Identifier: MIT */
/*
 * The way in: a path becomes an answer, from the cache if that is known to be true, else from the
 * disk. A hit costs one hash and one comparison; nothing is allocated.
 * It does not touch the disk itself (fill.c does), but for a stat where no watch can see.
 * Called by the server's static handler.
 */

#include "files/fill.h"

/* Watched answers are true by being there: what changed was removed. */
static bool is_true(const struct store *store, struct entry *entry)
{
    if (!entry->by_stat || entry->checked == store->generation)
        return true;
    if (!freshness_holds(entry))
        return false;
    entry->checked = store->generation;
    return true;
}

bool lookup_start(struct lookup *lookup, struct store *store, struct root *root, const char *path,
                  size_t length, lookup_fn *fn)
{
    uint64_t hash = cache_hash(&store->cache, root, path, length);
    struct entry *entry;

    lookup->fn = fn;
    lookup->fill = NULL;
    lookup->result = NULL;
    if (root->stale)
        freshness_renew_root(&store->freshness, root);
    entry = cache_find(&store->cache, hash, root, path, length);
    if (entry != NULL && entry->answer == NULL) {
        store_count(&store->cache.counters->misses, 1);
        fill_join(entry->fill, lookup);
        return false;
    }
    if (entry != NULL && is_true(store, entry)) {
        store_count(&store->cache.counters->hits, 1);
        entry->queue.visited = true;
        lookup->result = representation_ref(entry->answer);
        return true;
    }
    if (entry != NULL)
        cache_remove(&store->cache, entry);
    store_count(&store->cache.counters->misses, 1);
    return fill_start(store, root, hash, path, length, lookup);
}

void lookup_cancel(struct lookup *lookup)
{
    if (lookup->fill != NULL)
        fill_leave(lookup->fill, lookup);
}
