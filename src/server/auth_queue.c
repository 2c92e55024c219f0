/* SPDX-License-Identifier: MIT */
/*
 * Orders questions by rounds. What joins while a round is answered waits for the next one at least,
 * so each round comes to its end, however much joins.
 * It does not know what is asked, and answers nothing. Called by auth.c.
 */
#include "server/auth_queue.h"

#include <assert.h>
#include <string.h>

void auth_queue_init(struct auth_queue *queue)
{
    *queue = (struct auth_queue){.end = &queue->first};
}

struct in6_addr auth_queue_network(const struct in6_addr *client)
{
    struct in6_addr network = {0};

    if (client == NULL)
        return network;
    network = *client;
    if (!IN6_IS_ADDR_V4MAPPED(client))
        memset(network.s6_addr + 8, 0, 8);
    return network;
}

static void insert(struct auth_queue *queue, struct auth_wait **link, struct auth_wait *wait)
{
    wait->queue = queue;
    wait->link = link;
    wait->next = *link;
    if (wait->next != NULL)
        wait->next->link = &wait->next;
    else
        queue->end = &wait->next;
    *link = wait;
    queue->count++;
}

void auth_queue_append(struct auth_queue *queue, struct auth_wait *wait)
{
    insert(queue, queue->end, wait);
}

void auth_queue_remove(struct auth_wait *wait)
{
    struct auth_queue *queue = wait->queue;

    assert(queue->count > 0);
    *wait->link = wait->next;
    if (wait->next != NULL)
        wait->next->link = wait->link;
    else
        queue->end = wait->link;
    wait->queue = NULL;
    queue->count--;
}

static bool is_from_same(const struct auth_wait *a, const struct auth_wait *b)
{
    return memcmp(&a->from, &b->from, sizeof(a->from)) == 0;
}

/* The round after the last one in which its network has a question already. */
static uint64_t round_for(const struct auth_queue *queue, const struct auth_wait *wait)
{
    uint64_t round = queue->round + 1;

    for (const struct auth_wait *other = queue->first; other != NULL; other = other->next)
        if (is_from_same(other, wait) && other->round >= round)
            round = other->round + 1;
    return round;
}

static struct auth_wait *last_of(const struct auth_queue *queue)
{
    struct auth_wait *wait = queue->first;

    while (wait != NULL && wait->next != NULL)
        wait = wait->next;
    return wait;
}

/* The list is short, and each that joins is to cost the slow comparison of a password. */
bool auth_queue_add(struct auth_queue *queue, struct auth_wait *wait, unsigned most,
                    struct auth_wait **evicted)
{
    struct auth_wait **link = &queue->first;

    *evicted = NULL;
    wait->round = round_for(queue, wait);
    if (queue->count >= most) {
        struct auth_wait *last = last_of(queue);

        if (last == NULL || last->round <= wait->round)
            return false;
        auth_queue_remove(last);
        *evicted = last;
    }
    while (*link != NULL && (*link)->round <= wait->round)
        link = &(*link)->next;
    insert(queue, link, wait);
    return true;
}

struct auth_wait *auth_queue_begin(struct auth_queue *queue)
{
    if (queue->first != NULL)
        queue->round = queue->first->round;
    return queue->first;
}
