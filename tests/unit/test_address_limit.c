/* SPDX-License-Identifier: MIT */
/*
 * Tests src/server/address_limit.c: the limit, and the table against a plain count.
 */
#include "server/address_limit.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct in6_addr address_of(unsigned number)
{
    struct in6_addr address = {0};

    memcpy(address.s6_addr + 12, &number, sizeof(number));
    return address;
}

static void init(struct address_limit *limit, unsigned most)
{
    ck_assert_int_eq(address_limit_init(limit, most), 0);
}

START_TEST(no_limit_counts_nothing)
{
    struct address_limit limit;
    struct in6_addr address = address_of(1);

    init(&limit, 0);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(address_limit_enter(&limit, &address));
    address_limit_leave(&limit, &address);
    ck_assert_ptr_null(limit.slots);
    address_limit_fini(&limit);
}
END_TEST

START_TEST(limit_is_per_address)
{
    struct address_limit limit;
    struct in6_addr one = address_of(1), two = address_of(2);

    init(&limit, 2);
    ck_assert(address_limit_enter(&limit, &one));
    ck_assert(address_limit_enter(&limit, &one));
    ck_assert(!address_limit_enter(&limit, &one));
    ck_assert(address_limit_enter(&limit, &two));
    address_limit_leave(&limit, &one);
    ck_assert(address_limit_enter(&limit, &one));
    ck_assert(!address_limit_enter(&limit, &one));
    address_limit_fini(&limit);
}
END_TEST

/* Many addresses come and go at random: growing and gap-closing must lose none. */
START_TEST(table_agrees_with_a_plain_count)
{
    enum { ADDRESSES = 700, ROUNDS = 200000, MOST = 3 };
    static unsigned counts[ADDRESSES];
    struct address_limit limit;

    srand(1);
    memset(counts, 0, sizeof(counts));
    init(&limit, MOST);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned number = (unsigned)rand() % ADDRESSES;
        struct in6_addr address = address_of(number * 4096);

        if (rand() % 2 == 0) {
            bool entered = address_limit_enter(&limit, &address);
            ck_assert_int_eq(entered, counts[number] < MOST);
            counts[number] += entered;
        } else if (counts[number] != 0) {
            address_limit_leave(&limit, &address);
            counts[number]--;
        }
    }
    unsigned used = 0;
    for (unsigned i = 0; i < ADDRESSES; i++)
        used += counts[i] != 0;
    ck_assert_uint_eq(limit.used, used);
    address_limit_fini(&limit);
}
END_TEST

/* Taken slots one after the other: what a search may have to look at. */
static unsigned longest_run(const struct address_limit *limit)
{
    unsigned run = 0, longest = 0;

    for (unsigned i = 0; i < 2 * limit->capacity; i++) {
        run = limit->slots[i & (limit->capacity - 1)].count != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Addresses of one IPv6 network that a product of their halves, without a key, would put into one
 * slot: a client has them all, and may choose. */
static struct in6_addr chosen_address(uint32_t number)
{
    const uint64_t factor = 0xbf58476d1ce4e5b9u, high = 0x20010db8u;
    uint64_t inverse = factor, low;
    struct in6_addr address;

    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    low = (number * inverse) ^ (high * 0x9e3779b97f4a7c15u);
    memcpy(address.s6_addr, &high, 8);
    memcpy(address.s6_addr + 8, &low, 8);
    return address;
}

START_TEST(no_client_chooses_its_slots)
{
    enum { ADDRESSES = 2000 };
    struct address_limit limit;

    init(&limit, 1);
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        struct in6_addr address = chosen_address(i);

        ck_assert(address_limit_enter(&limit, &address));
    }
    ck_assert_uint_eq(limit.used, ADDRESSES);
    ck_assert_uint_lt(longest_run(&limit), ADDRESSES / 10); /* some 40, by chance */
    address_limit_fini(&limit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("address_limit");
    TCase *tests = tcase_create("address_limit");

    tcase_add_test(tests, no_limit_counts_nothing);
    tcase_add_test(tests, limit_is_per_address);
    tcase_add_test(tests, no_client_chooses_its_slots);
    tcase_add_test(tests, table_agrees_with_a_plain_count);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
