/* SPDX-License-Identifier: MIT */
/* One table of listening sockets after another: daemon/takeover.h. */

#include "daemon/takeover.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS 40

static char folder[64];

static void set_up(void)
{
    strcpy(folder, "/tmp/evixd-takeover-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    ck_assert_int_eq(rmdir(folder), 0);
}

/* On a port that the kernel chooses. */
static struct config_listen listen_tcp(void)
{
    struct config_listen listen = {.address = "127.0.0.1:0", .backlog = 64};
    struct sockaddr_in *address = (struct sockaddr_in *)&listen.sockaddr;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen.sockaddr_length = sizeof(*address);
    return listen;
}

static struct config_listen listen_unix(void)
{
    struct config_listen listen = {
        .address = "unix:s", .backlog = 16, .mode = 0600, .owner = "", .group = ""};
    struct sockaddr_un *address = (struct sockaddr_un *)&listen.sockaddr;
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof(address->sun_path), "%s/s", folder);
    listen.sockaddr_length = sizeof(*address);
    return listen;
}

/* Connections to a listener, most of them at once; they stay in its queues. */
static void connect_many(const struct sockets_listener *listener, int clients[CLIENTS])
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = socket(listener->bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(clients[i], 0);
        ck_assert_int_eq(
            connect(clients[i], (const struct sockaddr *)&listener->bound, listener->bound_length),
            0);
    }
}

