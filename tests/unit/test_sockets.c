/* SPDX-License-Identifier: MIT */
/* The listening sockets of the workers: daemon/sockets.h. */

#include "daemon/sockets.h"

#include "daemon/takeover.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64];
static char last_line[LOG_LINE_BYTES + 1];

static void on_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    (void)level;
    memcpy(last_line, line, length + 1);
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/evixd-sockets-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    log_set_sink(on_line, NULL);
    last_line[0] = '\0';
}

static void remove_folder(void)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/s", folder);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static struct config_listen listen_v4(uint16_t port)
{
    struct config_listen listen = {.address = "127.0.0.1:PORT", .backlog = 16};
    struct sockaddr_in *address = (struct sockaddr_in *)&listen.sockaddr;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->sin_port = htons(port);
    listen.sockaddr_length = sizeof(*address);
    return listen;
}

static struct config_listen listen_any(uint16_t port)
{
    struct config_listen listen = {.address = "[::]:PORT", .wildcard = true, .backlog = 16};
    struct sockaddr_in6 *address = (struct sockaddr_in6 *)&listen.sockaddr;
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(port);
    listen.sockaddr_length = sizeof(*address);
    return listen;
}

static struct config_listen listen_unix(mode_t mode)
{
    struct config_listen listen = {
        .address = "unix:s", .backlog = 16, .mode = mode, .owner = "", .group = ""};
    struct sockaddr_un *address = (struct sockaddr_un *)&listen.sockaddr;
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof(address->sun_path), "%s/s", folder);
    listen.sockaddr_length = sizeof(*address);
    return listen;
}

static const char *unix_path(const struct config_listen *listen)
{
    return ((const struct sockaddr_un *)&listen->sockaddr)->sun_path;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

static int get_option(int fd, int level, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);
    ck_assert_int_eq(getsockopt(fd, level, option, &value, &length), 0);
    return value;
}

