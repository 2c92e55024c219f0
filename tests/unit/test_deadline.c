/* SPDX-License-Identifier: MIT */
/*
 * Tests src/server/deadline.c: it passes when it should, however often it was moved, and not at all
 * when there is none.
 */
#include "server/deadline.h"

#include <check.h>
#include <stdlib.h>

enum { TICK_MS = 5 };

static struct evix_loop *loop;
static struct deadline deadline;
static unsigned looks, passes;
static uint64_t passed_ms;

static void on_deadline(struct evix_timer *timer)
{
    ck_assert_ptr_eq(timer, &deadline.timer);
    looks++;
    if (deadline_passed(&deadline, TICK_MS)) {
        passes++;
        passed_ms = evix_now_ms(loop);
    }
}

static void setup(void)
{
    ck_assert_int_eq(evix_loop_new(&loop, NULL), 0);
    deadline_init(&deadline, loop, on_deadline);
    looks = passes = 0;
}

static void teardown(void)
{
    deadline_stop(&deadline);
    evix_loop_free(&loop);
}

START_TEST(passes_once_and_not_early)
{
    uint64_t start_ms = evix_now_ms(loop);

    deadline_start(&deadline, 3 * TICK_MS, TICK_MS);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(passes, 1);
    ck_assert_uint_ge(passed_ms, start_ms + 3 * TICK_MS);
    /* It looks once a tick, however slow the machine is. */
    ck_assert_uint_le(looks, (passed_ms - start_ms) / TICK_MS + 1);
}
END_TEST

START_TEST(moves_later_without_touching_the_timer)
{
    uint64_t start_ms = evix_now_ms(loop);

    deadline_start(&deadline, TICK_MS, TICK_MS);
    uint64_t due_ms = evix_timer_due_ms(&deadline.timer);
    deadline_move(&deadline, start_ms, 4 * TICK_MS);
    ck_assert_uint_eq(evix_timer_due_ms(&deadline.timer), due_ms);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(passes, 1);
    ck_assert_uint_ge(passed_ms, start_ms + 4 * TICK_MS);
}
END_TEST

START_TEST(moves_earlier_too)
{
    deadline_start(&deadline, 3600 * 1000, TICK_MS);
    deadline_move(&deadline, evix_now_ms(loop), TICK_MS);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(passes, 1);
}
END_TEST

START_TEST(none_never_passes)
{
    deadline_start(&deadline, 0, TICK_MS);
    while (looks < 5)
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_ONCE), 1);
    ck_assert_uint_eq(passes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deadline");
    TCase *tests = tcase_create("deadline");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, passes_once_and_not_early);
    tcase_add_test(tests, moves_later_without_touching_the_timer);
    tcase_add_test(tests, moves_earlier_too);
    tcase_add_test(tests, none_never_passes);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
