/* SPDX-License-Identifier: MIT */
/* Validators: tags that change with the bytes, dates that make sense (RFC 9110 8.8). */
#include "files_fixture.h"

#include "files/validator.h"

static const struct evix_time now = {1790000000, 500000000};

static struct evix_stat stat_of(uint64_t size, int64_t modified, uint32_t ns)
{
    return (struct evix_stat){
        .size = size,
        .inode = 77,
        .modified = {modified, ns},
        .changed = {1780000000, 5},
    };
}

static uint64_t sample = 0x55;

static void tag_of(char out[VALIDATOR_ETAG_BYTES], struct evix_stat stat, const char *bytes)
{
    size_t length = validator_etag(out, &stat, bytes, sample, now);

    ck_assert_uint_eq(length, strlen(out));
    ck_assert_uint_lt(length, VALIDATOR_ETAG_BYTES);
    /* RFC 9110 8.8.3: strong, and no quote or control inside */
    ck_assert_int_eq(out[0], '"');
    ck_assert_int_eq(out[length - 1], '"');
    for (size_t i = 1; i + 1 < length; i++)
        ck_assert(out[i] > ' ' && out[i] != '"' && out[i] < 0x7f);
}

/* The content decides; time and inode do not: the same on two hosts. */
START_TEST(content)
{
    char one[VALIDATOR_ETAG_BYTES], two[VALIDATOR_ETAG_BYTES];
    struct evix_stat stat = stat_of(5, 1, 0), other = stat_of(5, 1789999999, 7);

    other.inode = 99;
    tag_of(one, stat, "hello");
    tag_of(two, other, "hello");
    ck_assert_str_eq(one, two);
    tag_of(two, stat, "hellp");
    ck_assert_str_ne(one, two);
    tag_of(two, stat_of(4, 1, 0), "hell");
    ck_assert_str_ne(one, two);
    tag_of(one, stat_of(0, 1, 0), "");
    tag_of(two, stat_of(1, 1, 0), "\0");
    ck_assert_str_ne(one, two);
}
END_TEST

/* Part of what clients store: it must not change from one release or machine to the next. */
START_TEST(content_is_fixed)
{
    char tag[VALIDATOR_ETAG_BYTES], again[VALIDATOR_ETAG_BYTES];

    tag_of(tag, stat_of(5, 1, 0), "hello");
    tag_of(again, stat_of(5, 1, 0), "hello");
    ck_assert_str_eq(tag, again);
    ck_assert_str_eq(tag, "\"5-893e39440256caa1\"");
}
END_TEST

START_TEST(large)
{
    char one[VALIDATOR_ETAG_BYTES], two[VALIDATOR_ETAG_BYTES];
    struct evix_stat stat = stat_of(0x1000, 0x52345678, 0xabc), other = stat;

    tag_of(one, stat, NULL);
    ck_assert_str_eq(one, "\"1000-52345678.abc-55\"");
    other.inode = 1;
    other.changed.seconds = 1;
    tag_of(two, other, NULL);
    ck_assert_str_eq(one, two);
    other = stat;
    other.modified.nanoseconds++;
    tag_of(two, other, NULL);
    ck_assert_str_ne(one, two);
    other = stat;
    other.size++;
    tag_of(two, other, NULL);
    ck_assert_str_ne(one, two);
    sample++;
    tag_of(two, stat, NULL);
    ck_assert_str_ne(one, two);
}
END_TEST

/* Where the time says nothing, inode and change time do. */
START_TEST(meaningless_time)
{
    const int64_t times[] = {0,
                             1,
                             -5,
                             315532800, /* 1980, of zip */
                             318211200, /* 1980-02-01, of Gradle */
                             499162500, /* 1985, of npm */
                             946684800, /* 2000, of Bazel */
                             INT64_C(1789999999),
                             INT64_C(1790000001),
                             INT64_C(1890000000),
                             INT64_C(253402300800)};
    char one[VALIDATOR_ETAG_BYTES], two[VALIDATOR_ETAG_BYTES];
    struct evix_stat stat = stat_of(100, times[_i], 0), other = stat;

    tag_of(one, stat, NULL);
    other.inode++;
    tag_of(two, other, NULL);
    ck_assert_str_ne(one, two);
    other = stat;
    other.changed.nanoseconds++;
    tag_of(two, other, NULL);
    ck_assert_str_ne(one, two);
}
END_TEST

/* Parts that stand apart: 1 and 23 is not 12 and 3. */
START_TEST(parts)
{
    char one[VALIDATOR_ETAG_BYTES], two[VALIDATOR_ETAG_BYTES];

    tag_of(one, stat_of(0x1, 0x23, 0x4), NULL);
    tag_of(two, stat_of(0x12, 0x3, 0x4), NULL);
    ck_assert_str_ne(one, two);
    sample = UINT64_MAX;
    tag_of(one, stat_of(UINT64_MAX, INT64_MIN, 999999999), NULL);
}
END_TEST

/* */
START_TEST(last_modified)
{
    static const struct {
        int64_t modified, expected;
    } rows[] = {
        {1700000000, 1700000000},
        {499162501, 499162501},
        {499162500, -1},
        {315532800, -1},
        {946684799, 946684799},
        {946684800, -1},
        {946684801, 946684801},
        {1, -1},
        {0, -1},
        {-1, -1},
        {INT64_MIN, -1},
        {1790000000, 1790000000},
        {1790000001, -1}, /* in the future */
        {INT64_C(253402300799), -1},
        {INT64_C(253402300800), -1},
        {INT64_MAX, -1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct evix_stat stat = stat_of(1, rows[i].modified, 0);

        ck_assert_int_eq(validator_last_modified(&stat, now), rows[i].expected);
    }
}
END_TEST

START_TEST(racy)
{
    struct evix_stat stat = stat_of(1, 1700000000, 3);

    stat.changed = now;
    ck_assert(validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){1790000000, 470000001};
    ck_assert(!validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){1790000000, 499000001};
    ck_assert(validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){1790000001, 1}; /* a clock that was set back */
    ck_assert(validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){1789999999, 0}; /* whole seconds: who knows how rough */
    ck_assert(validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){1789999997, 0};
    ck_assert(!validator_is_racy(&stat, now));
    stat.changed = (struct evix_time){INT64_MIN, 0};
    ck_assert(!validator_is_racy(&stat, now));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("validator");

    tcase_add_test(tcase, content);
    tcase_add_test(tcase, content_is_fixed);
    tcase_add_test(tcase, large);
    tcase_add_loop_test(tcase, meaningless_time, 0, 11);
    tcase_add_test(tcase, parts);
    tcase_add_test(tcase, last_modified);
    tcase_add_test(tcase, racy);
    return files_run("validator", tcase);
}
