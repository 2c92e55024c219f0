/* SPDX-License-Identifier: MIT */
#ifndef EVIX_LIST_H
#define EVIX_LIST_H

/*
 * Circular lists of struct evix_link. The list is a link itself, so a node leaves without knowing
 * the list that it is in, and whoever walks a list by struct list_walk does not mind.
 */

#include <evix/loop.h>

static inline void list_init(struct evix_link *list)
{
    list->next = list->previous = list;
}

static inline bool list_is_empty(const struct evix_link *list)
{
    return list->next == list;
}

static inline void list_insert_after(struct evix_link *place, struct evix_link *node)
{
    node->previous = place;
    node->next = place->next;
    place->next->previous = node;
    place->next = node;
}

static inline void list_append(struct evix_link *list, struct evix_link *node)
{
    list_insert_after(list->previous, node);
}

static inline void list_remove(struct evix_link *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
    node->next = node->previous = node;
}

/* Moves all of `from` to `to`, which need not be initialised. */
static inline void list_take(struct evix_link *to, struct evix_link *from)
{
    list_init(to);
    if (list_is_empty(from))
        return;
    *to = *from;
    to->next->previous = to->previous->next = to;
    list_init(from);
}

/*
 * A walk that calls back: any node may leave or join meanwhile. Two nodes of its own travel in the
 * list; what joins goes behind the second, and so waits for the next walk. Such a list must not be
 * walked in another way meanwhile.
 */
struct list_walk {
    struct evix_link here, end;
};

void evix__list_walk_begin(struct list_walk *walk, struct evix_link *list);

/* The next node; NULL at the end, when the walk has left the list. Must be walked to the end. */
struct evix_link *evix__list_walk_next(struct list_walk *walk);

#endif
