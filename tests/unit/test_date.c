/* SPDX-License-Identifier: MIT */
/* Dates: the three formats, the borders of each part, and round trips against the C library. */
#include "http_rows.h"
#include "http/date.h"

#include <errno.h>
#include <time.h>

#define NOW INT64_C(1790000000) /* 2026-09-21 */

static const struct {
    const char *rfc;
    const char *text;
    int result;
    int64_t time;
} parse_rows[] = {
    {"9110 5.6.7 IMF-fixdate", "Sun, 06 Nov 1994 08:49:37 GMT", 0, 784111777},
    {"9110 5.6.7 rfc850-date", "Sunday, 06-Nov-94 08:49:37 GMT", 0, 784111777},
    {"9110 5.6.7 asctime-date", "Sun Nov  6 08:49:37 1994", 0, 784111777},
    {"9110 5.6.7 asctime-date, two digits", "Wed Nov 16 08:49:37 1994", 0, 784975777},
    {"9110 5.6.7: the epoch", "Thu, 01 Jan 1970 00:00:00 GMT", 0, 0},
    {"9110 5.6.7: before the epoch", "Wed, 31 Dec 1969 23:59:59 GMT", 0, -1},
    {"9110 5.6.7: the first", "Sat, 01 Jan 0000 00:00:00 GMT", 0, INT64_C(-62167219200)},
    {"9110 5.6.7: the last", "Fri, 31 Dec 9999 23:59:59 GMT", 0, INT64_C(253402300799)},
    {"9110 5.6.7: leap second", "Sat, 31 Dec 2016 23:59:60 GMT", 0, 1483228800},
    {"9110 5.6.7: leap day", "Thu, 29 Feb 2024 00:00:00 GMT", 0, 1709164800},
    {"9110 5.6.7: leap day of 2000", "Tue, 29 Feb 2000 00:00:00 GMT", 0, 951782400},
    {"9110 5.6.7: no leap day in 1900", "Thu, 29 Feb 1900 00:00:00 GMT", -EINVAL, 0},
    {"9110 5.6.7: no leap day in 2023", "Wed, 29 Feb 2023 00:00:00 GMT", -EINVAL, 0},
    {"9110 5.6.7: day of a month", "Thu, 31 Apr 2026 00:00:00 GMT", -EINVAL, 0},
    {"9110 5.6.7: day of a month", "Thu, 00 Apr 2026 00:00:00 GMT", -EINVAL, 0},
    {"9110 5.6.7: hour", "Sun, 06 Nov 1994 24:00:00 GMT", -EINVAL, 0},
    {"9110 5.6.7: minute", "Sun, 06 Nov 1994 08:60:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: second", "Sun, 06 Nov 1994 08:49:61 GMT", -EINVAL, 0},
    {"9110 5.6.7: another day's name is let pass", "Mon, 06 Nov 1994 08:49:37 GMT", 0, 784111777},
    {"9110 5.6.7: no day's name", "Sux, 06 Nov 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: by case", "sun, 06 Nov 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: by case", "Sun, 06 nov 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: GMT only", "Sun, 06 Nov 1994 08:49:37 UTC", -EINVAL, 0},
    {"9110 5.6.7: GMT only", "Sun, 06 Nov 1994 08:49:37 +0000", -EINVAL, 0},
    {"9110 5.6.7: GMT needed", "Sun, 06 Nov 1994 08:49:37", -EINVAL, 0},
    {"9110 5.6.7: nothing after", "Sun, 06 Nov 1994 08:49:37 GMT ", -EINVAL, 0},
    {"9110 5.6.7: nothing after", "Sun, 06 Nov 1994 08:49:37 GMT; length=1", -EINVAL, 0},
    {"9110 5.6.7: nothing after", "Sun Nov  6 08:49:37 1994 GMT", -EINVAL, 0},
    {"9110 5.6.7: one digit", "Sun, 6 Nov 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: a sign", "Sun, +6 Nov 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: no month", "Sun, 06 Nox 1994 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: short name in rfc850", "Sun, 06-Nov-94 08:49:37 GMT", -EINVAL, 0},
    {"9110 5.6.7: empty", "", -EINVAL, 0},
    {"9110 5.6.7: cut", "Sun", -EINVAL, 0},
    {"9110 5.6.7: cut", "Sunday", -EINVAL, 0},
    {"9110 5.6.7: cut", "Sun, 06 Nov 19", -EINVAL, 0},
    {"9110 5.6.7: a number", "784111777", -EINVAL, 0},
    /* Two digits: at most 50 years ahead of NOW, else past. */
    {"9110 5.6.7: this year", "Tuesday, 01-Dec-26 00:00:00 GMT", 0, 1796083200},
    {"9110 5.6.7: 49 years ahead", "Sunday, 01-Dec-75 00:00:00 GMT", 0, INT64_C(3342384000)},
    {"9110 5.6.7: just below 50", "Sunday, 20-Sep-76 00:00:00 GMT", 0, INT64_C(3367785600)},
    {"9110 5.6.7: just above 50", "Wednesday, 01-Dec-76 00:00:00 GMT", 0, 218246400},
    {"9110 5.6.7: 99", "Friday, 31-Dec-99 23:59:59 GMT", 0, 946684799},
    {"9110 5.6.7: 00", "Saturday, 01-Jan-00 00:00:00 GMT", 0, 946684800},
};

