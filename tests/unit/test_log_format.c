/* SPDX-License-Identifier: MIT */
/* Formats of the access log, and how a line is printed: server/log_format.h. */

#include "server/log_format.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool find_field(void *data, struct http_text name, struct http_text *value)
{
    (void)data;
    if (http_text_equal_nocase(name, HTTP_TEXT("accept")))
        *value = HTTP_TEXT("text/html, \"x\"");
    else
        return false;
    return true;
}

static bool find_response_field(void *data, struct http_text name, struct http_text *value)
{
    (void)data;
    *value = HTTP_TEXT("W/\"1\"");
    return http_text_equal_nocase(name, HTTP_TEXT("etag"));
}

/* 2026-11-29T16:38:12.123456Z, in a zone of UTC+1. */
static struct access_record sample(void)
{
    return (struct access_record){
        .client = HTTP_TEXT("192.0.2.7"),
        .time_us = INT64_C(1795970292123456),
        .duration_us = 1234567,
        .request_line = HTTP_TEXT("GET /a/b?x=1&y HTTP/1.1"),
        .method = HTTP_TEXT("GET"),
        .target = HTTP_TEXT("/a/b?x=1&y"),
        .protocol = HTTP_TEXT("HTTP/1.1"),
        .host = HTTP_TEXT("example.org"),
        .referer = HTTP_TEXT("http://ref/"),
        .user_agent = HTTP_TEXT("curl/8"),
        .reason = HTTP_TEXT("no such file"),
        .body_bytes = 4711,
        .status = 200,
        .port = 8080,
        .request_number = 2,
        .keep_alive = true,
        .request_field = find_field,
        .response_field = find_response_field,
    };
}

static bool was_cut; /* by the last call of print() */

/* Prints one record; returns the line without its newline. */
static const char *print(enum config_log_format kind, const char *text,
                         const struct access_record *record)
{
    static char line[65536];
    struct log_line out = {.data = line, .capacity = sizeof(line)};
    struct log_format format;
    struct log_clock clock = {0};
    size_t position;
    ck_assert_int_eq(log_format_compile(&format, kind, text, &position), 0);
    ssize_t length = log_format_line(&format, record, &clock, &out);
    was_cut = out.is_cut;
    log_format_free(&format);
    ck_assert_int_gt(length, 0);
    ck_assert_int_eq(line[length - 1], '\n');
    line[length - 1] = '\0';
    ck_assert_uint_eq(strlen(line), (size_t)length - 1); /* no NUL got in */
    ck_assert_ptr_null(strchr(line, '\n'));
    return line;
}

static void set_zone(void)
{
    setenv("TZ", "XXX-1", 1);
    tzset();
}

static const struct {
    const char *text;
    const char *expected;
} directives[] = {
    {"", ""},
    {"plain text", "plain text"},
    {"100%%", "100%"},
    {"%>%x", "%x"},
    {"%h", "192.0.2.7"},
    {"%a", "192.0.2.7"},
    {"%l %u", "- -"},
    {"%t", "[29/Nov/2026:17:38:12 +0100]"},
    {"%{%Y-%m-%d %z}t", "2026-11-29 +0100"},
    {"%{sec}t %{msec}t %{usec}t", "1795970292 1795970292123 1795970292123456"},
    {"%{msec_frac}t %{usec_frac}t", "123 123456"},
    {"%r", "GET /a/b?x=1&y HTTP/1.1"},
    {"%m %U%q %H", "GET /a/b?x=1&y HTTP/1.1"},
    {"%s %>s %<s", "200 200 200"},
    {"%b %B", "4711 4711"},
    {"%D", "1234567"},
    {"%T %{s}T %{ms}T %{us}T", "1 1 1234 1234567"},
    {"%v %V %p", "example.org example.org 8080"},
    {"%X %k", "+ 2"},
    {"%{Referer}i|%{REFERER}i", "http://ref/|http://ref/"},
    {"%{User-agent}i", "curl/8"},
    {"\"%{Accept}i\"", "\"text/html, \\\"x\\\"\""},
    {"%{X-None}i", "-"},
    {"%{ETag}o", "W/\\\"1\\\""},
    {"%{X-None}o", "-"},
    {"\ta\tb", "\ta\tb"},
};

