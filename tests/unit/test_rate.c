/* SPDX-License-Identifier: MIT */
/*
 * Tests src/server/rate.c with a clock and clients that are simulated: an honest reader is never
 * cut off, whatever its steps; a client that is too slow is, and soon.
 */
#include "server/rate.h"

#include <check.h>
#include <stdlib.h>

#define TIMEOUT_MS 30000
#define MIN_RATE   128
#define HOUR_MS    3600000

/* A client that moves `step` bytes at once, at the end of each period of so many ms. */
struct client {
    uint64_t first; /* and these at the very beginning */
    uint64_t step, period_ms;
};

static uint64_t moved_at(const struct client *client, uint64_t now_ms)
{
    return client->first + client->step * (now_ms / client->period_ms);
}

/* When it is cut off, looked at when its time is over; UINT64_MAX: not within the time. */
static uint64_t cut_ms(const struct client *client, uint64_t min_rate, uint64_t until_ms)
{
    uint64_t due_ms = TIMEOUT_MS, mark = 0;

    while (due_ms < until_ms) {
        uint64_t now_ms = due_ms, moved = moved_at(client, now_ms) - mark;

        mark += moved;
        due_ms = rate_due_ms(due_ms, now_ms, moved, TIMEOUT_MS, min_rate);
        if (due_ms <= now_ms)
            return now_ms;
    }
    return UINT64_MAX;
}

START_TEST(reader_above_the_minimum_is_never_cut)
{
    static const uint64_t rates[] = {MIN_RATE, 150, 500, 1000, 1500, 3000, 20000, 1 << 30};
    static const uint64_t steps[] = {1, 2048, 65536, 95232, RATE_CREDIT_BYTES};

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
            /* Its kernel takes a step before it has read anything. */
            struct client client = {steps[j], steps[j], steps[j] * 1000 / rates[i]};

            if (client.period_ms != 0)
                ck_assert_uint_eq(cut_ms(&client, MIN_RATE, 24 * HOUR_MS), UINT64_MAX);
        }
}
END_TEST

START_TEST(client_that_moves_nothing_has_the_timeout)
{
    struct client client = {0, 0, 1};

    ck_assert_uint_eq(cut_ms(&client, MIN_RATE, HOUR_MS), TIMEOUT_MS);
    ck_assert_uint_eq(cut_ms(&client, 0, HOUR_MS), TIMEOUT_MS);
}
END_TEST

/* What it has moved counts, and no more: also if it was very much. */
START_TEST(client_that_stops_is_cut)
{
    struct client few = {1280, 0, 1}, many = {1 << 20, 0, 1}, most = {UINT64_MAX / 2, 0, 1};
    uint64_t longest_ms = 2 * TIMEOUT_MS + RATE_CREDIT_BYTES * 1000 / MIN_RATE;

    ck_assert_uint_eq(cut_ms(&few, MIN_RATE, HOUR_MS), TIMEOUT_MS + 10000);
    ck_assert_uint_eq(cut_ms(&many, MIN_RATE, HOUR_MS), longest_ms);
    ck_assert_uint_eq(cut_ms(&most, MIN_RATE, HOUR_MS), longest_ms);
}
END_TEST

/* One byte a second: the first 30 seconds are its timeout's, and its bytes buy next to nothing. */
START_TEST(client_that_trickles_is_cut)
{
    struct client trickle = {0, 1, 1000}, half = {0, MIN_RATE / 2, 1000};

    ck_assert_uint_le(cut_ms(&trickle, MIN_RATE, HOUR_MS), TIMEOUT_MS + 1000);
    ck_assert_uint_le(cut_ms(&half, MIN_RATE, HOUR_MS), 2 * TIMEOUT_MS);
}
END_TEST

START_TEST(without_a_minimum_any_byte_buys_the_timeout)
{
    struct client slow = {0, 1, TIMEOUT_MS}, slower = {0, 1, TIMEOUT_MS + 1};

    ck_assert_uint_eq(cut_ms(&slow, 0, 24 * HOUR_MS), UINT64_MAX);
    ck_assert_uint_eq(cut_ms(&slower, 0, 24 * HOUR_MS), TIMEOUT_MS);
}
END_TEST

/* No sum or product overflows, however long the machine has been up. */
START_TEST(large_numbers)
{
    uint64_t now_ms = (uint64_t)100 * 365 * 24 * HOUR_MS, gib = 1 << 30;

    ck_assert_uint_eq(rate_due_ms(now_ms, now_ms, UINT64_MAX, TIMEOUT_MS, gib),
                      now_ms + TIMEOUT_MS);
    ck_assert_uint_eq(rate_due_ms(now_ms, now_ms, 10 * gib, TIMEOUT_MS, gib), now_ms + 10000);
    ck_assert_uint_eq(rate_due_ms(now_ms - 5000, now_ms, 4 * gib, TIMEOUT_MS, gib), now_ms - 1000);
    ck_assert_uint_eq(rate_due_ms(now_ms, now_ms, UINT64_MAX, TIMEOUT_MS, 1),
                      now_ms + TIMEOUT_MS + (uint64_t)RATE_CREDIT_BYTES * 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rate");
    TCase *tests = tcase_create("rate");

    tcase_add_test(tests, reader_above_the_minimum_is_never_cut);
    tcase_add_test(tests, client_that_moves_nothing_has_the_timeout);
    tcase_add_test(tests, client_that_stops_is_cut);
    tcase_add_test(tests, client_that_trickles_is_cut);
    tcase_add_test(tests, without_a_minimum_any_byte_buys_the_timeout);
    tcase_add_test(tests, large_numbers);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