/* A connection to 127.0.0.1, or a negative errno. */
static int connect_v4(uint16_t port)
{
    struct config_listen peer = listen_v4(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    if (connect(fd, (struct sockaddr *)&peer.sockaddr, peer.sockaddr_length) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int connect_unix(const struct config_listen *listen)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    if (connect(fd, (const struct sockaddr *)&listen->sockaddr, listen->sockaddr_length) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

START_TEST(each_worker_has_a_socket_on_the_chosen_port)
{
    struct config_listen listen = listen_v4(0);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    char expected[32];
    ck_assert_int_eq(sockets_open(&sockets, &config, 3, NULL), 0);
    uint16_t port = port_of(sockets_descriptor(&sockets, 0, 0));
    ck_assert_uint_ne(port, 0);
    snprintf(expected, sizeof(expected), "127.0.0.1:%u", port);
    ck_assert_str_eq(sockets.listeners[0].address, expected);
    for (unsigned worker = 0; worker < 3; worker++) {
        int fd = sockets_descriptor(&sockets, worker, 0);
        ck_assert_uint_eq(port_of(fd), port);
        ck_assert_int_eq(get_option(fd, SOL_SOCKET, SO_ACCEPTCONN), 1);
        ck_assert_int_eq(get_option(fd, SOL_SOCKET, SO_REUSEPORT), 1);
        ck_assert_int_ne(get_option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
        ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
        ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
        for (unsigned other = 0; other < worker; other++)
            ck_assert_int_ne(fd, sockets_descriptor(&sockets, other, 0));
    }
    sockets_stop_listening(&sockets);
    ck_assert_int_eq(connect_v4(port), -ECONNREFUSED);
    sockets_stop_listening(&sockets);
    sockets_close(&sockets);
}
END_TEST

/* With three sockets and many clients, each socket gets some: they are one group. */
START_TEST(connections_spread_over_the_workers)
{
    struct config_listen listen = listen_v4(0);
    listen.backlog = 256;
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    int clients[96];
    ck_assert_int_eq(sockets_open(&sockets, &config, 3, NULL), 0);
    uint16_t port = port_of(sockets_descriptor(&sockets, 0, 0));
    for (int i = 0; i < 96; i++) {
        clients[i] = connect_v4(port);
        ck_assert_int_ge(clients[i], 0);
    }
    int total = 0;
    for (unsigned worker = 0; worker < 3; worker++) {
        int count = 0;
        for (int fd; (fd = accept(sockets_descriptor(&sockets, worker, 0), NULL, NULL)) >= 0;
             count++)
            close(fd);
        ck_assert_int_gt(count, 0);
        total += count;
    }
    ck_assert_int_eq(total, 96);
    for (int i = 0; i < 96; i++)
        close(clients[i]);
    sockets_close(&sockets);
}
END_TEST

/* SO_REUSEPORT alone would let a second one of the same user in. */
START_TEST(port_of_another_server_is_refused)
{
    struct config_listen first = listen_v4(0);
    struct config config = {.listen = &first, .listen_count = 1};
    struct sockets ours, theirs;
    ck_assert_int_eq(sockets_open(&theirs, &config, 2, NULL), 0);

    struct config_listen second = listen_v4(port_of(sockets_descriptor(&theirs, 0, 0)));
    struct config other = {.listen = &second, .listen_count = 1};
    ck_assert_int_eq(sockets_open(&ours, &other, 2, NULL), -EADDRINUSE);
    ck_assert_str_eq(last_line, "cannot listen on 127.0.0.1:PORT: Address already in use");
    second.source = ""; /* nobody named it */
    ck_assert_int_eq(sockets_open(&ours, &other, 2, NULL), -EADDRINUSE);
    ck_assert_str_eq(last_line, "cannot listen on 127.0.0.1:PORT: Address already in use; "
                                "--listen takes another address");
    sockets_close(&theirs);
    ck_assert_int_eq(sockets_open(&ours, &other, 2, NULL), 0);
    sockets_close(&ours);
}
END_TEST

/* One that listens without SO_REUSEPORT, as other servers do. */
START_TEST(port_of_a_foreign_socket_is_refused)
{
    struct config_listen first = listen_v4(0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&first.sockaddr, first.sockaddr_length), 0);
    ck_assert_int_eq(listen(fd, 1), 0);

    struct config_listen second = listen_v4(port_of(fd));
    struct config config = {.listen = &second, .listen_count = 1};
    struct sockets sockets;
    ck_assert_int_eq(sockets_open(&sockets, &config, 2, NULL), -EADDRINUSE);
    close(fd);
}
END_TEST

/* A connection that the server closed is in TIME-WAIT and must not keep the next one out. */
START_TEST(port_is_free_again_after_connections)
{
    struct config_listen first = listen_v4(0);
    struct config config = {.listen = &first, .listen_count = 1};
    struct sockets sockets;
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, NULL), 0);
    uint16_t port = port_of(sockets_descriptor(&sockets, 0, 0));
    int client = connect_v4(port);
    ck_assert_int_ge(client, 0);
    struct pollfd ready = {.fd = sockets_descriptor(&sockets, 0, 0), .events = POLLIN};
    ck_assert_int_eq(poll(&ready, 1, 5000), 1);
    int server = accept(ready.fd, NULL, NULL);
    ck_assert_int_ge(server, 0);
    close(server);
    char byte;
    ck_assert_int_eq(read(client, &byte, 1), 0);
    close(client);
    sockets_close(&sockets);

    struct config_listen second = listen_v4(port);
    struct config again = {.listen = &second, .listen_count = 1};
    ck_assert_int_eq(sockets_open(&sockets, &again, 2, NULL), 0);
    sockets_close(&sockets);
}
END_TEST

START_TEST(wildcard_takes_ipv4_clients)
{
    struct config_listen listen = listen_any(0);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    ck_assert_int_eq(sockets_open(&sockets, &config, 2, NULL), 0);
    int client = connect_v4(port_of(sockets_descriptor(&sockets, 0, 0)));
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&sockets);
}
END_TEST

/* Two listeners on one port: IPv4 by itself, and IPv6 without it. */
START_TEST(v6_only_leaves_ipv4_to_another_listener)
{
    struct config_listen pair[2] = {listen_any(0), listen_v4(0)};
    pair[0].v6_only = true;
    struct config config = {.listen = pair, .listen_count = 1};
    struct sockets first, second;
    ck_assert_int_eq(sockets_open(&first, &config, 1, NULL), 0);
    uint16_t port = port_of(sockets_descriptor(&first, 0, 0));
    if (get_option(sockets_descriptor(&first, 0, 0), SOL_SOCKET, SO_DOMAIN) == AF_INET6) {
        ck_assert_int_eq(connect_v4(port), -ECONNREFUSED);
        pair[1] = listen_v4(port);
        struct config other = {.listen = &pair[1], .listen_count = 1};
        ck_assert_int_eq(sockets_open(&second, &other, 1, NULL), 0);
        sockets_close(&second);
    }
    sockets_close(&first);
}
END_TEST

/* What was opened before the one that fails is closed again. */
START_TEST(failure_leaves_nothing_open)
{
    struct config_listen taken = listen_v4(0);
    struct config config = {.listen = &taken, .listen_count = 1};
    struct sockets theirs, ours;
    ck_assert_int_eq(sockets_open(&theirs, &config, 1, NULL), 0);
    struct config_listen three[3] = {listen_v4(0), listen_unix(0600),
                                     listen_v4(port_of(sockets_descriptor(&theirs, 0, 0)))};
    struct config bad = {.listen = three, .listen_count = 3};
    int lowest = dup(0);
    close(lowest);
    ck_assert_int_eq(sockets_open(&ours, &bad, 2, NULL), -EADDRINUSE);
    int next = dup(0);
    close(next);
    ck_assert_int_eq(next, lowest);
    ck_assert_int_eq(access(unix_path(&three[1]), F_OK), -1);
    sockets_close(&theirs);
}
END_TEST

START_TEST(unix_socket_has_its_mode_and_is_removed)
{
    static const mode_t modes[] = {0600, 0660, 0666, 0777};
    struct config_listen listen = listen_unix(modes[_i]);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    struct stat status;
    umask(0027);
    ck_assert_int_eq(sockets_open(&sockets, &config, 2, NULL), 0);
    ck_assert_int_eq(umask(0027), 0027);
    ck_assert_int_eq(lstat(unix_path(&listen), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, modes[_i]);
    ck_assert_int_eq(sockets_descriptor(&sockets, 0, 0), sockets_descriptor(&sockets, 1, 0));
    int client = connect_unix(&listen);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&sockets);
    ck_assert_int_eq(lstat(unix_path(&listen), &status), -1);
}
END_TEST

/* A server that was killed leaves its file; the next one takes the place. */
START_TEST(stale_unix_socket_is_replaced)
{
    struct config_listen listen_to = listen_unix(0600);
    struct config config = {.listen = &listen_to, .listen_count = 1};
    struct sockets sockets;
    int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(dead, (struct sockaddr *)&listen_to.sockaddr, listen_to.sockaddr_length),
                     0);
    ck_assert_int_eq(listen(dead, 1), 0);
    close(dead);
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, NULL), 0);
    int client = connect_unix(&listen_to);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&sockets);
}
END_TEST

