/* SPDX-License-Identifier: MIT */
/* Range fields, joining, Content-Range. */
#include "http_rows.h"
#include "http/range.h"

#include <inttypes.h>

enum { NONE = HTTP_RANGE_NONE, SOME = HTTP_RANGE_SATISFIABLE, NOT = HTTP_RANGE_UNSATISFIABLE };

static const struct {
    const char *rfc;
    const char *value;
    uint64_t size;
    int outcome;
    const char *ranges; /* as Range would have them, in full */
} rows[] = {
    {"9110 14.1.2", "bytes=0-499", 1000, SOME, "0-499"},
    {"9110 14.1.2: open", "bytes=500-", 1000, SOME, "500-999"},
    {"9110 14.1.2: suffix", "bytes=-500", 1000, SOME, "500-999"},
    {"9110 14.1.2: one byte from 0", "bytes=0-0", 1000, SOME, "0-0"},
    {"9110 14.1.2: from 0", "bytes=0-4", 1000, SOME, "0-4"},
    {"9110 14.1.2: the last byte", "bytes=999-", 1000, SOME, "999-999"},
    {"9110 14.1.2: suffix of one", "bytes=-1", 1000, SOME, "999-999"},
    {"9110 14.1.2: end beyond", "bytes=50-99999", 1000, SOME, "50-999"},
    {"9110 14.1.2: suffix too long", "bytes=-99999", 1000, SOME, "0-999"},
    {"9110 15.5.17: start at the end", "bytes=1000-", 1000, NOT, ""},
    {"9110 15.5.17: start at the end", "bytes=1000-2000", 1000, NOT, ""},
    {"9110 14.1.2: empty suffix", "bytes=-0", 1000, NOT, ""},
    {"9110 14.1: unit in any case", "BYTES=0-4", 1000, SOME, "0-4"},
    {"9110 14.1.1: list", "bytes=0-0,-1", 1000, SOME, "0-0,999-999"},
    {"9110 14.1.1: two", "bytes=10-15,17-30", 1000, SOME, "10-15,17-30"},
    {"9110 14.1.1: order kept", "bytes=500-600,0-4", 1000, SOME, "500-600,0-4"},
    {"9110 5.6.1: white space and empty members", "bytes= , 0-4 ,,\t6-7 ,", 1000, SOME, "0-4,6-7"},
    {"9110 14.2: some unsatisfiable", "bytes=2000-,0-4,-0", 1000, SOME, "0-4"},
    {"9110 15.5.17: all unsatisfiable", "bytes=2000-,3000-4000", 1000, NOT, ""},
    {"9110 14.2: another unit", "items=0-5", 1000, NONE, ""},
    {"9110 14.2: colon", "bytes: 0-22", 1000, NONE, ""},
    {"9110 14.2: no numbers", "bytes=abc", 1000, NONE, ""},
    {"9110 14.1.1: last before first", "bytes=5-2", 1000, NONE, ""},
    {"9110 14.2: empty set", "bytes=", 1000, NONE, ""},
    {"9110 14.2: a dash", "bytes=-", 1000, NONE, ""},
    {"9110 14.2: commas only", "bytes=,,", 1000, NONE, ""},
    {"9110 14.2: no set", "bytes", 1000, NONE, ""},
    {"9110 14.2: empty", "", 1000, NONE, ""},
    {"9110 14.2: space before =", "bytes =0-4", 1000, NONE, ""},
    {"9110 14.2: one malformed spoils all", "bytes=0-4,x", 1000, NONE, ""},
    {"9110 14.2: malformed behind unsatisfiable", "bytes=2000-,5-2", 1000, NONE, ""},
    {"9110 14.1.2: a sign", "bytes=+0-4", 1000, NONE, ""},
    {"9110 14.1.2: hexadecimal", "bytes=0x0-4", 1000, NONE, ""},
    {"9110 14.1.2: two dashes", "bytes=0--4", 1000, NONE, ""},
    {"9110 14.1.2: two dashes", "bytes=--4", 1000, NONE, ""},
    {"9110 14.1.2: inner space", "bytes=0 - 4", 1000, NONE, ""},
    {"9110 14.1.2: three parts", "bytes=0-1-2", 1000, NONE, ""},
    {"9110 14.1.2: leading zeros", "bytes=0000-0004", 1000, SOME, "0-4"},
    {"9110 14.1.2: nothing to start at", "bytes=0-", 0, NOT, ""},
    {"9110 14.1.2: nothing to start at", "bytes=0-0", 0, NOT, ""},
    {"9110 14.1.2: suffix of nothing", "bytes=-5", 0, NONE, ""},
    {"9110 14.1.2: suffix of nothing among others", "bytes=0-4,-5", 0, NONE, ""},
    {"9110 14.1.2: empty suffix of nothing", "bytes=-0", 0, NOT, ""},
    {"9110 14.1.2: one byte", "bytes=0-", 1, SOME, "0-0"},
    {"9110 14.1.2: above 4 GiB", "bytes=8796093022000-8796093022207", 8796093022208, SOME,
     "8796093022000-8796093022207"},
    {"9110 14.1.2: 64 bits", "bytes=0-18446744073709551615", UINT64_MAX, SOME,
     "0-18446744073709551614"},
    {"9110 14.1.2: beyond 64 bits", "bytes=0-99999999999999999999", 1000, SOME, "0-999"},
    {"9110 14.1.2: beyond 64 bits", "bytes=99999999999999999999-", 1000, NOT, ""},
    {"9110 14.1.2: beyond 64 bits", "bytes=-99999999999999999999", 1000, SOME, "0-999"},
    {"9110 14.1.2: wraps to 0", "bytes=18446744073709551616-", 1000, NOT, ""},
    {"9110 14.2: as many as there is room for", "bytes=0-0,2-2,4-4,6-6", 1000, SOME,
     "0-0,2-2,4-4,6-6"},
    {"9110 14.2: more than that", "bytes=0-0,2-2,4-4,6-6,8-8", 1000, NONE, ""},
    {"9110 14.2: unsatisfiable ones do not count", "bytes=0-0,2-2,4-4,6-6,1000-", 1000, SOME,
     "0-0,2-2,4-4,6-6"},
};

