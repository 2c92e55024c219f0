/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_STORE_COUNTERS_H
#define EVIXD_FILES_STORE_COUNTERS_H

/*
 * What a store has done and holds. Nothing but 64-bit words, as they may lie in memory that other
 * processes read; the store alone writes them.
 */

#include <stdint.h>

struct store_counters {
    uint64_t hits;        /* lookups that the cache answered at once */
    uint64_t misses;      /* lookups that had to ask the disk, or to wait for one that did */
    uint64_t evictions;   /* entries that left because there was no room */
    uint64_t entries;     /* now */
    uint64_t descriptors; /* now: kept open for entries */
    uint64_t bytes;       /* now: of memory for entries and what they hold */
};

/* Another process may read: never half a word, and nothing is promised beyond that. */
static inline void store_count(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

#endif
