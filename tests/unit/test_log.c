/* SPDX-License-Identifier: MIT */
/*
 * Tests src/log: levels, escaping, the bound of a line, the default sink.
 */
#include "log/log.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    unsigned count;
    enum log_level level;
    size_t length;
    char line[LOG_LINE_BYTES + 1];
} seen;

static void on_event(void *data, enum log_level level, const char *line, size_t length)
{
    ck_assert_ptr_eq(data, &seen);
    ck_assert_uint_le(length, LOG_LINE_BYTES);
    ck_assert_uint_eq(strlen(line), length);
    seen.count++;
    seen.level = level;
    seen.length = length;
    memcpy(seen.line, line, length + 1);
}

static void setup(void)
{
    memset(&seen, 0, sizeof(seen));
    log_set_sink(on_event, &seen);
    log_set_level(LOG_LEVEL_NOTICE);
}

static void teardown(void)
{
    log_set_sink(NULL, NULL);
}

START_TEST(test_level_decides)
{
    static const enum log_level levels[] = {LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE,
                                            LOG_LEVEL_INFO, LOG_LEVEL_DEBUG};

    for (unsigned threshold = 0; threshold < LOG_LEVEL_COUNT; threshold++) {
        log_set_level(levels[threshold]);
        for (unsigned i = 0; i < LOG_LEVEL_COUNT; i++) {
            unsigned before = seen.count;

            ck_assert_int_eq(log_enabled(levels[i]), i <= threshold);
            log_event(levels[i], "event %u", i);
            ck_assert_uint_eq(seen.count - before, i <= threshold);
            if (i <= threshold)
                ck_assert_int_eq(seen.level, levels[i]);
        }
    }
}
END_TEST

START_TEST(test_disabled_level_evaluates_nothing)
{
    int evaluated = 0;

    log_event(LOG_LEVEL_DEBUG, "%d", ++evaluated);
    ck_assert_int_eq(evaluated, 0);
    log_event(LOG_LEVEL_NOTICE, "%d", ++evaluated);
    ck_assert_int_eq(evaluated, 1);
}
END_TEST

START_TEST(test_macro_is_one_statement)
{
    if (seen.count == 1)
        log_event(LOG_LEVEL_ERROR, "wrong branch");
    else
        log_event(LOG_LEVEL_ERROR, "right branch");
    ck_assert_str_eq(seen.line, "right branch");
}
END_TEST

START_TEST(test_names_of_levels)
{
    for (unsigned i = 0; i < LOG_LEVEL_COUNT; i++) {
        enum log_level level;

        ck_assert_int_eq(log_level_parse(log_level_name((enum log_level)i), &level), 0);
        ck_assert_uint_eq(level, i);
    }
    enum log_level level = LOG_LEVEL_INFO;
    ck_assert_int_eq(log_level_parse("Error", &level), -EINVAL);
    ck_assert_int_eq(log_level_parse("", &level), -EINVAL);
    ck_assert_int_eq(level, LOG_LEVEL_INFO);
}
END_TEST

START_TEST(test_errno_is_kept_and_shown)
{
    errno = ENOENT;
    log_event(LOG_LEVEL_ERROR, "open: %m");
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_str_eq(seen.line, "open: No such file or directory");
}
END_TEST

/* Nothing that a client sends may forge a line or reach a terminal as a command. */
static const struct {
    const char *text, *line;
} escapes[] = {
    {"plain text, \"quoted\"", "plain text, \"quoted\""},
    {"a\r\nerror: forged", "a\\r\\nerror: forged"},
    {"\x1b[2J\x07", "\\x1B[2J\\x07"},
    {"tab\there \x7f", "tab\\there \\x7F"},
    {"back\\slash", "back\\\\slash"},
    {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xc2\x9b"
     "2J",
     "\\xC2\\x9B2J"},                             /* CSI as one C1 control */
    {"\xc0\x8a", "\\xC0\\x8A"},                   /* an overlong newline */
    {"\xe0\x80\x8a", "\\xE0\\x80\\x8A"},          /* and a longer one */
    {"\xf0\x80\x80\x8a", "\\xF0\\x80\\x80\\x8A"}, /* and the longest */
    {"\xed\xa0\x80", "\\xED\\xA0\\x80"},          /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"}, /* above U+10FFFF */
    {"\xff\xfe", "\\xFF\\xFE"},
    {"cut \xe2\x82", "cut \\xE2\\x82"},
    {"\xe2\x28\xa1", "\\xE2(\\xA1"},
};

