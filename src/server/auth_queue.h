/* SPDX-License-Identifier: MIT */
#ifndef SERVER_AUTH_QUEUE_H
#define SERVER_AUTH_QUEUE_H

/*
 * Questions that wait to be answered, in the order in which they will be. A fair queue takes one of
 * each client address in a round, so that an address that asks much waits for itself; when it is
 * full, the address that has most in it gives way to one that has less.
 */

#include <netinet/in.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/keyed_hash.h"

enum auth_verdict {
    AUTH_GRANTED,
    AUTH_DENIED,
    AUTH_PENDING, /* the function that was given will be called */
    AUTH_BUSY,    /* too many wait already, or there is no memory */
};

struct auth_queue;
struct auth_realm;
struct auth_wait;
/* AUTH_GRANTED, AUTH_DENIED or AUTH_BUSY. */
typedef void auth_fn(struct auth_wait *wait, enum auth_verdict verdict);

/* A question under way; embedded by the caller, not touched until it is answered. */
struct auth_wait {
    struct auth_wait *next, **link; /* private, as all here */
    struct auth_queue *queue;
    uint64_t round;       /* of a fair queue, in which it has its turn */
    struct in6_addr from; /* the network that it came from */
    struct auth_realm *realm;
    auth_fn *fn;
    struct hash_value value;
    char *secret; /* the name, a NUL, the password, a NUL; malloc(3)ed */
    size_t secret_bytes;
};

struct auth_queue {
    struct auth_wait *first, **end;
    unsigned count;
    uint64_t round; /* that is being answered */
};

void auth_queue_init(struct auth_queue *queue);

/* What counts as one client: an IPv4 address, an IPv6 /64; NULL, all of the unix sockets. */
struct in6_addr auth_queue_network(const struct in6_addr *client);

/* First come, first served. */
void auth_queue_append(struct auth_queue *queue, struct auth_wait *wait);

/*
 * Adds to a fair queue that holds `most`; `wait->from` is set. False: it is full, and nobody in it
 * has more than this one would. *evicted: NULL, or what was taken out to make room.
 */
bool auth_queue_add(struct auth_queue *queue, struct auth_wait *wait, unsigned most,
                    struct auth_wait **evicted);

/* The first, whose round it is now; it stays in the queue. NULL: it is empty. */
struct auth_wait *auth_queue_begin(struct auth_queue *queue);

/* Takes it out of the queue that it is in. */
void auth_queue_remove(struct auth_wait *wait);

#endif
