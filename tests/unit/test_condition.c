/* SPDX-License-Identifier: MIT */
/* Entity tags, preconditions in their order, If-Range. */
#include "http_rows.h"
#include "http/condition.h"

#include <errno.h>

#define NOW      INT64_C(1790000000)
#define MODIFIED INT64_C(784111777)
#define DATE     "Sun, 06 Nov 1994 08:49:37 GMT" /* MODIFIED */
#define EARLIER  "Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER    "Sun, 06 Nov 1994 08:49:38 GMT"

static const struct {
    const char *rfc;
    const char *text;
    int result;
    bool is_weak;
} tag_rows[] = {
    {"9110 8.8.3", "\"xyzzy\"", 0, false},
    {"9110 8.8.3", "W/\"xyzzy\"", 0, true},
    {"9110 8.8.3: empty", "\"\"", 0, false},
    {"9110 8.8.3: comma and backslash are etagc", "\"a,b\\\"", 0, false},
    {"9110 8.8.3: above 0x7F", "\"\xff\"", 0, false},
    {"9110 8.8.3: space is not", "\"a b\"", -EINVAL, false},
    {"9110 8.8.3: control bytes are not", "\"a\tb\"", -EINVAL, false},
    {"9110 8.8.3: W by case", "w/\"a\"", -EINVAL, false},
    {"9110 8.8.3: no quotes", "xyzzy", -EINVAL, false},
    {"9110 8.8.3: one quote", "\"", -EINVAL, false},
    {"9110 8.8.3: left open", "\"a", -EINVAL, false},
    {"9110 8.8.3: two", "\"a\", \"b\"", -EINVAL, false},
    {"9110 8.8.3: W alone", "W/", -EINVAL, false},
    {"9110 8.8.3: nothing", "", -EINVAL, false},
    {"9110 8.8.3: a star is no tag", "*", -EINVAL, false},
};

START_TEST(tags)
{
    struct http_etag tag;
    int result = http_etag_parse(http_text_of(tag_rows[_i].text), &tag);
    ck_assert_msg(result == tag_rows[_i].result, "RFC %s: %s", tag_rows[_i].rfc, tag_rows[_i].text);
    if (result == 0)
        ck_assert(tag.is_weak == tag_rows[_i].is_weak);
}
END_TEST

/* The table of RFC 9110 8.8.3.2. */
static const struct {
    const char *a, *b;
    bool strong, weak;
} compare_rows[] = {
    {"W/\"1\"", "W/\"1\"", false, true}, {"W/\"1\"", "W/\"2\"", false, false},
    {"W/\"1\"", "\"1\"", false, true},   {"\"1\"", "\"1\"", true, true},
    {"\"1\"", "\"11\"", false, false},   {"\"a\"", "\"A\"", false, false},
};

START_TEST(compare)
{
    struct http_etag a, b;
    ck_assert_int_eq(http_etag_parse(http_text_of(compare_rows[_i].a), &a), 0);
    ck_assert_int_eq(http_etag_parse(http_text_of(compare_rows[_i].b), &b), 0);
    ck_assert(http_etag_equal_strong(&a, &b) == compare_rows[_i].strong);
    ck_assert(http_etag_equal_weak(&a, &b) == compare_rows[_i].weak);
    ck_assert(http_etag_equal_strong(&b, &a) == compare_rows[_i].strong);
    ck_assert(http_etag_equal_weak(&b, &a) == compare_rows[_i].weak);
}
END_TEST

