/* SPDX-License-Identifier: MIT */
/* The hash: every bit of the input, the length and the seed count; its spread is even. */
#include "files_fixture.h"

#include "files/hash.h"

/* Lengths around each border inside: 8, 16, 64. */
START_TEST(every_bit_counts)
{
    unsigned char bytes[200];
    size_t length = (size_t)_i;
    uint64_t whole;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37);
    whole = hash_bytes(1, bytes, length);
    ck_assert_uint_eq(hash_bytes(1, bytes, length), whole);
    ck_assert_uint_ne(hash_bytes(2, bytes, length), whole);
    ck_assert_uint_ne(hash_bytes(1, bytes, length + 1), whole);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert_uint_ne(hash_bytes(1, bytes, length), whole);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}
END_TEST

START_TEST(zeros_of_different_length)
{
    const unsigned char zeros[256] = {0};
    uint64_t seen[256];

    for (size_t i = 0; i < 256; i++) {
        seen[i] = hash_bytes(0, zeros, i);
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_ne(seen[i], seen[j]);
    }
}
END_TEST

/* 64 Ki names that differ little, in 4 Ki buckets: none far from 16. */
START_TEST(spread)
{
    unsigned *buckets = calloc(4096, sizeof(*buckets));

    for (unsigned i = 0; i < 65536; i++) {
        char name[32];
        int length = snprintf(name, sizeof(name), "/img/%05u.png", i);

        buckets[hash_bytes(42, name, (size_t)length) & 4095]++;
    }
    for (unsigned i = 0; i < 4096; i++)
        ck_assert_msg(buckets[i] > 0 && buckets[i] < 48, "bucket %u has %u", i, buckets[i]);
    free(buckets);
}
END_TEST

/* The hash reads bytes, not words: where they lie does not matter. */
START_TEST(alignment)
{
    char memory[128];

    for (size_t at = 0; at < 16; at++) {
        memset(memory, (int)at, sizeof(memory));
        memcpy(memory + at, "the same bytes, somewhere else, and longer than a block of 64 bytes",
               67);
        ck_assert_uint_eq(hash_bytes(7, memory + at, 67),
                          hash_bytes(7,
                                     "the same bytes, somewhere else, and longer than a block "
                                     "of 64 bytes",
                                     67));
    }
}
END_TEST

START_TEST(seeds_differ)
{
    uint64_t seed = hash_seed();

    ck_assert(hash_seed() != seed || hash_seed() != seed);
    ck_assert_uint_ne(hash_mix(1, 2), hash_mix(2, 1));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("hash");

    tcase_add_loop_test(tcase, every_bit_counts, 0, 150);
    tcase_add_test(tcase, zeros_of_different_length);
    tcase_add_test(tcase, spread);
    tcase_add_test(tcase, alignment);
    tcase_add_test(tcase, seeds_differ);
    return files_run("hash", tcase);
}
