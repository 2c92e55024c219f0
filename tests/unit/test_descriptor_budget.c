/* SPDX-License-Identifier: MIT */
/* How descriptors are shared out: server/descriptor_budget.h. */

#include "server/descriptor_budget.h"

#include <check.h>
#include <stdlib.h>

static struct descriptor_budget share(uint64_t limit, uint64_t standing, uint32_t wanted)
{
    struct descriptor_budget budget;

    descriptor_budget_share(&budget, limit, standing, wanted);
    return budget;
}

START_TEST(enough_for_all)
{
    struct descriptor_budget budget = share(20128, 30, 10000);

    ck_assert_uint_eq(budget.connections, 10000);
    ck_assert_uint_gt(budget.cached, 7000);
    ck_assert_uint_eq(share(UINT64_MAX, 30, 10000).cached, 8192);
    ck_assert_uint_eq(share(UINT64_MAX, 30, UINT32_MAX).connections, UINT32_MAX);
}
END_TEST

/* Whatever the limit, what is promised to connections and to files fits, with files to spare. */
START_TEST(never_more_than_there_are)
{
    for (uint64_t limit = 48; limit < 3000; limit += 61) {
        for (uint32_t wanted = 1; wanted < 4000; wanted += 97) {
            struct descriptor_budget budget = share(limit, 40, wanted);

            ck_assert_uint_le(budget.connections, wanted);
            ck_assert_uint_ge(budget.connections, 1);
            ck_assert_uint_ge(budget.cached, 1);
            ck_assert_uint_le(40 + budget.connections + budget.cached, limit);
        }
    }
}
END_TEST

START_TEST(files_keep_a_share)
{
    struct descriptor_budget budget = share(1024, 24, 10000);

    ck_assert_uint_eq(budget.connections, 744);
    ck_assert_uint_eq(budget.cached, 192);
    budget = share(64, 34, 10000);
    ck_assert_uint_eq(budget.connections, 15);
    ck_assert_uint_eq(budget.cached, 12);
}
END_TEST

START_TEST(one_of_each_where_nothing_is_left)
{
    ck_assert_uint_eq(share(10, 40, 100).connections, 1);
    ck_assert_uint_eq(share(10, 40, 100).cached, 1);
    ck_assert_uint_eq(share(0, 0, 100).connections, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server/descriptor_budget");
    TCase *cases = tcase_create("descriptor_budget");
    SRunner *runner = srunner_create(suite);

    tcase_add_test(cases, enough_for_all);
    tcase_add_test(cases, never_more_than_there_are);
    tcase_add_test(cases, files_keep_a_share);
    tcase_add_test(cases, one_of_each_where_nothing_is_left);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
