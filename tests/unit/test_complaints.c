/* SPDX-License-Identifier: MIT */
/* Lines that another program writes, however they are cut, are lines of the log. */

#include "daemon/complaints.h"

#include <evix/loop.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "the new program says: "

static struct complaints complaints;
static struct evix_loop *loop;
static int out;
static char logged[8 * LOG_LINE_BYTES];

static void on_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    ck_assert_int_eq(level, LOG_LEVEL_ERROR);
    ck_assert_int_eq(strncmp(line, PREFIX, strlen(PREFIX)), 0);
    ck_assert_uint_lt(strlen(logged) + length + 2, sizeof(logged));
    strcat(logged, line + strlen(PREFIX));
    strcat(logged, "|");
}

static void set_up(void)
{
    logged[0] = '\0';
    log_set_sink(on_line, NULL);
    ck_assert_int_eq(evix_loop_new(&loop, NULL), 0);
    ck_assert_int_eq(complaints_open(&complaints, loop, &out), 0);
}

static void tear_down(void)
{
    complaints_close(&complaints);
    evix_loop_free(&loop);
    log_set_sink(NULL, NULL);
}

static void say(const char *text)
{
    ck_assert_int_eq(write(out, text, strlen(text)), (ssize_t)strlen(text));
}

/* The loop ends by itself once the stream has, since nothing else is active. */
static void hear_to_the_end(void)
{
    close(out);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(complaints.fd, -1);
}

START_TEST(lines)
{
    say("one\n\ntwo\nthr");
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
    ck_assert_str_eq(logged, "one|two|");
    say("ee\nfour");
    hear_to_the_end();
    ck_assert_str_eq(logged, "one|two|three|four|");
}
END_TEST

START_TEST(long_line_is_cut)
{
    char text[2 * sizeof(complaints.line) + 8];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    say(text);
    hear_to_the_end();
    ck_assert_uint_eq(strlen(logged), strlen(text) + 3);
}
END_TEST

START_TEST(rest_is_read_when_closed)
{
    say("last words");
    complaints_close(&complaints); /* the other end is still open: nothing is waited for */
    ck_assert_str_eq(logged, "last words|");
    close(out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("complaints");
    TCase *tests = tcase_create("complaints");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, lines);
    tcase_add_test(tests, long_line_is_cut);
    tcase_add_test(tests, rest_is_read_when_closed);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