START_TEST(test_escapes)
{
    char out[128];
    size_t length = log_escape(out, sizeof(out), escapes[_i].text, strlen(escapes[_i].text));

    ck_assert_str_eq(out, escapes[_i].line);
    ck_assert_uint_eq(length, strlen(escapes[_i].line));
    log_event(LOG_LEVEL_ERROR, "%s", escapes[_i].text);
    ck_assert_str_eq(seen.line, escapes[_i].line);
}
END_TEST

START_TEST(test_escape_takes_nul)
{
    char out[16];

    ck_assert_uint_eq(log_escape(out, sizeof(out), "a\0b", 3), 6);
    ck_assert_str_eq(out, "a\\x00b");
}
END_TEST

START_TEST(test_escape_never_splits)
{
    static const char text[] = "ab\n\xe2\x82\xac\x01z";
    /* the longest whole prefix for each size: a, ab, ab\n, ... */
    static const size_t lengths[] = {0, 1, 2, 2, 4, 4, 4, 7, 7, 7, 7, 11, 12, 12};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char *out = malloc(i + 1); /* its very end, so that one byte too many is seen */

        ck_assert_uint_eq(log_escape(out, i + 1, text, sizeof(text) - 1), lengths[i]);
        ck_assert_uint_eq(strlen(out), lengths[i]);
        free(out);
    }
}
END_TEST

START_TEST(test_long_lines_are_cut)
{
    static char text[3 * LOG_LINE_BYTES];

    memset(text, 'x', sizeof(text) - 1);
    log_event(LOG_LEVEL_ERROR, "%s", text);
    ck_assert_uint_eq(seen.length, LOG_LINE_BYTES);
    ck_assert_str_eq(seen.line + LOG_LINE_BYTES - 4, "x...");

    text[LOG_LINE_BYTES] = '\0'; /* the longest that fits: whole */
    log_event(LOG_LEVEL_ERROR, "%s", text);
    ck_assert_str_eq(seen.line, text);

    memset(text, '\n', LOG_LINE_BYTES); /* fits only until it is escaped */
    log_event(LOG_LEVEL_ERROR, "%s", text);
    ck_assert_uint_le(seen.length, LOG_LINE_BYTES);
    ck_assert_str_eq(seen.line + seen.length - 5, "\\n...");
}
END_TEST

/* Redirects standard error to a pipe around one event. */
START_TEST(test_default_sink_is_stderr)
{
    int ends[2], saved = dup(STDERR_FILENO);
    char text[64];
    ssize_t count;

    ck_assert_int_eq(pipe(ends), 0);
    log_set_sink(NULL, NULL);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    log_event(LOG_LEVEL_ERROR, "no root\n");
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    count = read(ends[0], text, sizeof(text));
    ck_assert_int_eq(count, (ssize_t)strlen("evixd: no root\\n\n"));
    ck_assert_mem_eq(text, "evixd: no root\\n\n", (size_t)count);
    close(ends[0]);
    close(ends[1]);
    close(saved);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *events = tcase_create("events");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(events, setup, teardown);
    tcase_add_test(events, test_level_decides);
    tcase_add_test(events, test_disabled_level_evaluates_nothing);
    tcase_add_test(events, test_macro_is_one_statement);
    tcase_add_test(events, test_names_of_levels);
    tcase_add_test(events, test_errno_is_kept_and_shown);
    tcase_add_loop_test(events, test_escapes, 0, sizeof(escapes) / sizeof(escapes[0]));
    tcase_add_test(events, test_escape_takes_nul);
    tcase_add_test(events, test_escape_never_splits);
    tcase_add_test(events, test_long_lines_are_cut);
    tcase_add_test(events, test_default_sink_is_stderr);
    suite_add_tcase(suite, events);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