/* The representation: its tag is "now" unless the row says otherwise, its date MODIFIED. */
static const struct {
    const char *rfc;
    const char *method;
    const char *fields;
    int outcome;
    const char *etag; /* NULL: "now"; "none": no tag; "gone": no representation; "undated" */
} rows[] = {
    {"9110 13.2.2: none", "GET", "", 0, NULL},

    {"9110 13.1.2", "GET", "If-None-Match: \"now\"\r\n", 304, NULL},
    {"9110 13.1.2", "HEAD", "If-None-Match: \"now\"\r\n", 304, NULL},
    {"9110 13.1.2: others fail", "PUT", "If-None-Match: \"now\"\r\n", 412, NULL},
    {"9110 13.1.2: another tag", "GET", "If-None-Match: \"old\"\r\n", 0, NULL},
    {"9110 13.1.2: weak comparison", "GET", "If-None-Match: W/\"now\"\r\n", 304, NULL},
    {"9110 13.1.2: weak comparison", "GET", "If-None-Match: \"now\"\r\n", 304, "W/\"now\""},
    {"9110 13.1.2: list", "GET", "If-None-Match: \"a\", W/\"b\",\"now\"\r\n", 304, NULL},
    {"9110 13.1.2: list with commas inside", "GET", "If-None-Match: \"a,\", \"now\"\r\n", 304,
     NULL},
    {"9110 13.1.2: backslash escapes nothing", "GET", "If-None-Match: \"a\\\", \"now\"\r\n", 304,
     NULL},
    {"9110 5.6.1: empty members", "GET", "If-None-Match: ,, \"now\" ,\r\n", 304, NULL},
    {"9110 5.3: lines", "GET", "If-None-Match: \"a\"\r\nIf-None-Match: \"now\"\r\n", 304, NULL},
    {"9110 13.1.2: star", "GET", "If-None-Match: *\r\n", 304, NULL},
    {"9110 13.1.2: star, no representation", "GET", "If-None-Match: *\r\n", 0, "gone"},
    {"9110 13.1.2: star, no tag", "GET", "If-None-Match: *\r\n", 304, "none"},
    {"9110 13.1.2: star to create", "PUT", "If-None-Match: *\r\n", 412, NULL},
    {"9110 13.1.2: star to create", "PUT", "If-None-Match: *\r\n", 0, "gone"},
    {"9110 13.1.2: star is no member", "GET", "If-None-Match: \"a\", *\r\n", 0, NULL},
    {"9110 13.1.2: no tag", "GET", "If-None-Match: \"now\"\r\n", 0, "none"},
    {"9110 13.1.2: without quotes", "GET", "If-None-Match: now\r\n", 0, NULL},
    {"9110 13.1.2: no comma between", "GET", "If-None-Match: \"a\" \"now\"\r\n", 0, NULL},
    {"9110 13.1.2: empty", "GET", "If-None-Match:\r\n", 0, NULL},

    {"9110 13.1.3", "GET", "If-Modified-Since: " DATE "\r\n", 304, NULL},
    {"9110 13.1.3", "HEAD", "If-Modified-Since: " DATE "\r\n", 304, NULL},
    {"9110 13.1.3: later", "GET", "If-Modified-Since: " LATER "\r\n", 304, NULL},
    {"9110 13.1.3: earlier", "GET", "If-Modified-Since: " EARLIER "\r\n", 0, NULL},
    {"9110 13.1.3: rfc850", "GET", "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n", 304,
     NULL},
    {"9110 13.1.3: asctime", "GET", "If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n", 304, NULL},
    {"9110 13.1.3: not for others", "PUT", "If-Modified-Since: " DATE "\r\n", 0, NULL},
    {"9110 13.1.3: malformed", "GET", "If-Modified-Since: yesterday\r\n", 0, NULL},
    {"9110 13.1.3: two", "GET", "If-Modified-Since: " DATE "\r\nIf-Modified-Since: " DATE "\r\n", 0,
     NULL},
    {"9110 13.1.3: no date here", "GET", "If-Modified-Since: " DATE "\r\n", 0, "undated"},
    {"9110 13.1.3: no representation", "GET", "If-Modified-Since: " DATE "\r\n", 0, "gone"},
    {"9110 13.2.2: the tag decides alone", "GET",
     "If-None-Match: \"old\"\r\nIf-Modified-Since: " DATE "\r\n", 0, NULL},
    {"9110 13.2.2: the tag decides alone", "GET",
     "If-None-Match: \"now\"\r\nIf-Modified-Since: " EARLIER "\r\n", 304, NULL},

    {"9110 13.1.1", "PUT", "If-Match: \"now\"\r\n", 0, NULL},
    {"9110 13.1.1", "GET", "If-Match: \"now\"\r\n", 0, NULL},
    {"9110 13.1.1: another tag", "PUT", "If-Match: \"old\"\r\n", 412, NULL},
    {"9110 13.1.1: another tag", "GET", "If-Match: \"old\"\r\n", 412, NULL},
    {"9110 13.1.1: strong comparison", "GET", "If-Match: W/\"now\"\r\n", 412, NULL},
    {"9110 13.1.1: strong comparison", "GET", "If-Match: \"now\"\r\n", 412, "W/\"now\""},
    {"9110 13.1.1: list", "GET", "If-Match: \"a\", \"now\"\r\n", 0, NULL},
    {"9110 13.1.1: star", "PUT", "If-Match: *\r\n", 0, NULL},
    {"9110 13.1.1: star, no representation", "PUT", "If-Match: *\r\n", 412, "gone"},
    {"9110 13.1.1: malformed", "GET", "If-Match: now\r\n", 412, NULL},

    {"9110 13.1.4", "GET", "If-Unmodified-Since: " DATE "\r\n", 0, NULL},
    {"9110 13.1.4: later", "GET", "If-Unmodified-Since: " LATER "\r\n", 0, NULL},
    {"9110 13.1.4: earlier", "GET", "If-Unmodified-Since: " EARLIER "\r\n", 412, NULL},
    {"9110 13.1.4: for others too", "PUT", "If-Unmodified-Since: " EARLIER "\r\n", 412, NULL},
    {"9110 13.1.4: malformed", "GET", "If-Unmodified-Since: 1994\r\n", 0, NULL},
    {"9110 13.1.4: no date here", "GET", "If-Unmodified-Since: " EARLIER "\r\n", 0, "undated"},
    {"9110 13.2.2: the tag decides alone", "GET",
     "If-Match: \"now\"\r\nIf-Unmodified-Since: " EARLIER "\r\n", 0, NULL},
    {"9110 13.2.2: first step first", "GET", "If-Match: \"old\"\r\nIf-None-Match: \"now\"\r\n", 412,
     NULL},
    {"9110 13.2.2: then the third", "GET", "If-Match: \"now\"\r\nIf-None-Match: \"now\"\r\n", 304,
     NULL},
    {"9110 13.2.2: second, then fourth", "GET",
     "If-Unmodified-Since: " DATE "\r\nIf-Modified-Since: " DATE "\r\n", 304, NULL},
};

