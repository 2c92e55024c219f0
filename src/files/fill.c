/* SPDX-License-Identifier: MIT */
/*
 * Who waits for an answer that is being looked up, and who gets it when it is there.
 * It does not find answers (fetch.c does) nor judge them (freshness.c does). Called by lookup.c.
 */

#include "files/fetch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/closing.h"
#include "files/describe.h"

static struct lookup *from_link(struct lookup_link *link)
{
    return EVIX_CONTAINER_OF(link, struct lookup, place);
}

static void list_init(struct lookup_link *list)
{
    list->next = list->previous = list;
}

static bool is_empty(const struct lookup_link *list)
{
    return list->next == list;
}

/* First come, first served. */
static void append(struct lookup_link *list, struct lookup *lookup)
{
    lookup->place = (struct lookup_link){.next = list, .previous = list->previous};
    list->previous->next = &lookup->place;
    list->previous = &lookup->place;
}

/* Of whichever list it is in: thousands may leave at once. */
static void leave(struct lookup *lookup)
{
    lookup->place.previous->next = lookup->place.next;
    lookup->place.next->previous = lookup->place.previous;
}

/* Has all of a list wait for another fill. */
static void move_all(struct lookup_link *from, struct fill *fill, struct lookup_link *to)
{
    while (!is_empty(from)) {
        struct lookup *lookup = from_link(from->next);

        leave(lookup);
        lookup->fill = fill;
        append(to, lookup);
    }
}

void fill_join(struct fill *fill, struct lookup *lookup)
{
    assert(!fill->delivering && !fill->abandoned);
    lookup->fill = fill;
    append(&fill->late, lookup);
}

static void close_file(const struct fill *fill)
{
    if (fetch_is_slow(fill))
        closing_start(fill->store->loop, fill->fd);
    else
        close(fill->fd);
}

void fill_free(struct fill *fill)
{
    struct store *store = fill->store;

    assert(is_empty(&fill->early) && is_empty(&fill->late));
    if (fill->entry != NULL) {
        if (fill->entry->in_table)
            cache_remove(&store->cache, fill->entry);
        entry_free(fill->entry);
    }
    if (fill->fd >= 0)
        close_file(fill);
    if (fill->sibling_fd >= 0)
        close(fill->sibling_fd);
    representation_unref(&fill->file);
    chunk_give(&store->chunks, fill->chunk);
    root_view_unref(&fill->view);
    free(fill);
    store_release(store);
}

void fill_leave(struct fill *fill, struct lookup *lookup)
{
    leave(lookup);
    lookup->fill = NULL;
    if (!is_empty(&fill->early) || !is_empty(&fill->late) || fill->delivering)
        return;
    assert(evix_op_pending(&fill->op));
    fill->abandoned = true;
    if (fill->entry->in_table)
        cache_remove(&fill->store->cache, fill->entry);
    evix_cancel(&fill->op);
}

static void deliver(struct fill *fill, struct lookup_link *list, struct representation *answer)
{
    while (!is_empty(list)) {
        struct lookup *lookup = from_link(list->next);

        leave(lookup);
        assert(lookup->fill == fill && lookup->result == NULL);
        lookup->fill = NULL;
        lookup->result = representation_ref(answer);
        /* The starter is told by its return value. */
        if (!fill->starting && lookup_found(lookup))
            lookup->fn(lookup);
    }
}

static struct fill *make(struct store *store, const struct cache_key *key)
{
    size_t longest = key->length + key->root->index_longest + CODING_SUFFIX_BYTES;
    struct fill *fill = calloc(1, sizeof(*fill) + longest + 2);

    if (fill == NULL)
        return NULL;
    fill->entry = entry_new(key);
    if (fill->entry == NULL) {
        free(fill);
        return NULL;
    }
    fill->entry->fill = fill;
    list_init(&fill->early);
    list_init(&fill->late);
    fill->store = store;
    fill->view = root_view_ref(key->root->view);
    fill->fd = fill->sibling_fd = -1;
    fill->generation = store->generation;
    store_hold(store);
    return fill;
}

