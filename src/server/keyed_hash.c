/* SPDX-License-Identifier: MIT */
/*
 * SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, 2012).
 * It keeps no state between calls.
 * Called by auth.c and address_limit.c.
 */
#include "server/keyed_hash.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

struct state {
    uint64_t v[4];
};

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(struct state *state, unsigned rounds)
{
    uint64_t *v = state->v;

    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void absorb(struct state *state, uint64_t word)
{
    state->v[3] ^= word;
    mix(state, 2);
    state->v[0] ^= word;
}

static struct state begin(const struct hash_key *key)
{
    return (struct state){{
        key->words[0] ^ UINT64_C(0x736f6d6570736575),
        key->words[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xEE,
        key->words[0] ^ UINT64_C(0x6c7967656e657261),
        key->words[1] ^ UINT64_C(0x7465646279746573),
    }};
}

/* `before`: bytes that were absorbed already, a multiple of eight. */
static struct hash_value finish(struct state *state, size_t before, const void *data, size_t length)
{
    const unsigned char *at = data;
    struct hash_value value;
    uint64_t word, last = (uint64_t)(before + length) << 56;

    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        absorb(state, le64toh(word));
    }
    for (size_t i = 0; i < length; i++)
        last |= (uint64_t)at[i] << (8 * i);
    absorb(state, last);
    state->v[2] ^= 0xEE;
    mix(state, 4);
    value.words[0] = state->v[0] ^ state->v[1] ^ state->v[2] ^ state->v[3];
    state->v[1] ^= 0xDD;
    mix(state, 4);
    value.words[1] = state->v[0] ^ state->v[1] ^ state->v[2] ^ state->v[3];
    return value;
}

int hash_key_make(struct hash_key *out)
{
    ssize_t length;

    do
        length = getrandom(out, sizeof(*out), 0);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return -errno;
    return length == (ssize_t)sizeof(*out) ? 0 : -EIO;
}

struct hash_value keyed_hash(const struct hash_key *key, uint64_t prefix, const void *data,
                             size_t length)
{
    struct state state = begin(key);

    absorb(&state, prefix);
    return finish(&state, sizeof(prefix), data, length);
}

struct hash_value keyed_hash_plain(const struct hash_key *key, const void *data, size_t length)
{
    struct state state = begin(key);

    return finish(&state, 0, data, length);
}
