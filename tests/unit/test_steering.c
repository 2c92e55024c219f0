/* SPDX-License-Identifier: MIT */
/* Which workers get new connections: daemon/steering.h. */

#include <config.h>

#include "daemon/steering.h"

#include "daemon/takeover.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Enough that each of four workers gets one, but for one run in 10^24. */
#define CLIENTS 200
#define WORKERS 4

static struct config_listen listen_tcp(sa_family_t family)
{
    struct config_listen listen = {.address = "loopback:0", .backlog = 2 * CLIENTS};
    if (family == AF_INET6) {
        struct sockaddr_in6 *address = (struct sockaddr_in6 *)&listen.sockaddr;
        address->sin6_family = AF_INET6;
        address->sin6_addr = in6addr_loopback;
        listen.sockaddr_length = sizeof(*address);
    } else {
        struct sockaddr_in *address = (struct sockaddr_in *)&listen.sockaddr;
        address->sin_family = AF_INET;
        address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        listen.sockaddr_length = sizeof(*address);
    }
    return listen;
}

/* CLIENTS of them, which end at once; how many came to each of the sockets, whose queues are empty
   then. */
static void share_out(const struct sockets_listener *listener, const int *fds, unsigned count,
                      unsigned *shares)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        int client = socket(listener->bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(client, 0);
        ck_assert_int_eq(
            connect(client, (const struct sockaddr *)&listener->bound, listener->bound_length), 0);
        close(client);
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        int fd;
        shares[i] = 0;
        while ((fd = accept4(fds[i], NULL, NULL, SOCK_CLOEXEC)) >= 0) {
            close(fd);
            shares[i]++;
        }
        ck_assert_int_eq(errno, EAGAIN);
        sum += shares[i];
    }
    ck_assert_uint_eq(sum, CLIENTS);
}

/* Each of the table's workers gets some, or none, as its letter says: 's' or '-'. */
static void check_shares(const struct sockets *sockets, const char *expected)
{
    for (size_t i = 0; i < sockets->count; i++) {
        const struct sockets_listener *listener = &sockets->listeners[i];
        unsigned shares[WORKERS];
        share_out(listener, listener->fds, listener->fd_count, shares);
        for (unsigned k = 0; k < listener->fd_count; k++)
            ck_assert_msg((shares[k] != 0) == (expected[k] == 's'),
                          "listener %zu, worker %u got %u where %s was expected", i, k, shares[k],
                          expected);
    }
}

START_TEST(away_and_back)
{
    struct config_listen listen[] = {listen_tcp(AF_INET), listen_tcp(AF_INET)};
    struct config config = {.listen = listen, .listen_count = 2};
    struct sockets sockets;
    ck_assert_int_eq(sockets_open(&sockets, &config, WORKERS, NULL), 0);
    check_shares(&sockets, "ssss");
    static const struct {
        unsigned worker;
        bool is_away;
        const char *expected;
    } rows[] = {
        {2, true, "ss-s"},  {0, true, "-s-s"},  {3, true, "-s--"},
        {1, true, "ssss"}, /* somebody has to have them */
        {3, false, "---s"}, {3, false, "---s"}, {0, false, "s--s"},
        {2, false, "s-ss"}, {1, false, "ssss"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        steering_set_away(&sockets, rows[i].worker, rows[i].is_away);
        check_shares(&sockets, rows[i].expected);
    }
    sockets_close(&sockets);
}
END_TEST

START_TEST(shares_are_equal)
{
    struct config_listen listen = listen_tcp(AF_INET);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    unsigned shares[WORKERS];
    ck_assert_int_eq(sockets_open(&sockets, &config, WORKERS, NULL), 0);
    steering_set_away(&sockets, 1, true);
    share_out(&sockets.listeners[0], sockets.listeners[0].fds, WORKERS, shares);
    ck_assert_uint_eq(shares[1], 0);
    /* A third of 200, within six standard deviations. */
    for (unsigned i = 0; i < WORKERS; i++)
        ck_assert(i == 1 || (shares[i] > 26 && shares[i] < 107));
    sockets_close(&sockets);
}
END_TEST

START_TEST(one_worker_keeps_its_share)
{
    struct config_listen listen = listen_tcp(AF_INET);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, NULL), 0);
    steering_set_away(&sockets, 0, true);
    check_shares(&sockets, "s");
    sockets_close(&sockets);
}
END_TEST

