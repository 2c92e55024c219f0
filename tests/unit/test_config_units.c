/* SPDX-License-Identifier: MIT */
/*
 * Tests config/units.c, address.c and suggest.c: what people write, read and written back.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/address.h"
#include "config/suggest.h"
#include "config/units.h"

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

struct row {
    const char *text;
    int result;
    uint64_t value;
};

static void check_row(const struct row *row, int (*parse)(const char *, uint64_t *))
{
    uint64_t value = 4711;
    int result = parse(row->text, &value);

    ck_assert_msg(result == row->result, "\"%s\" gave %d, not %d", row->text, result, row->result);
    ck_assert_msg(value == (result == 0 ? row->value : 4711), "\"%s\" is %llu, not %llu", row->text,
                  (unsigned long long)value, (unsigned long long)row->value);
}

static const struct row sizes[] = {
    {"0", 0, 0},
    {"1", 0, 1},
    {"64K", 0, 65536},
    {"64k", 0, 65536},
    {"16M", 0, 16 << 20},
    {"1G", 0, 1 << 30},
    {"1T", 0, UINT64_C(1) << 40},
    {"0K", 0, 0},
    {"007", 0, 7},
    {"18446744073709551615", 0, UINT64_MAX},
    {"18446744073709551616", -ERANGE, 0},
    {"16777216T", -ERANGE, 0},
    {"16777215T", 0, UINT64_C(16777215) << 40},
    {"99999999999999999999999999K", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"K", -EINVAL, 0},
    {" 1K", -EINVAL, 0},
    {"1 K", -EINVAL, 0},
    {"1K ", -EINVAL, 0},
    {"1KB", -EINVAL, 0},
    {"1.5K", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"99999999999999999999999999X", -EINVAL, 0},
};

START_TEST(test_sizes)
{
    check_row(&sizes[_i], units_parse_size);
}
END_TEST

static const struct row times[] = {
    {"0", 0, 0},
    {"15", 0, 15000},
    {"500ms", 0, 500},
    {"30s", 0, 30000},
    {"5m", 0, 300000},
    {"1h", 0, 3600000},
    {"1.5s", 0, 1500},
    {"0.5", 0, 500},
    {"1.25h", 0, 4500000},
    {"0.001s", 0, 1},
    {"2.0004s", 0, 2000},
    {"2.0005s", 0, 2001},
    {"0.0001s", -ERANGE, 0}, /* 0 would switch it off */
    {"0.9ms", -ERANGE, 0},
    {"0.0s", 0, 0},
    {"18446744073709551615ms", 0, UINT64_MAX},
    {"18446744073709551615s", -ERANGE, 0},
    {"18446744073709551615.9ms", -ERANGE, 0},
    {"99999999999999999999h", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"s", -EINVAL, 0},
    {".5s", -EINVAL, 0},
    {"1.s", -EINVAL, 0},
    {"1.5.5s", -EINVAL, 0},
    {"1d", -EINVAL, 0},
    {"1S", -EINVAL, 0},
    {"1M", -EINVAL, 0},
    {"1 s", -EINVAL, 0},
    {"-1s", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"nan", -EINVAL, 0},
};

START_TEST(test_times)
{
    check_row(&times[_i], units_parse_time);
}
END_TEST

static const struct row modes[] = {
    {"0660", 0, 0660},
    {"660", 0, 0660},
    {"0", 0, 0},
    {"0777", 0, 0777},
    {"1777", -ERANGE, 0},
    {"0668", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"rw", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"0o660", -EINVAL, 0},
    {"777777777777777777777777", -ERANGE, 0},
};

START_TEST(test_modes)
{
    check_row(&modes[_i], units_parse_mode);
}
END_TEST

static const struct row integers[] = {
    {"0", 0, 0},        {"10000", 0, 10000}, {"18446744073709551615", 0, UINT64_MAX},
    {"", -EINVAL, 0},   {"1K", -EINVAL, 0},  {"18446744073709551616", -ERANGE, 0},
    {"-1", -EINVAL, 0},
};

START_TEST(test_integers)
{
    check_row(&integers[_i], units_parse_integer);
}
END_TEST

START_TEST(test_seconds)
{
    static const struct {
        double seconds;
        int result;
        uint64_t ms;
    } rows[] = {
        {0, 0, 0},           {1.5, 0, 1500},         {0.001, 0, 1},
        {0.0015, 0, 2},      {-1, -ERANGE, 0},       {0.0001, -ERANGE, 0},
        {1e300, -ERANGE, 0}, {INFINITY, -ERANGE, 0}, {-INFINITY, -ERANGE, 0},
        {NAN, -EINVAL, 0},
    };

    for (int i = 0; i < ROWS(rows); i++) {
        uint64_t ms = 0;

        ck_assert_int_eq(units_seconds_to_ms(rows[i].seconds, &ms), rows[i].result);
        ck_assert_uint_eq(ms, rows[i].ms);
    }
}
END_TEST