START_TEST(directive_prints_what_apache_means_by_it)
{
    struct access_record record = sample();
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, directives[_i].text, &record),
                     directives[_i].expected);
}
END_TEST

START_TEST(pid_is_our_own)
{
    struct access_record record = sample();
    char expected[24];
    snprintf(expected, sizeof(expected), "%ld", (long)getpid());
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%P", &record), expected);
}
END_TEST

static const struct {
    const char *text;
    size_t position;
} refused[] = {
    {"%", 0},         {"abc %", 4},     {"%y", 0},    {"%h %Q", 3},   {"%{Referer}", 0},
    {"%{Referer", 0}, {"%{}i", 0},      {"%{x}h", 0}, {"%{min}T", 0}, {"%!200{Referer}i", 0},
    {"a\nb", 0},      {"%h\033[0m", 2}, {"%i", 0},
};

START_TEST(wrong_format_is_refused_with_its_place)
{
    struct log_format format;
    size_t position = 99;
    ck_assert_int_eq(log_format_compile(&format, CONFIG_LOG_CUSTOM, refused[_i].text, &position),
                     -EINVAL);
    ck_assert_uint_eq(position, refused[_i].position);
}
END_TEST

START_TEST(named_formats)
{
    struct access_record record = sample();
    ck_assert_str_eq(print(CONFIG_LOG_COMMON, "common", &record),
                     "192.0.2.7 - - [29/Nov/2026:17:38:12 +0100] \"GET /a/b?x=1&y HTTP/1.1\" "
                     "200 4711");
    ck_assert_str_eq(print(CONFIG_LOG_COMBINED, "combined", &record),
                     "192.0.2.7 - - [29/Nov/2026:17:38:12 +0100] \"GET /a/b?x=1&y HTTP/1.1\" "
                     "200 4711 \"http://ref/\" \"curl/8\"");
    ck_assert_str_eq(
        print(CONFIG_LOG_JSON, "json", &record),
        "{\"time\":\"2026-11-29T17:38:12.123+01:00\",\"client\":\"192.0.2.7\","
        "\"host\":\"example.org\",\"method\":\"GET\",\"target\":\"/a/b?x=1&y\","
        "\"protocol\":\"HTTP/1.1\",\"status\":200,\"bytes\":4711,\"duration_us\":1234567,"
        "\"referer\":\"http://ref/\",\"user_agent\":\"curl/8\",\"user\":\"\",\"aborted\":false,"
        "\"reason\":\"no such file\"}");
}
END_TEST

/* A request that could not be taken apart, from a client of which nothing is known. */
START_TEST(absent_values)
{
    struct access_record record = {.status = 400, .request_line = HTTP_TEXT("\x16\x03\x01")};
    ck_assert_str_eq(print(CONFIG_LOG_COMBINED, NULL, &record),
                     "- - - [01/Jan/1970:01:00:00 +0100] \"\\x16\\x03\\x01\" 400 - \"-\" \"-\"");
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%m%U%q%p", &record), "---");
    ck_assert_ptr_nonnull(
        strstr(print(CONFIG_LOG_JSON, NULL, &record),
               "\"protocol\":\"\",\"request\":\"\\u0016\\u0003\\u0001\",\"status\":400,"));
}
END_TEST

/* A client that left before it got an answer, and one that left in the middle of it. */
START_TEST(aborted_requests_are_marked)
{
    struct access_record record = sample();
    record.aborted = true;
    record.body_bytes = 17;
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%s %b %X", &record), "200 17 X");
    ck_assert_ptr_nonnull(strstr(print(CONFIG_LOG_JSON, NULL, &record), "\"aborted\":true"));
    record.status = 0;
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%s", &record), "499");
    record.aborted = record.keep_alive = false;
    ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%X", &record), "-");
}
END_TEST

