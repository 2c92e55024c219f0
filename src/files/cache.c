/* SPDX-License-Identifier: MIT */
/*
 * The table of answers and its bounds: entries, descriptors, bytes.
 * It does not decide whether an answer is still true (freshness.c) nor finds one (fill.c).
 * Called by lookup, fill and the freshness rule.
 */

#include "files/cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/hash.h"
#include "files/sibling.h"

#define BUCKETS_MIN 64

int cache_init(struct cache *cache, size_t entries, size_t descriptors, uint64_t memory,
               cache_removed_fn *removed, void *data)
{
    *cache = (struct cache){
        .bucket_count = BUCKETS_MIN,
        .entries_max = entries,
        .descriptors_max = descriptors,
        .memory_max = memory,
        .seed = hash_seed(),
        .removed = removed,
        .removed_data = data,
    };
    cache->counters = &cache->own_counters;
    cache->buckets = calloc(cache->bucket_count, sizeof(*cache->buckets));
    return cache->buckets != NULL ? 0 : -ENOMEM;
}

static size_t settled(const struct cache *cache)
{
    return cache->light.count + cache->with_descriptor.count;
}

void cache_fini(struct cache *cache)
{
    cache_clear(cache);
    assert(cache->count == 0 && settled(cache) == 0 && cache->memory == 0);
    free(cache->buckets);
    cache->buckets = NULL;
}

struct cache_key cache_key(const struct cache *cache, struct root *root, const char *path,
                           size_t length, enum coding coding)
{
    return (struct cache_key){
        .root = root,
        .path = path,
        .length = length,
        .coding = coding,
        .hash = hash_bytes(cache->seed ^ (uintptr_t)root ^ (uint64_t)coding << 56, path, length),
    };
}

struct entry *cache_find(const struct cache *cache, const struct cache_key *key)
{
    struct entry *entry = cache->buckets[key->hash & (cache->bucket_count - 1)];

    /* Equal hashes are no proof: the full key decides. */
    while (entry != NULL && (entry->hash != key->hash || entry->root != key->root ||
                             entry->path_length != key->length || entry->coding != key->coding ||
                             memcmp(entry->path, key->path, key->length) != 0))
        entry = entry->next;
    return entry;
}

struct entry *entry_new(const struct cache_key *key)
{
    struct entry *entry = calloc(1, sizeof(*entry) + key->length + 1);

    if (entry == NULL)
        return NULL;
    entry->root = key->root;
    entry->hash = key->hash;
    entry->coding = (uint8_t)key->coding;
    entry->path_length = key->length;
    memcpy(entry->path, key->path, key->length);
    return entry;
}

void entry_free(struct entry *entry)
{
    assert(!entry->in_table);
    representation_unref(&entry->answer);
    free(entry->siblings);
    free(entry);
}

/* Twice as many buckets when they are full; without memory chains just grow longer. */
static void grow(struct cache *cache)
{
    size_t count = 2 * cache->bucket_count;
    struct entry **buckets = calloc(count, sizeof(*buckets));

    if (buckets == NULL)
        return;
    for (size_t i = 0; i < cache->bucket_count; i++) {
        struct entry *next;

        for (struct entry *entry = cache->buckets[i]; entry != NULL; entry = next) {
            struct entry **bucket = &buckets[entry->hash & (count - 1)];

            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    free(cache->buckets);
    cache->buckets = buckets;
    cache->bucket_count = count;
}

void cache_insert(struct cache *cache, struct entry *entry)
{
    struct entry **bucket;

    assert(!entry->in_table);
    if (cache->count >= cache->bucket_count)
        grow(cache);
    bucket = &cache->buckets[entry->hash & (cache->bucket_count - 1)];
    entry->next = *bucket;
    *bucket = entry;
    entry->in_table = true;
    cache->count++;
}

static struct evict_queue *queue_of(struct cache *cache, const struct entry *entry)
{
    return entry->answer->fd >= 0 ? &cache->with_descriptor : &cache->light;
}

static size_t memory_of(const struct entry *entry)
{
    size_t siblings = entry->siblings != NULL ? CODING_COUNT * sizeof(*entry->siblings) : 0;

    return sizeof(*entry) + entry->path_length + 1 + siblings + entry->answer->memory;
}

/* What the cache holds, for whoever watches. */
static void publish(const struct cache *cache)
{
    __atomic_store_n(&cache->counters->entries, settled(cache), __ATOMIC_RELAXED);
    __atomic_store_n(&cache->counters->descriptors, cache->with_descriptor.count, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->counters->bytes, cache->memory, __ATOMIC_RELAXED);
}

void cache_remove(struct cache *cache, struct entry *entry)
{
    struct entry **link = &cache->buckets[entry->hash & (cache->bucket_count - 1)];

    assert(entry->in_table);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    entry->in_table = false;
    cache->count--;
    if (entry->answer != NULL) {
        assert(cache->memory >= memory_of(entry));
        evict_remove(queue_of(cache, entry), &entry->queue);
        cache->memory -= memory_of(entry);
        publish(cache);
    }
    cache->removed(cache->removed_data, entry);
    if (entry->fill == NULL)
        entry_free(entry);
}

static struct entry *choose(struct evict_queue *queue)
{
    struct evict_link *link = evict_choose(queue);

    return link != NULL ? EVIX_CONTAINER_OF(link, struct entry, queue) : NULL;
}

static void evict(struct cache *cache, struct evict_queue *queue)
{
    store_count(&cache->counters->evictions, 1);
    cache_remove(cache, choose(queue));
}

static void keep_bounds(struct cache *cache)
{
    while (cache->with_descriptor.count > cache->descriptors_max)
        evict(cache, &cache->with_descriptor);
    while (cache->memory > cache->memory_max && settled(cache) > 0)
        evict(cache, cache->light.count > 0 ? &cache->light : &cache->with_descriptor);
    /* The two kinds are not compared one by one; the larger crowd gives. */
    while (settled(cache) > cache->entries_max)
        evict(cache, cache->light.count >= cache->with_descriptor.count ? &cache->light
                                                                        : &cache->with_descriptor);
}

void cache_settle(struct cache *cache, struct entry *entry)
{
    assert(entry->in_table && entry->answer != NULL && entry->fill == NULL);
    evict_add(queue_of(cache, entry), &entry->queue);
    cache->memory += memory_of(entry);
    keep_bounds(cache);
    publish(cache);
}

void cache_clear(struct cache *cache)
{
    for (size_t i = 0; i < cache->bucket_count && cache->count > 0; i++)
        while (cache->buckets[i] != NULL)
            cache_remove(cache, cache->buckets[i]);
}

/* Without its loop nothing can be closed later. */
void cache_close(struct cache *cache)
{
    for (size_t i = 0; i < cache->bucket_count; i++)
        for (struct entry *entry = cache->buckets[i]; entry != NULL; entry = entry->next)
            if (entry->answer != NULL)
                entry->answer->closer = NULL;
    cache_clear(cache);
}

size_t cache_give_descriptors(struct cache *cache, size_t count)
{
    size_t given = 0;

    /* One that is being sent stays open all the same, and counts for nothing. */
    for (size_t tries = cache->with_descriptor.count; given < count && tries > 0; tries--) {
        struct entry *entry = choose(&cache->with_descriptor);

        given += entry->answer->references == 1;
        store_count(&cache->counters->evictions, 1);
        cache_remove(cache, entry);
    }
    return given;
}
