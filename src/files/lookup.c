/* SPDX-License-Identifier: MIT */
/*
 * The way in: a path becomes an answer, from the cache if that is known to be true, else from the
 * disk. A hit costs one hash and one comparison; nothing is allocated. Where a file has siblings, a
 * second step of the same kind finds the one that is wanted.
 * It does not touch the disk itself (fill.c does), but for a stat where no watch can see.
 * Called by the server's static handler.
 */

#include "files/fill.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

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

/* Sets the result and says true, or has the lookup wait for it. */
static bool find(struct lookup *lookup, const char *path, size_t length)
{
    struct store *store = lookup->store;
    struct cache_key key = cache_key(&store->cache, lookup->root, path, length, lookup->coding);
    struct entry *entry;

    if (lookup->root->stale)
        freshness_renew_root(&store->freshness, lookup->root);
    entry = cache_find(&store->cache, &key);
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
    return fill_start(store, &key, lookup);
}

/* The same for the sibling that was chosen. */
static bool find_sibling(struct lookup *lookup)
{
    const struct representation *whole = lookup->whole;
    const char *suffix = coding_suffix(lookup->coding);
    size_t more = strlen(suffix);
    char path[CACHE_TARGET_BYTES];

    assert(whole->path_length + more < sizeof(path));
    memcpy(path, whole->path, whole->path_length);
    memcpy(path + whole->path_length, suffix, more);
    return find(lookup, path, whole->path_length + more);
}

/* True: the answer is final. Else there is a file in `whole`, and siblings of it to choose from. */
static bool is_final(struct lookup *lookup)
{
    if (lookup->whole == NULL) {
        if (lookup->choose == NULL || lookup->result->siblings == 0)
            return true;
        lookup->whole = lookup->result;
        lookup->available = lookup->whole->siblings;
        lookup->result = NULL;
        return false;
    }
    if (lookup->result->kind == REPRESENTATION_FILE) {
        representation_unref(&lookup->whole);
        return true;
    }
    /* It has gone meanwhile, or may not be read: then it is as if it had never been there. */
    representation_unref(&lookup->result);
    lookup->available &= ~CODING_BIT(lookup->coding);
    return false;
}

bool lookup_found(struct lookup *lookup)
{
    while (!is_final(lookup)) {
        lookup->coding =
            lookup->available != 0 ? lookup->choose(lookup, lookup->available) : CODING_NONE;
        if (lookup->coding == CODING_NONE) {
            lookup->result = lookup->whole;
            lookup->whole = NULL;
            return true;
        }
        assert(lookup->available & CODING_BIT(lookup->coding));
        if (!find_sibling(lookup))
            return false;
    }
    return true;
}

bool lookup_negotiate(struct lookup *lookup, const struct lookup_target *target,
                      lookup_choose_fn *choose, lookup_fn *fn)
{
    *lookup = (struct lookup){
        .fn = fn,
        .choose = choose,
        .store = target->store,
        .root = target->root,
    };
    return find(lookup, target->path, target->length) && lookup_found(lookup);
}

bool lookup_start(struct lookup *lookup, struct store *store, struct root *root, const char *path,
                  size_t length, lookup_fn *fn)
{
    return lookup_negotiate(lookup, &(struct lookup_target){store, root, path, length}, NULL, fn);
}

void lookup_cancel(struct lookup *lookup)
{
    if (lookup->fill != NULL)
        fill_leave(lookup->fill, lookup);
    representation_unref(&lookup->whole);
}