START_TEST(live_unix_socket_is_left_alone)
{
    struct config_listen listen = listen_unix(0600);
    listen.backlog = 1;
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets theirs, ours;
    ck_assert_int_eq(sockets_open(&theirs, &config, 1, NULL), 0);
    ck_assert_int_eq(sockets_open(&ours, &config, 1, NULL), -EADDRINUSE);
    ck_assert_str_eq(last_line, "cannot listen on unix:s: Address already in use");
    int client = connect_unix(&listen);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&theirs);
}
END_TEST

START_TEST(other_file_is_left_alone)
{
    struct config_listen listen = listen_unix(0600);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets sockets;
    struct stat status;
    int fd = open(unix_path(&listen), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, NULL), -EEXIST);
    ck_assert_str_eq(last_line, "cannot listen on unix:s: a file that is no socket stands there");
    ck_assert_int_eq(lstat(unix_path(&listen), &status), 0);
    ck_assert(S_ISREG(status.st_mode));
}
END_TEST

/* Whoever has taken the path over meanwhile keeps it. */
START_TEST(socket_of_a_successor_is_not_removed)
{
    struct config_listen listen = listen_unix(0600);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets ours, successor;
    ck_assert_int_eq(sockets_open(&ours, &config, 1, NULL), 0);
    ck_assert_int_eq(unlink(unix_path(&listen)), 0);
    ck_assert_int_eq(sockets_open(&successor, &config, 1, NULL), 0);
    sockets_close(&ours);
    int client = connect_unix(&listen);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&successor);
}
END_TEST

