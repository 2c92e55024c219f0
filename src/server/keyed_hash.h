/* SPDX-License-Identifier: MIT */
#ifndef SERVER_KEYED_HASH_H
#define SERVER_KEYED_HASH_H

/*
 * A hash that nobody can tell anything from who has not the key, nor find two texts of one value:
 * SipHash-2-4 with 128 bits. It stands for secrets that are to be recognized and not kept,
 * and places in tables what clients choose.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t words[2];
};

struct hash_value {
    uint64_t words[2];
};

/* A key from the kernel's random numbers: 0 or a negative errno. */
int hash_key_make(struct hash_key *out);

/* Of the bytes; `prefix`, eight bytes before them, keeps equal texts of different uses apart. */
struct hash_value keyed_hash(const struct hash_key *key, uint64_t prefix, const void *data,
                             size_t length);

/* The same without a prefix, as it is published. */
struct hash_value keyed_hash_plain(const struct hash_key *key, const void *data, size_t length);

static inline bool hash_value_equal(const struct hash_value *a, const struct hash_value *b)
{
    return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1])) == 0;
}

#endif