static void join(char *out, size_t capacity, const struct http_range *ranges, unsigned count)
{
    size_t length = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(out + length, capacity - length, "%s%" PRIu64 "-%" PRIu64,
                                   i > 0 ? "," : "", ranges[i].first, ranges[i].last);
}

START_TEST(parse)
{
    struct http_range ranges[4];
    unsigned count = 77;
    char joined[256];
    int outcome = http_range_parse(http_text_of(rows[_i].value), rows[_i].size, ranges, 4, &count);
    join(joined, sizeof(joined), ranges, count);
    ck_assert_msg(outcome == rows[_i].outcome && strcmp(joined, rows[_i].ranges) == 0,
                  "RFC %s: \"%s\" gave %d, \"%s\"", rows[_i].rfc, rows[_i].value, outcome, joined);
}
END_TEST

static const struct {
    const char *rfc;
    const char *value;
    uint64_t gap;
    const char *ranges;
} coalesce_rows[] = {
    {"9110 15.3.7.2: apart", "bytes=10-15,17-30", 0, "10-15,17-30"},
    {"9110 15.3.7.2: apart, order kept", "bytes=17-30,10-15", 0, "17-30,10-15"},
    {"9110 15.3.7.2: the same twice", "bytes=0-99,0-99", 0, "0-99"},
    {"9110 15.3.7.2: overlap", "bytes=0-50,40-99", 0, "0-99"},
    {"9110 15.3.7.2: within", "bytes=0-99,10-20", 0, "0-99"},
    {"9110 15.3.7.2: within, the other way", "bytes=10-20,0-99", 0, "0-99"},
    {"9110 15.3.7.2: adjacent, no gap allowed", "bytes=0-4,5-9", 0, "0-4,5-9"},
    {"9110 15.3.7.2: adjacent", "bytes=0-4,5-9", 1, "0-9"},
    {"9110 15.3.7.2: a gap of 10 in 10", "bytes=0-4,15-19", 10, "0-4,15-19"},
    {"9110 15.3.7.2: a gap of 10 in 11", "bytes=0-4,15-19", 11, "0-19"},
    {"9110 15.3.7.2: chain", "bytes=6-9,0-3,3-6,50-60", 0, "0-9,50-60"},
    {"9110 15.3.7.2: joined ones stand where the first stood", "bytes=50-60,6-9,90-,0-7", 0,
     "50-60,0-9,90-999"},
    {"9110 15.3.7.2: backwards", "bytes=90-,50-60,30-40,0-7", 0, "90-999,50-60,30-40,0-7"},
    {"9110 15.3.7.2: the first asked for is the last", "bytes=-1,0-0", 0, "999-999,0-0"},
    {"9110 15.3.7.2: all of it among others", "bytes=5-6,0-,9-10", 0, "0-999"},
};