START_TEST(test_formats_read_back)
{
    static const uint64_t values[] = {0,    1,       999,     1000,       1023,    1024,
                                      1500, 60000,   65536,   90000,      3600000, 86400000,
                                      1536, 1 << 20, 1 << 30, UINT64_MAX, 3600001};
    char text[UNITS_TEXT_BYTES];

    for (int i = 0; i < ROWS(values); i++) {
        uint64_t back;

        ck_assert_int_eq(units_parse_size(units_format_size(values[i], text), &back), 0);
        ck_assert_uint_eq(back, values[i]);
        ck_assert_int_eq(units_parse_time(units_format_time(values[i], text), &back), 0);
        ck_assert_uint_eq(back, values[i]);
    }
    ck_assert_str_eq(units_format_size(65536, text), "64K");
    ck_assert_str_eq(units_format_size(1536, text), "1536");
    ck_assert_str_eq(units_format_time(65000, text), "65s");
    ck_assert_str_eq(units_format_time(90500, text), "90500ms");
    ck_assert_str_eq(units_format_time(0, text), "0s");
}
END_TEST

/* What was written; what address_format() makes of it, or NULL with the error; whether no host was
 * given. */
static const struct {
    const char *text, *canonical;
    int result;
    bool wildcard;
} addresses[] = {
    {"127.0.0.1:8080", "127.0.0.1:8080", 0, false},
    {"0.0.0.0:80", "0.0.0.0:80", 0, false},
    {"localhost:80", "127.0.0.1:80", 0, false},
    {"[::1]:80", "[::1]:80", 0, false},
    {"[::]:0", "[::]:0", 0, false},
    {"[2001:DB8:0:0:0:0:0:1]:443", "[2001:db8::1]:443", 0, false},
    {"[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.1]:1", 0, false},
    {"[fe80::1%lo]:80", "[fe80::1%lo]:80", 0, false},
    {":80", "[::]:80", 0, true},
    {"*:80", "[::]:80", 0, true},
    {"80", "[::]:80", 0, true},
    {"0", "[::]:0", 0, true},
    {"65535", "[::]:65535", 0, true},
    {"unix:/run/evixd.sock", "unix:/run/evixd.sock", 0, false},
    {"unix:a:80", "unix:a:80", 0, false},
    {"65536", NULL, -ERANGE, false},
    {"127.0.0.1:99999999999999999999", NULL, -ERANGE, false},
    {"", NULL, -EINVAL, false},
    {":", NULL, -EINVAL, false},
    {"unix:", NULL, -EINVAL, false},
    {"127.0.0.1", NULL, -EINVAL, false},
    {"127.0.0.1:", NULL, -EINVAL, false},
    {"127.0.0.1:http", NULL, -EINVAL, false},
    {"127.0.0.1:-1", NULL, -EINVAL, false},
    {"127.0.0.1: 80", NULL, -EINVAL, false},
    {"127.1:80", NULL, -EINVAL, false},
    {"256.0.0.1:80", NULL, -EINVAL, false},
    {"::1:80", NULL, -EINVAL, false},
    {"[]:80", NULL, -EINVAL, false},
    {"[127.0.0.1]:80", NULL, -EINVAL, false},
    {"[::1:80", NULL, -EINVAL, false},
    {"[:80", NULL, -EINVAL, false},
    {"[::1]80", NULL, -EINVAL, false},
    {"example.org:80", NULL, -EINVAL, false},
    {"http://127.0.0.1:80", NULL, -EINVAL, false},
};

START_TEST(test_addresses)
{
    struct sockaddr_storage address, again;
    socklen_t length = 0, length_again = 0;
    char text[ADDRESS_TEXT_BYTES];
    bool wildcard, ignored;
    int result = address_parse(addresses[_i].text, &address, &length, &wildcard);

    ck_assert_msg(result == addresses[_i].result, "\"%s\" gave %d", addresses[_i].text, result);
    if (result != 0)
        return;
    ck_assert_int_eq(wildcard, addresses[_i].wildcard);
    ck_assert_int_eq(address_format(&address, text, sizeof(text)), 0);
    ck_assert_str_eq(text, addresses[_i].canonical);
    ck_assert_int_eq(address_parse(text, &again, &length_again, &ignored), 0);
    ck_assert_uint_eq(length, length_again);
    ck_assert_mem_eq(&address, &again, sizeof(address));
}
END_TEST