static void begin(struct fill *fill)
{
    struct store *store = fill->store;

    if (store->freshness.mode != STORE_OFF)
        cache_insert(&store->cache, fill->entry);
    freshness_begin(&store->freshness, fill->entry);
    fill->watched = fill->entry->node != NULL;
    fetch_start(fill);
}

/* Has the root be what its path names now. False: there is none. */
static bool root_is_there(struct store *store, struct root *root)
{
    if (root->stale) {
        freshness_renew_root(&store->freshness, root);
    } else if (root->by_stat && root->checked != store->generation) {
        root_renew(root);
        root->checked = store->generation;
    }
    return root->view != NULL;
}

/* Those who came late and can't be given the answer are first at the next one. */
static void restart(struct fill *fill)
{
    struct entry *entry = fill->entry;
    const struct cache_key key = {entry->root, entry->path, entry->path_length, entry->coding,
                                  entry->hash};
    struct fill *next = NULL;

    if (root_is_there(fill->store, entry->root))
        next = make(fill->store, &key);
    if (next == NULL) {
        deliver(fill, &fill->late, fill->store->out_of_memory);
        return;
    }
    move_all(&fill->late, next, &next->early);
    begin(next);
}

/*
 * Who came late may have the answer if it is known to be true after they came: if all was watched
 * since before it was opened (an event would have kept them from joining), or if a look at it now
 * says so.
 */
static bool serves_late(const struct fill *fill, bool watched, bool keep)
{
    if (watched || is_empty(&fill->late))
        return true;
    return keep && (!fill->entry->by_stat || freshness_holds(fill->entry));
}

static void settle(struct fill *fill, struct representation *answer)
{
    struct entry *entry = fill->entry;

    fill->entry = NULL;
    entry->fill = NULL;
    entry->answer = representation_ref(answer);
    entry->checked = fill->generation;
    cache_settle(&fill->store->cache, entry);
}

void fill_conclude(struct fill *fill, struct representation *answer)
{
    struct store *store = fill->store;
    struct entry *entry = fill->entry;
    bool watched = fill->watched && !entry->by_stat;
    bool keep, serves;

    assert(entry != NULL && entry->fill == fill && !fill->delivering);
    if (answer == NULL)
        answer = representation_ref(store->out_of_memory);
    keep = answer->status < 500 && freshness_keeps(&store->freshness, entry, fill->began);
    serves = serves_late(fill, watched, keep);
    fill->delivering = true;
    if (keep && serves)
        settle(fill, answer);
    else if (entry->in_table)
        cache_remove(&store->cache, entry);
    deliver(fill, &fill->early, answer);
    if (serves)
        deliver(fill, &fill->late, answer);
    else
        restart(fill);
    representation_unref(&answer);
    fill_free(fill);
}

static bool answer_at_once(struct store *store, struct lookup *lookup,
                           const struct refusal *refusal)
{
    lookup->result = representation_absent(refusal->status, refusal->error, refusal->reason);
    if (lookup->result == NULL)
        lookup->result = representation_ref(store->out_of_memory);
    return true;
}

bool fill_start(struct store *store, const struct cache_key *key, struct lookup *lookup)
{
    struct root *root = key->root;
    struct refusal refusal;
    struct fill *fill;

    if (root_refuses(root, key->path, key->length, &refusal))
        return answer_at_once(store, lookup, &refusal);
    if (!root_is_there(store, root)) {
        refusal = refusal_of_root(root->error);
        return answer_at_once(store, lookup, &refusal);
    }
    fill = make(store, key);
    if (fill == NULL) {
        lookup->result = representation_ref(store->out_of_memory);
        return true;
    }
    lookup->fill = fill;
    append(&fill->early, lookup);
    fill->starting = true;
    store_hold(store);
    begin(fill);
    store_release(store);
    if (lookup->result != NULL)
        return true;
    fill->starting = false;
    return false;
}
