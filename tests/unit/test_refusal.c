/* SPDX-License-Identifier: MIT */
/* Which status an error becomes: files/refusal.h. */

#include "files/refusal.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

struct row {
    int error;
    int status; /* of what lies beneath a root */
    int root;   /* of the root itself */
};

static const struct row rows[] = {
    {ENOENT, 404, 404},       {ENOTDIR, 404, 404},  {ELOOP, 404, 500},  {EXDEV, 404, 500},
    {ENAMETOOLONG, 404, 500}, {ENXIO, 404, 500},    {ENODEV, 404, 500}, {EOPNOTSUPP, 404, 500},
    {EACCES, 403, 403},       {EPERM, 403, 403},    {EMFILE, 503, 503}, {ENFILE, 503, 503},
    {ENOMEM, 503, 503},       {EIO, 500, 500},      {ESTALE, 500, 500}, {ETIMEDOUT, 500, 500},
    {EINTR, 500, 500},        {ENOTCONN, 500, 500}, {EAGAIN, 500, 500}, {EREMOTEIO, 500, 500},
};

START_TEST(status_of_an_error)
{
    struct refusal refusal = refusal_of(-rows[_i].error);
    struct refusal root = refusal_of_root(-rows[_i].error);

    ck_assert_int_eq(refusal.status, rows[_i].status);
    ck_assert_int_eq(refusal.error, -rows[_i].error);
    ck_assert_ptr_nonnull(refusal.reason);
    ck_assert_int_eq(root.status, rows[_i].root);
    ck_assert_int_eq(root.error, -rows[_i].error);
    ck_assert_str_eq(root.reason, "the root directory can't be opened");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusal");
    TCase *tests = tcase_create("refusal");
    tcase_add_loop_test(tests, status_of_an_error, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