START_TEST(coalesce)
{
    struct http_range ranges[4];
    unsigned count;
    char joined[256];
    ck_assert_int_eq(
        http_range_parse(http_text_of(coalesce_rows[_i].value), 1000, ranges, 4, &count), SOME);
    join(joined, sizeof(joined), ranges, http_range_coalesce(ranges, count, coalesce_rows[_i].gap));
    ck_assert_msg(strcmp(joined, coalesce_rows[_i].ranges) == 0, "RFC %s: \"%s\" became \"%s\"",
                  coalesce_rows[_i].rfc, coalesce_rows[_i].value, joined);
}
END_TEST

START_TEST(coalesce_at_the_borders)
{
    struct http_range ranges[2] = {{.first = 0, .last = UINT64_MAX - 1},
                                   {.first = UINT64_MAX, .last = UINT64_MAX}};
    ck_assert_uint_eq(http_range_coalesce(ranges, 2, 0), 2);
    ck_assert_uint_eq(http_range_coalesce(ranges, 2, UINT64_MAX), 1);
    ck_assert_uint_eq(ranges[0].last, UINT64_MAX);
    ck_assert_uint_eq(http_range_coalesce(ranges, 0, 0), 0);
}
END_TEST

static const struct {
    const char *rfc;
    struct http_range range;
    uint64_t size;
    const char *value;
} content_rows[] = {
    {"9110 14.4", {.first = 0, .last = 4}, 1000, "bytes 0-4/1000"},
    {"9110 14.4", {.first = 50, .last = 999}, 1000, "bytes 50-999/1000"},
    {"9110 14.4: 19 digits",
     {.first = 9223372036854775805, .last = 9223372036854775806},
     9223372036854775807,
     "bytes 9223372036854775805-9223372036854775806/9223372036854775807"},
    {"9110 14.4: 20 digits",
     {.first = UINT64_MAX - 2, .last = UINT64_MAX - 1},
     UINT64_MAX,
     "bytes 18446744073709551613-18446744073709551614/18446744073709551615"},
};

START_TEST(content_range)
{
    char out[HTTP_CONTENT_RANGE_BYTES];
    size_t length = http_content_range(out, &content_rows[_i].range, content_rows[_i].size);
    ck_text_eq(((struct http_text){out, length}), content_rows[_i].value);
}
END_TEST

START_TEST(content_range_unsatisfied)
{
    char out[HTTP_CONTENT_RANGE_BYTES];
    size_t length = http_content_range_unsatisfied(out, 1000); /* RFC 9110 14.4 */
    ck_text_eq(((struct http_text){out, length}), "bytes */1000");
    length = http_content_range_unsatisfied(out, 0);
    ck_text_eq(((struct http_text){out, length}), "bytes */0");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("range");
    tcase_add_loop_test(tcase, parse, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, coalesce, 0, ROW_COUNT(coalesce_rows));
    tcase_add_test(tcase, coalesce_at_the_borders);
    tcase_add_loop_test(tcase, content_range, 0, ROW_COUNT(content_rows));
    tcase_add_test(tcase, content_range_unsatisfied);
    return run_suite("range", tcase);
}
