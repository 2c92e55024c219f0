/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_CACHE_H
#define EVIXD_FILES_CACHE_H

/*
 * Answers by (root, path): files, redirects and absences alike. An entry is born when somebody
 * starts to look it up, so that others find it and wait for the same answer; it counts against the
 * bounds from the moment that its answer is there.
 */

#include <evix/file.h>

#include <limits.h>

#include "files/evict.h"
#include "files/representation.h"
#include "files/store_counters.h"
#include "files/watch.h"

/* Room for a path of an entry with an index file's name, a sibling's suffix, and a NUL. What is
 * longer than PATH_MAX then cannot be there. */
#define CACHE_TARGET_BYTES (PATH_MAX + NAME_MAX + CODING_SUFFIX_BYTES + 1)

struct root;
struct node;
struct fill;
struct sibling;

/* What an entry is found by. `coding`: not the file of that path, but a sibling for another. */
struct cache_key {
    struct root *root;
    const char *path;
    size_t length;
    enum coding coding;
    uint64_t hash;
};

/* What a hit reads stands at the end, beside the path: two lines of the processor's cache. */
struct entry {
    struct fill *fill; /* who looks it up and owns the memory; NULL afterwards */

    /* What the freshness rule knows (freshness.c). */
    bool doubtful;             /* watched only after it was opened: look once more */
    struct node *node;         /* the watched directory that it depends on, or NULL */
    size_t name_at, name_size; /* within path: the name in that directory; size 0: its indexes */
    struct entry *name_next, **name_link; /* with others that depend on the same name */
    struct entry *node_next, **node_link; /* with others of the same directory */
    struct watch_user file;               /* watch on the file itself */

    /* What was found, to compare with. */
    int error;                /* 0, or the errno with which it could not be opened */
    unsigned index_tried;     /* so many index files were not there */
    struct evix_stat stat;    /* of the file or directory; with error 0 */
    bool sought_siblings;     /* its siblings, or their absence, are part of the answer */
    bool siblings_unsure;     /* what was found of them can't be compared with */
    struct sibling *siblings; /* by coding; NULL: there are none */

    struct entry *next; /* in its bucket */
    uint64_t hash;
    struct root *root;
    struct representation *answer; /* NULL while it is looked up */
    struct evict_link queue;
    unsigned checked; /* the store's generation in which it was last found true */
    bool by_stat;     /* no watch sees all of it: look again at each request */
    bool in_table;
    uint8_t coding; /* enum coding: a sibling, to be sent in place of the file that it packs */
    size_t path_length;
    char path[];
};

typedef void cache_removed_fn(void *data, struct entry *entry);

struct cache {
    struct entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;        /* in the table, with those being looked up */
    struct evict_queue light, with_descriptor;
    uint64_t memory;
    size_t entries_max, descriptors_max;
    uint64_t memory_max;
    struct store_counters *counters;
    struct store_counters own_counters; /* if the owner has none for us */
    uint64_t seed;
    cache_removed_fn *removed;
    void *removed_data;
};

/* `removed` is called for each entry that leaves the table, whatever for. 0 or -ENOMEM. */
int cache_init(struct cache *cache, size_t entries, size_t descriptors, uint64_t memory,
               cache_removed_fn *removed, void *data);
void cache_fini(struct cache *cache);

/* The key of a path, which has to stay as long as the key is used. */
struct cache_key cache_key(const struct cache *cache, struct root *root, const char *path,
                           size_t length, enum coding coding);
struct entry *cache_find(const struct cache *cache, const struct cache_key *key);

/* A new entry outside of the table; NULL without memory. */
struct entry *entry_new(const struct cache_key *key);
/* Of one that is not in the table. */
void entry_free(struct entry *entry);

void cache_insert(struct cache *cache, struct entry *entry);

/*
 * The entry's answer is there: it counts from now on, and what is too much is evicted; that may be
 * the entry itself, so do not touch it after this.
 */
void cache_settle(struct cache *cache, struct entry *entry);

/* Takes it out of the table, and frees it unless somebody still looks it up. */
void cache_remove(struct cache *cache, struct entry *entry);

/* Removes all. */
void cache_clear(struct cache *cache);

/* The same where the loop will not turn again: slow files, too, are closed by the time it returns.
 */
void cache_close(struct cache *cache);

/* Evicts up to `count` entries that hold the last reference to a descriptor. How many it were. */
size_t cache_give_descriptors(struct cache *cache, size_t count);

#endif