START_TEST(parse)
{
    int64_t time = 0;
    struct http_text text = http_text_of(parse_rows[_i].text);
    int result = http_date_parse(text, NOW, &time);
    ck_assert_msg(result == parse_rows[_i].result && time == parse_rows[_i].time,
                  "RFC %s: \"%s\" gave %d, %lld", parse_rows[_i].rfc, parse_rows[_i].text, result,
                  (long long)time);
    if (result != 0)
        return;
    /* Each proper prefix of a date is none. */
    for (size_t length = 0; length < text.length; length++)
        ck_assert_int_eq(http_date_parse((struct http_text){text.data, length}, NOW, &time),
                         -EINVAL);
}
END_TEST

START_TEST(century)
{
    int64_t time;
    /* In 2099, 01 is two years ahead, not 98 years ago. */
    ck_assert_int_eq(
        http_date_parse(HTTP_TEXT("Saturday, 01-Jan-01 00:00:00 GMT"), 4070908800, &time), 0);
    ck_assert_int_eq(time, INT64_C(4133980800));
}
END_TEST

static const struct {
    const char *rfc;
    int64_t time;
    const char *text; /* NULL: cannot be expressed */
} format_rows[] = {
    {"9110 5.6.7", 784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
    {"9110 5.6.7: @-1", -1, "Wed, 31 Dec 1969 23:59:59 GMT"},
    {"9110 5.6.7", INT64_C(-62167219200), "Sat, 01 Jan 0000 00:00:00 GMT"},
    {"9110 5.6.7", INT64_C(-62167219201), NULL},
    {"9110 5.6.7", INT64_C(253402300799), "Fri, 31 Dec 9999 23:59:59 GMT"},
    {"9110 5.6.7: year 10000", INT64_C(253402300800), NULL},
    {"9110 5.6.7", INT64_MAX, NULL},
    {"9110 5.6.7", INT64_MIN, NULL},
};

START_TEST(format)
{
    char out[HTTP_DATE_LENGTH];
    int result = http_date_format(format_rows[_i].time, out);
    ck_assert_int_eq(result, format_rows[_i].text != NULL ? 0 : -ERANGE);
    if (result == 0)
        ck_text_eq(((struct http_text){out, sizeof(out)}), format_rows[_i].text);
}
END_TEST

/* Every 12,345 seconds of some thousand years, and each is read back. */
START_TEST(like_the_c_library)
{
    for (int64_t time = INT64_C(-20000000000); time < INT64_C(20000000000); time += 12345 * 401) {
        char expected[64], out[HTTP_DATE_LENGTH];
        time_t seconds = (time_t)time;
        struct tm tm;
        int64_t back;
        gmtime_r(&seconds, &tm);
        strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        ck_assert_int_eq(http_date_format(time, out), 0);
        ck_text_eq(((struct http_text){out, sizeof(out)}), expected);
        ck_assert_int_eq(http_date_parse((struct http_text){out, sizeof(out)}, NOW, &back), 0);
        ck_assert_int_eq(back, time);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("date");
    tcase_add_loop_test(tcase, parse, 0, ROW_COUNT(parse_rows));
    tcase_add_test(tcase, century);
    tcase_add_loop_test(tcase, format, 0, ROW_COUNT(format_rows));
    tcase_add_test(tcase, like_the_c_library);
    return run_suite("date", tcase);
}
