/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ADDRESS_LIMIT_H
#define SERVER_ADDRESS_LIMIT_H

/* How many connections each client address has open: a table that is empty when nobody is there. */

#include <netinet/in.h>

#include <stdbool.h>
#include <stdint.h>

#include "server/keyed_hash.h"

struct address_count {
    struct in6_addr address;
    unsigned count; /* 0: the slot is free */
};

struct address_limit {
    unsigned most; /* per address; 0: no limit, and nothing is counted */
    unsigned used, capacity;
    struct address_count *slots;
    struct hash_key key; /* so that no client can choose where its addresses lie */
};

/* 0 or a negative errno. */
int address_limit_init(struct address_limit *limit, unsigned most);
void address_limit_fini(struct address_limit *limit);

/* Counts one more. False if the address has its most already (or there is no memory): not counted.
 */
bool address_limit_enter(struct address_limit *limit, const struct in6_addr *address);
void address_limit_leave(struct address_limit *limit, const struct in6_addr *address);

#endif
