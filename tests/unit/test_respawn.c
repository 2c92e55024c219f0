/* SPDX-License-Identifier: MIT */
/* How soon a worker that died is started again: daemon/respawn.h. */

#include "daemon/respawn.h"

#include <check.h>
#include <stdlib.h>

static const struct {
    uint32_t previous_ms;
    uint64_t lived_ms;
    uint32_t expected_ms;
} delays[] = {
    {0, 0, 100},
    {0, 1000000, 100},
    {100, 0, 200},
    {200, 5, 400},
    {12800, 100, 25600},
    {14999, 0, 29998},
    {15000, 0, 30000},
    {25600, 0, 30000},
    {30000, 0, 30000},
    {30000, 9999, 30000},
    {30000, 10000, 100},
    {400, 86400000, 100},
    {UINT32_MAX, 0, 30000},
};

START_TEST(delay_follows_the_life_before)
{
    ck_assert_uint_eq(respawn_delay_ms(delays[_i].previous_ms, delays[_i].lived_ms),
                      delays[_i].expected_ms);
}
END_TEST

/* A worker that always dies at once costs a bounded number of processes, and is never given up. */
START_TEST(failing_worker_does_not_spin)
{
    uint64_t clock_ms = 0;
    uint32_t delay_ms = 0;
    unsigned starts = 0;
    while (clock_ms < 3600 * 1000) {
        delay_ms = respawn_delay_ms(delay_ms, 0);
        clock_ms += delay_ms;
        starts++;
    }
    ck_assert_uint_ge(starts, 100);
    ck_assert_uint_le(starts, 130);
    ck_assert_uint_eq(delay_ms, RESPAWN_LONGEST_MS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("respawn");
    TCase *tests = tcase_create("delay");
    tcase_add_loop_test(tests, delay_follows_the_life_before, 0,
                        (int)(sizeof(delays) / sizeof(delays[0])));
    tcase_add_test(tests, failing_worker_does_not_spin);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
