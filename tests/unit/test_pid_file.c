/* SPDX-License-Identifier: MIT */
/* The file with the master's process id: daemon/pid_file.h. */

#include "daemon/pid_file.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[96];

static void make_folder(void)
{
    strcpy(folder, "/tmp/evixd-pid-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/evixd.pid", folder);
}

static void remove_folder(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* fails if anything else was left there */
}

static long read_id(void)
{
    long id = -1;
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld\n", &id), 1);
    ck_assert_int_eq(fgetc(file), EOF);
    fclose(file);
    return id;
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(file_holds_our_id_and_goes_again)
{
    ck_assert_int_eq(pid_file_write(path), 0);
    ck_assert_int_eq(read_id(), getpid());
    pid_file_remove(path, getpid());
    ck_assert_int_ne(access(path, F_OK), 0);
    pid_file_remove(path, getpid());
}
END_TEST

START_TEST(old_file_is_replaced_in_one_step)
{
    struct stat before, after;
    write_text("1\n");
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert_int_eq(pid_file_write(path), 0);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_uint_ne(before.st_ino, after.st_ino); /* another file, whole when it came there */
    ck_assert_int_eq(read_id(), getpid());
}
END_TEST

static const char *const foreign[] = {"1\n", "", "rubbish", "99999999999999999999999999\n"};

START_TEST(file_of_somebody_else_stays)
{
    write_text(foreign[_i]);
    pid_file_remove(path, getpid());
    ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(impossible_place_is_an_error)
{
    char too_long[5000];
    char missing[128];
    snprintf(missing, sizeof(missing), "%s/none/evixd.pid", folder);
    ck_assert_int_eq(pid_file_write(missing), -ENOENT);
    memset(too_long, 'a', sizeof(too_long));
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    ck_assert_int_eq(pid_file_write(too_long), -ENAMETOOLONG);
}
END_TEST

/* A directory stands where the file should be: nothing temporary is left beside it. */
START_TEST(failed_rename_leaves_nothing)
{
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(pid_file_write(path), -EISDIR);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pid_file");
    TCase *tests = tcase_create("pid_file");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, file_holds_our_id_and_goes_again);
    tcase_add_test(tests, old_file_is_replaced_in_one_step);
    tcase_add_loop_test(tests, file_of_somebody_else_stays, 0, 4);
    tcase_add_test(tests, impossible_place_is_an_error);
    tcase_add_test(tests, failed_rename_leaves_nothing);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