START_TEST(test_unix_path_has_a_limit)
{
    char text[256] = "unix:", back[ADDRESS_TEXT_BYTES];
    size_t limit = sizeof(((struct sockaddr_un *)0)->sun_path);
    struct sockaddr_storage address;
    socklen_t length;
    bool wildcard;

    memset(text + 5, 'x', limit);
    ck_assert_int_eq(address_parse(text, &address, &length, &wildcard), -ENAMETOOLONG);
    text[5 + limit - 1] = '\0';
    ck_assert_int_eq(address_parse(text, &address, &length, &wildcard), 0);
    ck_assert_int_eq(address_format(&address, back, sizeof(back)), 0);
    ck_assert_str_eq(back, text);
}
END_TEST

START_TEST(test_port_is_in_network_order)
{
    struct sockaddr_storage address;
    struct sockaddr_in v4;
    socklen_t length;
    bool wildcard;

    ck_assert_int_eq(address_parse("192.0.2.1:258", &address, &length, &wildcard), 0);
    memcpy(&v4, &address, sizeof(v4));
    ck_assert_uint_eq(v4.sin_port, htons(258));
    ck_assert_uint_eq(v4.sin_addr.s_addr, htonl(0xC0000201));
    ck_assert_uint_eq(length, sizeof(v4));
    ck_assert_uint_eq(address_port(&address), 258);
    ck_assert_int_eq(address_parse("[::1]:513", &address, &length, &wildcard), 0);
    ck_assert_uint_eq(address_port(&address), 513);
    ck_assert_uint_eq(length, sizeof(struct sockaddr_in6));
    address.ss_family = AF_PACKET;
    ck_assert_int_eq(address_format(&address, (char[8]){0}, 8), -EAFNOSUPPORT);
}
END_TEST

START_TEST(test_distances)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {
        {"", "", 0},
        {"root", "root", 0},
        {"root", "rot", 1},
        {"rot", "root", 1},
        {"root", "boot", 1},
        {"root", "roto", 1},
        {"Root", "root", 0},
        {"abc", "", 3},
        {"", "abc", 3},
        {"listen", "listne", 1},
        {"ab", "ba", 1},
        {"abcd", "wxyz", 4},
        {"keepalive", "keep_alive", 1},
    };
    char longest[66];

    for (int i = 0; i < ROWS(rows); i++)
        ck_assert_msg(suggest_distance(rows[i].a, rows[i].b) == rows[i].distance, "%s to %s is %u",
                      rows[i].a, rows[i].b, suggest_distance(rows[i].a, rows[i].b));
    memset(longest, 'a', 65);
    longest[65] = '\0';
    ck_assert_uint_eq(suggest_distance(longest, "a"), UINT_MAX);
    ck_assert_uint_eq(suggest_distance("a", longest), UINT_MAX);
    ck_assert_uint_eq(suggest_distance(longest + 1, longest + 1), 0);
}
END_TEST

START_TEST(test_suggestions)
{
    static const char *const known[] = {"head", "body", "send", "keep_alive", "on", "linger"};
    static const struct {
        const char *name, *nearest;
    } rows[] = {
        {"haed", "head"},
        {"keepalive", "keep_alive"},
        {"KEEP_ALIVE", "keep_alive"},
        {"sned", "send"},
        {"bodies", NULL},
        {"x", NULL},
        {"", NULL},
        {"lingering", "linger"},
        {"shutdown", NULL},
        {"of", "on"},
    };

    for (int i = 0; i < ROWS(rows); i++) {
        struct suggestion suggestion = {.name = rows[i].name};

        for (int j = 0; j < ROWS(known); j++)
            suggest_offer(&suggestion, known[j]);
        ck_assert_pstr_eq(suggestion.nearest, rows[i].nearest);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config/units");
    TCase *units = tcase_create("units");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(units, test_sizes, 0, ROWS(sizes));
    tcase_add_loop_test(units, test_times, 0, ROWS(times));
    tcase_add_loop_test(units, test_modes, 0, ROWS(modes));
    tcase_add_loop_test(units, test_integers, 0, ROWS(integers));
    tcase_add_test(units, test_seconds);
    tcase_add_test(units, test_formats_read_back);
    tcase_add_loop_test(units, test_addresses, 0, ROWS(addresses));
    tcase_add_test(units, test_unix_path_has_a_limit);
    tcase_add_test(units, test_port_is_in_network_order);
    tcase_add_test(units, test_distances);
    tcase_add_test(units, test_suggestions);
    suite_add_tcase(suite, units);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