START_TEST(over_ipv6)
{
    struct config_listen listen = listen_tcp(AF_INET6);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has_ipv6 =
        probe >= 0 && bind(probe, (struct sockaddr *)&listen.sockaddr, listen.sockaddr_length) == 0;
    if (probe >= 0)
        close(probe);
    if (!has_ipv6)
        return; /* it is switched off here */
    ck_assert_int_eq(sockets_open(&sockets, &config, 3, NULL), 0);
    steering_set_away(&sockets, 0, true);
    check_shares(&sockets, "-ss");
    sockets_close(&sockets);
}
END_TEST

/* The next table's workers are about to serve beside one that is away. */
START_TEST(sockets_that_are_added_get_nothing_yet)
{
    struct config_listen listen = listen_tcp(AF_INET);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    unsigned shares[WORKERS];
    ck_assert_int_eq(sockets_open(&former, &config, 2, NULL), 0);
    steering_set_away(&former, 0, true);
    ck_assert_int_eq(sockets_open(&current, &config, WORKERS, &former), 0);
    const struct sockets_listener *all = &current.listeners[0];
    share_out(all, all->fds, WORKERS, shares);
    ck_assert_uint_eq(shares[1], CLIENTS);
    steering_set_away(&former, 0, false);
    share_out(all, all->fds, WORKERS, shares);
    ck_assert_uint_eq(shares[0] + shares[1], CLIENTS);
    ck_assert(shares[0] != 0 && shares[1] != 0);
    takeover_commit(&current, &former);
    check_shares(&current, "ssss");
    steering_set_away(&current, 3, true);
    check_shares(&current, "sss-");
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

/* Who takes over has workers of its own for every queue: nobody is away there. */
START_TEST(takeover_from_one_with_a_worker_away)
{
    struct config_listen listen = listen_tcp(AF_INET);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    ck_assert_int_eq(sockets_open(&former, &config, 3, NULL), 0);
    steering_set_away(&former, 1, true);
    ck_assert_int_eq(sockets_open(&current, &config, 3, &former), 0);
    check_shares(&current, "s-s");
    takeover_commit(&current, &former);
    check_shares(&current, "sss");
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

/* Those that go are beyond the numbers of the table, and stay away whatever its workers do. */
START_TEST(fewer_workers_with_one_away)
{
    struct config_listen listen = listen_tcp(AF_INET);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    int kept[WORKERS];
    unsigned shares[WORKERS];
    ck_assert_int_eq(sockets_open(&former, &config, WORKERS, NULL), 0);
    for (unsigned i = 0; i < WORKERS; i++) /* as workers have them */
        ck_assert_int_ge(kept[i] = dup(former.listeners[0].fds[i]), 0);
    ck_assert_int_eq(sockets_open(&current, &config, 2, &former), 0);
    takeover_commit(&current, &former);
    static const bool rows[] = {true, false};
    for (size_t i = 0; i < 2; i++) {
        steering_set_away(&current, 0, rows[i]);
        share_out(&current.listeners[0], kept, WORKERS, shares);
        ck_assert_uint_eq(shares[0] != 0, !rows[i]);
        ck_assert_uint_ne(shares[1], 0);
        ck_assert_uint_eq(shares[2] + shares[3], 0);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        close(kept[i]);
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("steering");
    TCase *tests = tcase_create("steering");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, away_and_back);
    tcase_add_test(tests, shares_are_equal);
    tcase_add_test(tests, one_worker_keeps_its_share);
    tcase_add_test(tests, over_ipv6);
    tcase_add_test(tests, sockets_that_are_added_get_nothing_yet);
    tcase_add_test(tests, takeover_from_one_with_a_worker_away);
    tcase_add_test(tests, fewer_workers_with_one_away);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
