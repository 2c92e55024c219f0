/* SPDX-License-Identifier: MIT */
/*
 * SIEVE's queue and hand (Zhang et al., NSDI 2024).
 * It knows nothing of what is evicted, nor of bounds. Called by the cache.
 */

#include "files/evict.h"

#include <assert.h>

void evict_add(struct evict_queue *queue, struct evict_link *link)
{
    assert((queue->newest == NULL) == (queue->count == 0));
    link->visited = false;
    link->newer = NULL;
    link->older = queue->newest;
    if (queue->newest != NULL)
        queue->newest->newer = link;
    else
        queue->oldest = link;
    queue->newest = link;
    queue->count++;
}

void evict_remove(struct evict_queue *queue, struct evict_link *link)
{
    assert(queue->count > 0);
    if (queue->hand == link)
        queue->hand = link->newer;
    if (link->newer != NULL)
        link->newer->older = link->older;
    else
        queue->newest = link->older;
    if (link->older != NULL)
        link->older->newer = link->newer;
    else
        queue->oldest = link->newer;
    queue->count--;
    assert((queue->oldest == NULL) == (queue->count == 0));
}

struct evict_link *evict_choose(struct evict_queue *queue)
{
    struct evict_link *hand = queue->hand != NULL ? queue->hand : queue->oldest;

    /* Ends: each step clears a mark, and after one round none is left. */
    while (hand != NULL && hand->visited) {
        hand->visited = false;
        hand = hand->newer != NULL ? hand->newer : queue->oldest;
    }
    queue->hand = hand;
    return hand;
}