/* No byte of a client ends a line, a quotation or an escape, or reaches a terminal raw. */
START_TEST(every_byte_is_escaped_that_has_to_be)
{
    for (int byte = 0; byte < 256; byte++) {
        char value = (char)byte;
        char expected[8];
        struct access_record record = sample();
        record.user_agent = (struct http_text){&value, 1};
        if (byte == '"' || byte == '\\')
            snprintf(expected, sizeof(expected), "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7F)
            snprintf(expected, sizeof(expected), "%c", byte);
        else
            snprintf(expected, sizeof(expected), "\\x%02x", (unsigned)byte);
        ck_assert_str_eq(print(CONFIG_LOG_CUSTOM, "%{User-Agent}i", &record), expected);

        if (expected[1] == 'x')
            snprintf(expected, sizeof(expected), "\\u%04x", (unsigned)byte);
        char json[32];
        snprintf(json, sizeof(json), "\"user_agent\":\"%s\",", expected);
        ck_assert_ptr_nonnull(strstr(print(CONFIG_LOG_JSON, NULL, &record), json));
    }
}
END_TEST

START_TEST(long_value_is_cut)
{
    static char text[3 * LOG_VALUE_BYTES];
    struct access_record record = sample();
    memset(text, 'a', sizeof(text));
    record.target = (struct http_text){text, sizeof(text)};
    const char *line = print(CONFIG_LOG_CUSTOM, "%U|", &record);
    ck_assert_uint_eq(strlen(line), LOG_VALUE_BYTES + 1);
    ck_assert_str_eq(line + LOG_VALUE_BYTES - 4, "a...|");
    ck_assert(was_cut);
    record.target.length = LOG_VALUE_BYTES - 3;
    ck_assert_uint_eq(strlen(print(CONFIG_LOG_CUSTOM, "%U|", &record)), LOG_VALUE_BYTES - 2);
    ck_assert(!was_cut);
    record.target.length = sizeof(text);

    /* Where an escape would be cut in two, it is left out. */
    memset(text, '\x01', sizeof(text));
    line = print(CONFIG_LOG_CUSTOM, "%U|", &record);
    ck_assert_uint_le(strlen(line), LOG_VALUE_BYTES + 1);
    ck_assert_str_eq(line + strlen(line) - 8, "\\x01...|");
}
END_TEST

/* Whatever room there is, it is either the whole line or none. */
START_TEST(line_that_does_not_fit)
{
    struct access_record record = sample();
    struct log_format format;
    struct log_clock clock = {0};
    size_t position;
    ck_assert_int_eq(log_format_compile(&format, CONFIG_LOG_JSON, NULL, &position), 0);
    char whole[1024];
    struct log_line out = {.data = whole, .capacity = sizeof(whole)};
    ssize_t length = log_format_line(&format, &record, &clock, &out);
    ck_assert_int_gt(length, 0);
    for (size_t room = 0; room < (size_t)length; room++) {
        char *exact = malloc(room + 1); /* AddressSanitizer sees a byte too many */
        ck_assert_ptr_nonnull(exact);
        exact[room] = 'Z';
        struct log_line little = {.data = exact, .capacity = room};
        ck_assert_int_eq(log_format_line(&format, &record, &clock, &little), -ENOSPC);
        ck_assert_int_eq(exact[room], 'Z');
        free(exact);
    }
    out.capacity = (size_t)length;
    ck_assert_int_eq(log_format_line(&format, &record, &clock, &out), length);
    ck_assert(!out.is_cut);
    log_format_free(&format);
}
END_TEST

/* The texts of a second are kept, those of another are made anew. */
START_TEST(clock_follows_the_time)
{
    struct access_record record = sample();
    struct log_format format;
    struct log_clock clock = {0};
    size_t position;
    char line[64];
    ck_assert_int_eq(log_format_compile(&format, CONFIG_LOG_CUSTOM, "%t", &position), 0);
    static const struct {
        int64_t seconds;
        const char *expected;
    } steps[] = {
        {1795970292, "[29/Nov/2026:17:38:12 +0100]\n"},
        {1795970292, "[29/Nov/2026:17:38:12 +0100]\n"},
        {1795970293, "[29/Nov/2026:17:38:13 +0100]\n"},
        {1795970292, "[29/Nov/2026:17:38:12 +0100]\n"},
        {0, "[01/Jan/1970:01:00:00 +0100]\n"},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        record.time_us = steps[i].seconds * 1000000 + 999999;
        struct log_line out = {.data = line, .capacity = sizeof(line) - 1};
        ssize_t length = log_format_line(&format, &record, &clock, &out);
        ck_assert_int_gt(length, 0);
        line[length] = '\0';
        ck_assert_str_eq(line, steps[i].expected);
    }
    log_format_free(&format);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Cut until it fits: values only, so that JSON stays JSON; a long format at its end. */
START_TEST(line_that_is_cut_to_fit)
{
    static char text[3 * LOG_VALUE_BYTES], line[4096];
    static const char *const kinds[] = {"a", "\x01", "\""};
    struct log_line out = {.data = line, .capacity = sizeof(line)};
    struct log_clock clock = {0};
    struct log_format format;
    struct access_record record = sample();
    size_t position;

    for (size_t i = 0; i < 3; i++) {
        memset(text, kinds[i][0], sizeof(text));
        record.target = record.referer = record.user_agent = (struct http_text){text, sizeof(text)};
        ck_assert_int_eq(log_format_compile(&format, CONFIG_LOG_JSON, "", &position), 0);
        ck_assert_int_eq(log_format_line(&format, &record, &clock, &out), -ENOSPC);
        size_t length = log_format_cut_line(&format, &record, &clock, &out);
        ck_assert(out.is_cut);
        ck_assert_uint_le(length, sizeof(line));
        ck_assert_uint_ge(length, sizeof(line) / 4);
        ck_assert_int_eq(strncmp(line + length - 2, "}\n", 2), 0);
        line[length] = '\0';
        ck_assert_ptr_nonnull(strstr(line, "...\",\""));
        ck_assert_ptr_nonnull(strstr(line, "\"status\":200"));
        ck_assert_ptr_nonnull(strstr(line, "\"client\":\"192.0.2.7\""));
        log_format_free(&format);
    }

    ck_assert_int_eq(log_format_compile(&format, CONFIG_LOG_CUSTOM, "ab%m%m%m%m", &position), 0);
    out = (struct log_line){.data = line, .capacity = 10};
    ck_assert_uint_eq(log_format_cut_line(&format, &record, &clock, &out), 10);
    ck_assert(out.is_cut);
    ck_assert_int_eq(strncmp(line, "abG......\n", 10), 0);
    log_format_free(&format);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_format");
    TCase *tests = tcase_create("log_format");
    tcase_add_checked_fixture(tests, set_zone, NULL);
    tcase_add_loop_test(tests, directive_prints_what_apache_means_by_it, 0, COUNT(directives));
    tcase_add_test(tests, pid_is_our_own);
    tcase_add_loop_test(tests, wrong_format_is_refused_with_its_place, 0, COUNT(refused));
    tcase_add_test(tests, named_formats);
    tcase_add_test(tests, absent_values);
    tcase_add_test(tests, aborted_requests_are_marked);
    tcase_add_test(tests, every_byte_is_escaped_that_has_to_be);
    tcase_add_test(tests, long_value_is_cut);
    tcase_add_test(tests, line_that_does_not_fit);
    tcase_add_test(tests, clock_follows_the_time);
    tcase_add_test(tests, line_that_is_cut_to_fit);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
