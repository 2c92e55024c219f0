/* SPDX-License-Identifier: MIT */
/*
 * Counts connections per client address: open addressing, linear probing, deletion by shifting.
 * It does not know what a connection is, and closes none.
 * Called by connection.c.
 */
#include "server/address_limit.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int address_limit_init(struct address_limit *limit, unsigned most)
{
    *limit = (struct address_limit){.most = most};
    return most == 0 ? 0 : hash_key_make(&limit->key);
}

void address_limit_fini(struct address_limit *limit)
{
    free(limit->slots);
    *limit = (struct address_limit){0};
}

static unsigned slot_of(const struct address_limit *limit, const struct in6_addr *address)
{
    struct hash_value hash = keyed_hash_plain(&limit->key, address, sizeof(*address));

    return (unsigned)hash.words[0] & (limit->capacity - 1);
}

/* The slot of an address, or the free one where it would go. */
static struct address_count *find(const struct address_limit *limit, const struct in6_addr *address)
{
    unsigned at = slot_of(limit, address);

    while (limit->slots[at].count != 0 &&
           memcmp(&limit->slots[at].address, address, sizeof(*address)) != 0)
        at = (at + 1) & (limit->capacity - 1);
    return &limit->slots[at];
}

static int grow(struct address_limit *limit)
{
    struct address_limit larger = *limit;

    larger.capacity = limit->capacity != 0 ? limit->capacity * 2 : 64;
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < limit->capacity; i++)
        if (limit->slots[i].count != 0)
            *find(&larger, &limit->slots[i].address) = limit->slots[i];
    free(limit->slots);
    *limit = larger;
    return 0;
}

bool address_limit_enter(struct address_limit *limit, const struct in6_addr *address)
{
    if (limit->most == 0)
        return true;
    if (limit->used >= limit->capacity / 2 && grow(limit) != 0)
        return false;

    struct address_count *slot = find(limit, address);
    if (slot->count >= limit->most)
        return false;
    if (slot->count++ == 0) {
        slot->address = *address;
        limit->used++;
    }
    return true;
}

/* Closes the gap that a freed slot leaves, so that probing never meets one too early. */
static void close_gap(struct address_limit *limit, unsigned gap)
{
    unsigned mask = limit->capacity - 1;

    for (unsigned at = (gap + 1) & mask; limit->slots[at].count != 0; at = (at + 1) & mask) {
        unsigned home = slot_of(limit, &limit->slots[at].address);

        if (((at - home) & mask) >= ((at - gap) & mask)) {
            limit->slots[gap] = limit->slots[at];
            limit->slots[at].count = 0;
            gap = at;
        }
    }
}

void address_limit_leave(struct address_limit *limit, const struct in6_addr *address)
{
    if (limit->most == 0)
        return;

    struct address_count *slot = find(limit, address);
    assert(slot->count != 0);
    if (--slot->count == 0) {
        limit->used--;
        close_gap(limit, (unsigned)(slot - limit->slots));
    }
}