/* The file was removed, by hand or by what cleans /run up: nobody reaches the socket any more. */
START_TEST(unix_socket_without_its_file_is_made_anew)
{
    struct config_listen listen = listen_unix(0600);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, sockets;
    ck_assert_int_eq(sockets_open(&former, &config, 1, NULL), 0);
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, &former), 0);
    ck_assert(sockets.listeners[0].is_inherited); /* nothing is amiss yet */
    sockets_close(&sockets);
    ck_assert_int_eq(unlink(unix_path(&listen)), 0);
    ck_assert_int_eq(connect_unix(&listen), -ENOENT);
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, &former), 0);
    ck_assert(!sockets.listeners[0].is_inherited);
    takeover_commit(&sockets, &former);
    ck_assert_uint_eq(former.listeners[0].kept_count,
                      0); /* who waits there is served, then it goes */
    sockets_close(&former);
    int client = connect_unix(&listen);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&sockets);
    ck_assert_int_eq(access(unix_path(&listen), F_OK), -1);
}
END_TEST

START_TEST(unix_socket_of_another_server_is_not_taken_for_ours)
{
    struct config_listen listen = listen_unix(0600);
    struct config config = {.listen = &listen, .listen_count = 1};
    struct sockets former, theirs, sockets;
    ck_assert_int_eq(sockets_open(&former, &config, 1, NULL), 0);
    ck_assert_int_eq(unlink(unix_path(&listen)), 0);
    ck_assert_int_eq(sockets_open(&theirs, &config, 1, NULL), 0);
    ck_assert_int_eq(sockets_open(&sockets, &config, 1, &former), -EADDRINUSE);
    sockets_close(&former);
    int client = connect_unix(&listen);
    ck_assert_int_ge(client, 0);
    close(client);
    sockets_close(&theirs);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sockets");
    TCase *tests = tcase_create("sockets");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, each_worker_has_a_socket_on_the_chosen_port);
    tcase_add_test(tests, connections_spread_over_the_workers);
    tcase_add_test(tests, port_of_another_server_is_refused);
    tcase_add_test(tests, port_of_a_foreign_socket_is_refused);
    tcase_add_test(tests, port_is_free_again_after_connections);
    tcase_add_test(tests, wildcard_takes_ipv4_clients);
    tcase_add_test(tests, v6_only_leaves_ipv4_to_another_listener);
    tcase_add_test(tests, failure_leaves_nothing_open);
    tcase_add_loop_test(tests, unix_socket_has_its_mode_and_is_removed, 0, 4);
    tcase_add_test(tests, stale_unix_socket_is_replaced);
    tcase_add_test(tests, live_unix_socket_is_left_alone);
    tcase_add_test(tests, other_file_is_left_alone);
    tcase_add_test(tests, socket_of_a_successor_is_not_removed);
    tcase_add_test(tests, unix_socket_without_its_file_is_made_anew);
    tcase_add_test(tests, unix_socket_of_another_server_is_not_taken_for_ours);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
