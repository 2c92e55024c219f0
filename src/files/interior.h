/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_INTERIOR_H
#define EVIXD_FILES_INTERIOR_H

/* The store as this room sees it; the others see store.h. */

#include "files/cache.h"
#include "files/chunk.h"
#include "files/device.h"
#include "files/freshness.h"
#include "files/media_type.h"
#include "files/memory_budget.h"
#include "files/residency.h"
#include "files/store.h"

/* Of all listings that are read, or were and are not sent to their end. */
#define LISTINGS_BYTES (64 * 1024 * 1024)

struct store {
    struct evix_loop *loop;
    const struct store_options *options;
    struct media_types *types;
    struct cache cache;
    struct freshness freshness;
    struct devices devices;
    struct chunk_pool chunks;
    struct residency residency;
    struct root *roots;
    struct representation *out_of_memory; /* an answer that needs no allocation */
    unsigned generation;                  /* counts store_refresh() */
    struct memory_budget listings;        /* of directories that are read, kept and sent */
    unsigned in_flight;                   /* operations that still use this memory */
    bool closing;
    bool never_inline; /* tests: what could be answered from memory at once goes the long way */

    /* Empties the event queue while no requests come. */
    struct evix_io events;
    struct evix_timer pause;
};

/* An operation was started that needs the store, and has ended; the last one may free it. */
void store_hold(struct store *store);
void store_release(struct store *store);

#endif