static struct http_validators *representation(const char *etag, struct http_validators *memory)
{
    *memory = (struct http_validators){HTTP_TEXT("\"now\""), true, MODIFIED};
    if (etag == NULL)
        return memory;
    if (strcmp(etag, "gone") == 0)
        return NULL;
    if (strcmp(etag, "undated") == 0)
        memory->has_modified = false;
    else if (strcmp(etag, "none") == 0)
        memory->etag = (struct http_text){NULL, 0};
    else
        memory->etag = http_text_of(etag);
    return memory;
}

START_TEST(preconditions)
{
    struct parsed parsed;
    struct http_validators memory;
    parse_fields(&parsed, rows[_i].method, rows[_i].fields);
    int outcome =
        http_condition_evaluate(&parsed.request, representation(rows[_i].etag, &memory), NOW);
    ck_assert_msg(outcome == rows[_i].outcome, "RFC %s: %s gave %d", rows[_i].rfc, rows[_i].fields,
                  outcome);
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *fields;
    bool allows;
    const char *etag;
    int64_t now;
} range_rows[] = {
    {"9110 13.1.5: none", "", true, NULL, NOW},
    {"9110 13.1.5", "If-Range: \"now\"\r\n", true, NULL, NOW},
    {"9110 13.1.5: another", "If-Range: \"old\"\r\n", false, NULL, NOW},
    {"9110 13.1.5: weak", "If-Range: W/\"now\"\r\n", false, NULL, NOW},
    {"9110 13.1.5: weak here", "If-Range: \"now\"\r\n", false, "W/\"now\"", NOW},
    {"9110 13.1.5: both weak", "If-Range: W/\"now\"\r\n", false, "W/\"now\"", NOW},
    {"9110 13.1.5: no tag here", "If-Range: \"now\"\r\n", false, "none", NOW},
    {"9110 13.1.5: a list is none", "If-Range: \"a\", \"now\"\r\n", false, NULL, NOW},
    {"9110 13.1.5: a star is none", "If-Range: *\r\n", false, NULL, NOW},
    {"9110 13.1.5: date", "If-Range: " DATE "\r\n", true, NULL, NOW},
    {"9110 13.1.5: later date", "If-Range: " LATER "\r\n", false, NULL, NOW},
    {"9110 13.1.5: earlier date", "If-Range: " EARLIER "\r\n", false, NULL, NOW},
    {"9110 8.8.2.2: date of this very second", "If-Range: " DATE "\r\n", false, NULL, MODIFIED},
    {"9110 8.8.2.2: of the last second", "If-Range: " DATE "\r\n", true, NULL, MODIFIED + 1},
    {"9110 13.1.5: no date here", "If-Range: " DATE "\r\n", false, "undated", NOW},
    {"9110 13.1.5: malformed", "If-Range: now\r\n", false, NULL, NOW},
    {"9110 13.1.5: empty", "If-Range:\r\n", false, NULL, NOW},
    {"9110 13.1.5: two", "If-Range: \"now\"\r\nIf-Range: \"now\"\r\n", false, NULL, NOW},
    {"9110 13.1.5: no representation", "If-Range: \"now\"\r\n", false, "gone", NOW},
};

START_TEST(if_range)
{
    struct parsed parsed;
    struct http_validators memory;
    parse_fields(&parsed, "GET", range_rows[_i].fields);
    ck_assert_msg(http_condition_allows_range(&parsed.request,
                                              representation(range_rows[_i].etag, &memory),
                                              range_rows[_i].now) == range_rows[_i].allows,
                  "RFC %s: %s", range_rows[_i].rfc, range_rows[_i].fields);
    free(parsed.head);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("condition");
    tcase_add_loop_test(tcase, tags, 0, ROW_COUNT(tag_rows));
    tcase_add_loop_test(tcase, compare, 0, ROW_COUNT(compare_rows));
    tcase_add_loop_test(tcase, preconditions, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, if_range, 0, ROW_COUNT(range_rows));
    return run_suite("condition", tcase);
}