static void close_all(int clients[CLIENTS])
{
    for (unsigned i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

/* How many wait in the queue of one worker's socket. */
static unsigned count_waiting(const struct sockets_listener *listener, unsigned worker)
{
    unsigned count = 0;
    int fd;
    while ((fd = accept4(listener->fds[worker], NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        close(fd);
        count++;
    }
    ck_assert_int_eq(errno, EAGAIN);
    return count;
}

static unsigned count_all(const struct sockets_listener *listener)
{
    unsigned count = 0;
    for (unsigned i = 0; i < listener->fd_count; i++)
        count += count_waiting(listener, i);
    return count;
}

/*
 * Workers keep copies of their own; here it is the test that looks into the sockets which the
 * former table lets go.
 */
static struct sockets_listener copy_of(const struct sockets_listener *listener)
{
    struct sockets_listener copy = *listener;
    copy.fds = malloc(copy.fd_count * sizeof(*copy.fds));
    for (unsigned i = 0; i < copy.fd_count; i++) {
        copy.fds[i] = fcntl(listener->fds[i], F_DUPFD_CLOEXEC, 0);
        ck_assert_int_ge(copy.fds[i], 0);
    }
    return copy;
}

static void free_copy(struct sockets_listener *copy)
{
    for (unsigned i = 0; i < copy->fd_count; i++)
        close(copy->fds[i]);
    free(copy->fds);
}

START_TEST(fewer_workers)
{
    struct config_listen listen = listen_tcp();
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    int early[CLIENTS], late[CLIENTS];
    ck_assert_int_eq(sockets_open(&former, &config, 4, NULL), 0);
    struct sockets_listener workers = copy_of(&former.listeners[0]);
    connect_many(&workers, early);
    ck_assert_int_eq(sockets_open(&current, &config, 1, &former), 0);
    takeover_commit(&current, &former);
    ck_assert(!takeover_leaves(&former, 0, 0));
    for (unsigned i = 1; i < 4; i++)
        ck_assert(takeover_leaves(&former, i, 0));
    /* What has come stays where it is, and is all there; who comes now comes to the one that stays.
     */
    ck_assert_uint_eq(count_all(&workers), CLIENTS);
    connect_many(&current.listeners[0], late);
    ck_assert_uint_eq(count_waiting(&current.listeners[0], 0), CLIENTS);
    ck_assert_uint_eq(count_all(&workers), 0);
    close_all(early);
    close_all(late);
    free_copy(&workers);
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

START_TEST(more_workers)
{
    struct config_listen listen = listen_tcp();
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    int early[CLIENTS], late[CLIENTS];
    ck_assert_int_eq(sockets_open(&former, &config, 1, NULL), 0);
    ck_assert_int_eq(sockets_open(&current, &config, 3, &former), 0);
    /* While it may still come to nothing, nobody is sent to what is new. */
    connect_many(&former.listeners[0], early);
    ck_assert_uint_eq(count_waiting(&current.listeners[0], 0), CLIENTS);
    takeover_commit(&current, &former);
    ck_assert(!takeover_leaves(&former, 0, 0));
    connect_many(&current.listeners[0], late);
    ck_assert_uint_lt(count_waiting(&current.listeners[0], 0), CLIENTS);
    ck_assert_uint_gt(count_all(&current.listeners[0]), 0);
    close_all(early);
    close_all(late);
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

/* Some kernels let only root attach a filter to a socket. */
static bool may_filter(void)
{
    struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    struct sock_fprog program = {.len = 1, .filter = &code};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
    ck_assert_int_ge(fd, 0);
    close(fd);
    return error == 0;
}

START_TEST(address_that_goes)
{
    struct config_listen before[] = {listen_tcp(), listen_unix()};
    struct config_listen after = listen_tcp();
    struct config old = {.listen = before, .listen_count = 2};
    struct config new = {.listen = &after, .listen_count = 1};
    struct sockets former, current;
    struct stat stat_buffer;
    const char *path = ((struct sockaddr_un *)&before[1].sockaddr)->sun_path;
    int early[CLIENTS];
    ((struct sockaddr_in *)&after.sockaddr)->sin_addr.s_addr = inet_addr("127.0.0.2");
    ck_assert_int_eq(sockets_open(&former, &old, 2, NULL), 0);
    struct sockets_listener workers = copy_of(&former.listeners[0]);
    connect_many(&workers, early);
    ck_assert_int_eq(sockets_open(&current, &new, 2, &former), 0);
    ck_assert_int_eq(stat(path, &stat_buffer), 0);
    takeover_commit(&current, &former);
    for (unsigned i = 0; i < 2; i++)
        ck_assert(takeover_leaves(&former, i, 0) && takeover_leaves(&former, i, 1));
    ck_assert_int_lt(stat(path, &stat_buffer), 0);
    ck_assert_uint_eq(count_all(&workers), CLIENTS); /* nobody who had come is lost */
    int late = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_lt(connect(late, (struct sockaddr *)&workers.bound, workers.bound_length), 0);
    struct pollfd waiting = {.fd = late, .events = POLLOUT};
    if (may_filter())
        ck_assert_int_eq(poll(&waiting, 1, 100), 0); /* no connection begins */
    else
        printf("# skipped: refusing new connections: no filter can be attached here\n");
    close(late);
    close_all(early);
    free_copy(&workers);
    sockets_close(&former);
    sockets_close(&current);
}
END_TEST

START_TEST(shared_socket_stays)
{
    struct config_listen listen = listen_unix();
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, current;
    struct stat stat_buffer;
    const char *path = ((struct sockaddr_un *)&listen.sockaddr)->sun_path;
    ck_assert_int_eq(sockets_open(&former, &config, 3, NULL), 0);
    ck_assert_int_eq(sockets_open(&current, &config, 1, &former), 0);
    takeover_commit(&current, &former);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(!takeover_leaves(&former, i, 0));
    sockets_close(&former); /* which must not take the file along */
    ck_assert_int_eq(stat(path, &stat_buffer), 0);
    sockets_close(&current);
    ck_assert_int_lt(stat(path, &stat_buffer), 0);
}
END_TEST

/* Another program has told how many it keeps. */
START_TEST(numbers_from_another_process)
{
    struct config_listen listen[] = {listen_tcp(), listen_unix()};
    struct config config = {.listen = listen, .listen_count = 2};
    struct sockets former;
    ck_assert_int_eq(sockets_open(&former, &config, 3, NULL), 0);
    takeover_note_kept(&former, 0, 2);
    takeover_note_kept(&former, 1, 0);
    ck_assert(!takeover_leaves(&former, 0, 0) && !takeover_leaves(&former, 1, 0));
    ck_assert(takeover_leaves(&former, 2, 0));
    ck_assert(takeover_leaves(&former, 0, 1));
    takeover_note_kept(&former, 0, UINT32_MAX); /* whatever it says, no more than there are */
    takeover_note_kept(&former, 1, 1);
    ck_assert(!takeover_leaves(&former, 2, 0) && !takeover_leaves(&former, 0, 1));
    takeover_note_kept(&former, 1, 0);
    sockets_close(&former);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("takeover");
    TCase *tests = tcase_create("takeover");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, fewer_workers);
    tcase_add_test(tests, more_workers);
    tcase_add_test(tests, address_that_goes);
    tcase_add_test(tests, shared_socket_stays);
    tcase_add_test(tests, numbers_from_another_process);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
