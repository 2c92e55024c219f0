/* SPDX-License-Identifier: MIT */
/*
 * Hashes bytes by folded multiplication: fast on 64-bit machines, the same value on all.
 * Not a cryptographic hash: who knows the seed can make collisions, so tables compare full keys.
 * Called by the cache (keys), the freshness rule (names) and the validators (contents).
 */

#include "files/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Odd constants with about half of their bits set: the fractions of the roots of 2, 3, 5, 7, 11. */
#define K0 0x6a09e667f3bcc909u
#define K1 0xbb67ae8584caa73bu
#define K2 0x3c6ef372fe94f82bu
#define K3 0xa54ff53a5f1d36f1u
#define K4 0x510e527fade682d1u

/* The high and the low half of a 128-bit product, folded into one word. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, middle = ah * bl + (low >> 32);
    uint64_t other = al * bh + (uint32_t)middle;

    return (a * b) ^ (ah * bh + (middle >> 32) + (other >> 32));
#endif
}

/* Little-endian on every machine, so that the value travels. */
static uint64_t load64(const unsigned char *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t load_tail(const unsigned char *bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    return fold(a ^ K0, b ^ K1);
}

/* Four lanes for long inputs, so that multiplications overlap; they are joined in order. */
static uint64_t hash_blocks(uint64_t seed, const unsigned char **bytes, size_t *length)
{
    uint64_t lanes[4] = {seed ^ K1, seed ^ K2, seed ^ K3, seed ^ K4};

    while (*length >= 64) {
        for (unsigned i = 0; i < 4; i++) {
            const unsigned char *block = *bytes + (size_t)16 * i;

            lanes[i] = fold(load64(block) ^ K0 ^ lanes[i], load64(block + 8) ^ lanes[i]);
        }
        *bytes += 64;
        *length -= 64;
    }
    return hash_mix(hash_mix(lanes[0], lanes[1]), hash_mix(lanes[2], lanes[3]));
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    size_t total = length;
    uint64_t state = seed ^ K0;

    if (length >= 64)
        state = hash_blocks(seed, &bytes, &length);
    while (length >= 16) {
        state = fold(load64(bytes) ^ K1 ^ state, load64(bytes + 8) ^ K2);
        bytes += 16;
        length -= 16;
    }
    if (length >= 8) {
        state = fold(load64(bytes) ^ K3 ^ state, K4);
        bytes += 8;
        length -= 8;
    }
    if (length > 0)
        state = fold(load_tail(bytes, length) ^ K4 ^ state, K1);
    return hash_mix(state ^ total, K3);
}

uint64_t hash_seed(void)
{
    uint64_t seed;

    /* Fails only on kernels without it or very early at boot; then a clock is better than zero. */
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        seed = hash_mix((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
    }
    return seed;
}
