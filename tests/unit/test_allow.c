/* SPDX-License-Identifier: MIT */
/*
 * Tests whom a list of networks allows, from its text in the configuration on: borders of prefixes,
 * IPv4 within IPv6, unix sockets.
 */
#include <arpa/inet.h>
#include <check.h>
#include <string.h>

#include "config/network.h"
#include "server/allow.h"

static const struct {
    const char *rule, *client; /* NULL: of a unix socket */
    bool allowed;
} rows[] = {
    {"all", "192.0.2.1", true},
    {"all", "2001:db8::1", true},
    {"all", NULL, true},
    {"unix", NULL, true},
    {"unix", "127.0.0.1", false},
    {"127.0.0.1", NULL, false},
    {"0.0.0.0/0", NULL, false},
    {"::/0", NULL, false},
    {"127.0.0.1", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.2", false},
    {"127.0.0.0/8", "127.255.255.255", true},
    {"127.0.0.0/8", "128.0.0.0", false},
    {"127.0.0.0/8", "126.255.255.255", false},
    {"10.1.2.0/23", "10.1.3.255", true},
    {"10.1.2.0/23", "10.1.4.0", false},
    {"10.1.2.4/31", "10.1.2.5", true},
    {"10.1.2.4/31", "10.1.2.6", false},
    {"10.1.2.4/32", "10.1.2.4", true},
    {"0.0.0.0/0", "203.0.113.9", true},
    {"0.0.0.0/0", "::1", false},
    {"0.0.0.0/1", "128.0.0.1", false},
    {"::1", "::1", true},
    {"::1", "::2", false},
    {"::1", "127.0.0.1", false},
    {"2001:db8::/32", "2001:db8:ffff::1", true},
    {"2001:db8::/32", "2001:db9::", false},
    {"2001:db8::/33", "2001:db8:8000::", false},
    {"::/0", "2001:db8::1", true},
    {"::/0", "127.0.0.1", false}, /* IPv6 alone is meant */
    {"::/95", "127.0.0.1", false},
    {"::ffff:127.0.0.1", "127.0.0.1", true},
    {"::ffff:127.0.0.0/104", "127.9.9.9", true},
    {"fe80::/10", "febf::1", true},
    {"fe80::/10", "fec0::1", false},
};

static void client_of(const char *text, struct in6_addr *out)
{
    char mapped[INET6_ADDRSTRLEN + 8];

    snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') == NULL ? "::ffff:" : "", text);
    ck_assert_int_eq(inet_pton(AF_INET6, mapped, out), 1);
}

START_TEST(test_one_rule)
{
    struct config_network network;
    struct config_location location = {.networks = &network};
    struct in6_addr client;

    ck_assert_ptr_null(network_check(rows[_i].rule));
    location.allows_all = !network_parse(rows[_i].rule, &network);
    location.network_count = location.allows_all ? 0 : 1;
    if (rows[_i].client != NULL)
        client_of(rows[_i].client, &client);
    ck_assert_msg(allow_has(&location, rows[_i].client == NULL ? NULL : &client) ==
                      rows[_i].allowed,
                  "%s of %s", rows[_i].rule, rows[_i].client == NULL ? "unix" : rows[_i].client);
}
END_TEST

START_TEST(test_several_rules)
{
    struct config_network networks[2];
    struct config_location location = {.networks = networks, .network_count = 2};
    struct in6_addr client;

    ck_assert(network_parse("192.0.2.0/24", &networks[0]));
    ck_assert(network_parse("::1", &networks[1]));
    client_of("192.0.2.7", &client);
    ck_assert(allow_has(&location, &client));
    client_of("::1", &client);
    ck_assert(allow_has(&location, &client));
    client_of("192.0.3.7", &client);
    ck_assert(!allow_has(&location, &client));
    location.network_count = 0; /* an empty list */
    ck_assert(!allow_has(&location, &client));
    ck_assert(!allow_has(&location, NULL));
}
END_TEST

static const char *const refused[] = {
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8 ",
    "10.0.0.1/8",
    "10.0.0",
    "10.0.0.0/a",
    "10.0.0.0/-1",
    "::1/129",
    "2001:db8::1/32",
    "example.org",
    "ALL",
    "*",
    "10.*",
    "[::1]",
    "127.0.0.1:80",
    "fe80::1%eth0",
    "/8",
    "0x7f.0.0.1",
    "::ffff:10.0.0.1/97",
};

START_TEST(test_refused)
{
    ck_assert_msg(network_check(refused[_i]) != NULL, "%s was taken", refused[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server/allow");
    TCase *allow = tcase_create("allow");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(allow, test_one_rule, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(allow, test_several_rules);
    tcase_add_loop_test(allow, test_refused, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    suite_add_tcase(suite, allow);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
