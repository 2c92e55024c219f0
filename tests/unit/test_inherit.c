/* SPDX-License-Identifier: MIT */
/*
 * What one program leaves to the next: daemon/inherit.h. Each test has a process of its own, in
 * which it writes the text as the one and reads it as the other.
 */

#include "daemon/inherit.h"

#include "log/log.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define VARIABLE "EVIXD_UPGRADE"

static char last_line[LOG_LINE_BYTES + 1];

static void on_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    ck_assert_int_eq(level, LOG_LEVEL_ERROR);
    memcpy(last_line, line, length + 1);
}

static int listening_socket(struct sockaddr_storage *address, socklen_t *length)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_gt(fd, STDERR_FILENO);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    *length = sizeof(*address);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)address, length), 0);
    return fd;
}

static bool is_inherited(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    ck_assert_int_ge(flags, 0);
    return !(flags & FD_CLOEXEC);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* A table of one listener with that many sockets. */
static struct sockets *make_table(unsigned count)
{
    struct sockets *sockets = calloc(1, sizeof(*sockets));
    struct sockets_listener *listener = calloc(1, sizeof(*listener));
    sockets->listeners = listener;
    sockets->count = 1;
    listener->fds = calloc(count, sizeof(*listener->fds));
    listener->fd_count = count;
    listener->v6_only = true;
    listener->is_activated = true;
    listener->device = 7;
    listener->inode = UINT32_MAX;
    for (unsigned i = 0; i < count; i++)
        listener->fds[i] = listening_socket(&listener->bound, &listener->bound_length);
    listener->wanted = listener->bound;
    ((struct sockaddr_in *)&listener->wanted)->sin_port = 0;
    listener->wanted_length = listener->bound_length;
    strcpy(listener->address, "127.0.0.1:80 and what belongs to it");
    return sockets;
}

/* Its sockets are whoever's has found them. */
static void free_table(struct sockets *sockets)
{
    free(sockets->listeners[0].fds);
    free(sockets->listeners);
    free(sockets);
}

static int open_stream(int pair[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    return pair[1];
}

START_TEST(what_is_left_is_found)
{
    struct sockets *left = make_table(3);
    const struct sockets_listener *before = left->listeners;
    struct inheritance found;
    int pair[2];
    ck_assert_int_eq(inherit_prepare(left, open_stream(pair), 4711, -1), 0);
    ck_assert(is_inherited(before->fds[0]) && is_inherited(before->fds[2]));
    ck_assert(is_inherited(pair[1]));

    ck_assert_int_eq(inherit_take(&found), 0);
    ck_assert_ptr_null(getenv(VARIABLE));
    ck_assert_int_eq(found.from, 4711);
    ck_assert_int_eq(found.stream_fd, pair[1]);
    ck_assert(!is_inherited(pair[1])); /* workers and other programs get none of it */
    ck_assert_uint_eq(found.sockets.count, 1);
    const struct sockets_listener *after = &found.sockets.listeners[0];
    ck_assert_uint_eq(after->fd_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(after->fds[i], before->fds[i]);
        ck_assert(!is_inherited(after->fds[i]));
    }
    ck_assert(after->v6_only && after->is_activated && !after->is_shared);
    ck_assert_uint_eq(after->device, before->device);
    ck_assert_uint_eq(after->inode, before->inode);
    ck_assert_mem_eq(&after->bound, &before->bound, sizeof(after->bound));
    ck_assert_mem_eq(&after->wanted, &before->wanted, sizeof(after->wanted));
    ck_assert_uint_eq(after->bound_length, before->bound_length);
    ck_assert_str_eq(after->address, before->address);
    inherit_close(&found);
    ck_assert(!is_open(before->fds[0]) && !is_open(pair[1]));
    inherit_close(&found); /* twice is fine */
    free_table(left);
}
END_TEST

START_TEST(report_is_a_number_a_listener)
{
    struct sockets *left = make_table(4);
    struct inheritance inheritance = {.sockets = *left};
    int pair[2];
    uint32_t kept = 0;
    inheritance.stream_fd = open_stream(pair);
    inheritance.sockets.listeners[0].kept_count = 3;
    inherit_report(&inheritance);
    ck_assert_int_eq(recv(pair[0], &kept, sizeof(kept), MSG_DONTWAIT), sizeof(kept));
    ck_assert_uint_eq(kept, 3);
    ck_assert_int_lt(recv(pair[0], &kept, sizeof(kept), MSG_DONTWAIT), 0);
    close(pair[0]);
    inherit_report(&inheritance); /* to nobody: no signal, no failure */
    free_table(left);
}
END_TEST

START_TEST(nothing_is_left)
{
    struct inheritance found;
    unsetenv(VARIABLE);
    ck_assert_int_eq(inherit_take(&found), 0);
    ck_assert_int_eq(found.stream_fd, -1);
    ck_assert_uint_eq(found.sockets.count, 0);
}
END_TEST

/* It came from a parent that has passed on all of its environment; the numbers are others' here. */
START_TEST(left_to_another_process)
{
    struct inheritance found;
    char value[64];
    snprintf(value, sizeof(value), "%ld 0 1 1", (long)getppid());
    setenv(VARIABLE, value, true);
    ck_assert_int_eq(inherit_take(&found), 0);
    ck_assert_int_eq(found.stream_fd, -1);
    ck_assert_ptr_null(getenv(VARIABLE));
    ck_assert(is_open(0) && is_open(1));
}
END_TEST

static void expect_refusal(int error)
{
    struct inheritance found;
    last_line[0] = '\0';
    ck_assert_int_eq(inherit_take(&found), error);
    ck_assert_ptr_nonnull(strstr(last_line, "cannot take over the sockets"));
    ck_assert_ptr_null(getenv(VARIABLE));
    ck_assert_int_eq(found.stream_fd, -1);
    ck_assert_uint_eq(found.sockets.count, 0);
    ck_assert_ptr_null(found.sockets.listeners);
}

static const char *const odd_values[] = {"", "x", "1", "1 2", "1 2 3", "1 2 3 x", "- - - -"};

START_TEST(odd_variable)
{
    setenv(VARIABLE, odd_values[_i], true);
    expect_refusal(-EINVAL);
}
END_TEST

static void leave_text(const char *text, int stream_fd)
{
    char value[64];
    int fd = memfd_create("text", 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    snprintf(value, sizeof(value), "%ld %d %d 1", (long)getpid(), fd, stream_fd);
    setenv(VARIABLE, value, true);
}

#define HEAD "evixd sockets 1\n"

/* Up to where a socket's number would stand: no address is longer than the room for it. */
#define BYTES " 4:02000000 4:02000000"

static const struct {
    const char *text;
    int error;
} odd_texts[] = {
    {"", -EPROTONOSUPPORT},
    {"evixd sockets 2\n0\n", -EPROTONOSUPPORT},
    {"evixd sockets", -EPROTONOSUPPORT},
    {HEAD, -EINVAL},
    {HEAD "-1\n", -EINVAL},
    {HEAD "many\n", -EINVAL},
    {HEAD "99999999999999999999\n", -EINVAL},
    {HEAD "1\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 0" BYTES " a\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 4294967295" BYTES " 3 a\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1 999:00 4:02000000 3 a\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1 4:0200zz00 4:02000000 3 a\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1 4:02\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1" BYTES "\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1" BYTES " -1 a\n", -EINVAL},
    {HEAD "1\n0 0 0 0 0 1" BYTES " 0 a\n", -EINVAL}, /* standard input is never a listener */
    {HEAD "1\n0 0 0 0 0 1" BYTES " 2147483647 a\n", -EBADF},
};

START_TEST(odd_text)
{
    int pair[2];
    leave_text(odd_texts[_i].text, open_stream(pair));
    expect_refusal(odd_texts[_i].error);
    ck_assert(!is_open(pair[1]));
}
END_TEST

/* A number that is something else by now: a file, a connection, a socket that does not listen. */
static int open_odd_socket(int kind)
{
    int pair[2];
    if (kind == 0)
        return open("/dev/null", O_RDONLY);
    if (kind == 1)
        return open_stream(pair);
    return socket(AF_INET, SOCK_STREAM, 0);
}

START_TEST(odd_socket)
{
    int pair[2], fd = open_odd_socket(_i);
    char text[128];
    ck_assert_int_gt(fd, STDERR_FILENO);
    snprintf(text, sizeof(text), HEAD "1\n0 0 0 0 0 1" BYTES " %d a\n", fd);
    leave_text(text, open_stream(pair));
    expect_refusal(_i == 0 ? -ENOTSOCK : -EINVAL);
}
END_TEST

/* The second of two does not exist: the first is closed, and nothing is used by halves. */
START_TEST(one_that_is_missing)
{
    struct sockets *left = make_table(2);
    int pair[2], first = left->listeners[0].fds[0];
    ck_assert_int_eq(inherit_prepare(left, open_stream(pair), 1, -1), 0);
    close(left->listeners[0].fds[1]);
    expect_refusal(-EBADF);
    ck_assert(!is_open(first));
    free_table(left);
}
END_TEST

START_TEST(closed_descriptors)
{
    char value[64];
    int pair[2];
    snprintf(value, sizeof(value), "%ld 1000000 1000000 1", (long)getpid());
    setenv(VARIABLE, value, true);
    expect_refusal(-EBADF);
    snprintf(value, sizeof(value), "%ld 1000000 %d 1", (long)getpid(), open_stream(pair));
    setenv(VARIABLE, value, true);
    expect_refusal(-EBADF);
}
END_TEST

static void set_up(void)
{
    log_set_sink(on_line, NULL);
}

int main(void)
{
    Suite *suite = suite_create("inherit");
    TCase *tests = tcase_create("inherit");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, what_is_left_is_found);
    tcase_add_test(tests, report_is_a_number_a_listener);
    tcase_add_test(tests, nothing_is_left);
    tcase_add_test(tests, left_to_another_process);
    tcase_add_loop_test(tests, odd_variable, 0, sizeof(odd_values) / sizeof(*odd_values));
    tcase_add_loop_test(tests, odd_text, 0, sizeof(odd_texts) / sizeof(*odd_texts));
    tcase_add_loop_test(tests, odd_socket, 0, 3);
    tcase_add_test(tests, one_that_is_missing);
    tcase_add_test(tests, closed_descriptors);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner,
                            CK_FORK); /* descriptors and the environment stay in each test */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
