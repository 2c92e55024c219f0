/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_EVICT_H
#define EVIXD_FILES_EVICT_H

/*
 * Who has to leave a full cache: SIEVE. New entries come in at one end; a hand walks from the
 * oldest to the newest, spares whoever was asked for since it last came by, and takes the first
 * who was not. A scan of things that are asked for once so passes through, while what is asked for
 * again and again stays; and a hit costs one store, nothing is moved.
 */

#include <stdbool.h>
#include <stddef.h>

/* Embedded in what can be evicted. */
struct evict_link {
    struct evict_link *newer, *older;
    bool visited; /* set it at each hit */
};

/* All zero is empty. */
struct evict_queue {
    struct evict_link *newest, *oldest;
    struct evict_link *hand; /* NULL: at the oldest */
    size_t count;
};

void evict_add(struct evict_queue *queue, struct evict_link *link);
void evict_remove(struct evict_queue *queue, struct evict_link *link);

/* Who has to leave; stays in the queue until removed. NULL if it is empty. */
struct evict_link *evict_choose(struct evict_queue *queue);

#endif
