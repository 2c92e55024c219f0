/* SPDX-License-Identifier: MIT */
/*
 * The price of a request on epoll in system calls: one receive, one send, no epoll_ctl, and less
 * than one wait. Counts them by standing in front of the C library's functions.
 * Run by `make check`; skipped where there is no epoll.
 */
#include "each_backend.h"
#include "sockets.h"

#include <dlfcn.h>
#ifdef __linux__
#include <sys/epoll.h>
#endif

static unsigned long receives, sends, controls, waits;
static bool is_counting;

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

ssize_t recv(int fd, void *memory, size_t bytes, int flags)
{
    static ssize_t (*next)(int, void *, size_t, int);
    if (!next)
        *(void **)&next = real("recv");
    receives += is_counting;
    return next(fd, memory, bytes, flags);
}

ssize_t send(int fd, const void *memory, size_t bytes, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);
    if (!next)
        *(void **)&next = real("send");
    sends += is_counting;
    return next(fd, memory, bytes, flags);
}

#ifdef __linux__

int epoll_ctl(int epoll_fd, int action, int fd, struct epoll_event *event)
{
    static int (*next)(int, int, int, struct epoll_event *);
    if (!next)
        *(void **)&next = real("epoll_ctl");
    controls += is_counting;
    return next(epoll_fd, action, fd, event);
}

int epoll_wait(int epoll_fd, struct epoll_event *events, int count, int timeout)
{
    static int (*next)(int, struct epoll_event *, int, int);
    if (!next)
        *(void **)&next = real("epoll_wait");
    waits += is_counting;
    return next(epoll_fd, events, count, timeout);
}

enum { PAIRS = 16, MESSAGES = 20000 };

struct end {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct iovec iov;
};

static struct end ends[2 * PAIRS];
static char message[100];
static int messages;

static void on_sent(struct evix_op *op, ssize_t result)
{
    (void)op;
    ck_assert(result == sizeof(message) || !is_counting); /* those of the end are cancelled */
}

static void send_message(struct end *end)
{
    end->iov = (struct iovec){.iov_base = message, .iov_len = sizeof(message)};
    evix_send(&end->send, &end->socket, &end->iov, 1, 0, on_sent);
}

/* Every message is answered with one, for ever. */
static void on_receive(struct evix_op *op, ssize_t result)
{
    if (!evix_op_more(op))
        return;
    ck_assert_int_eq(result, sizeof(message));
    if (++messages == MESSAGES)
        evix_loop_stop(loop);
    send_message(EVIX_CONTAINER_OF(op, struct end, receive));
}

static void exchange(void)
{
    messages = 0;
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 1);
}

START_TEST(test_calls_of_a_request)
{
    struct evix_options options = {.backend = EVIX_BACKEND_EPOLL};
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    for (int i = 0; i < PAIRS; i++) {
        int fds[2];
        tcp_pair(fds);
        for (int side = 0; side < 2; side++) {
            struct end *end = &ends[2 * i + side];
            evix_socket_init(&end->socket, loop, fds[side]);
            evix_receive(&end->receive, &end->socket, on_receive);
        }
        send_message(&ends[2 * i]);
    }
    exchange();
    is_counting = true;
    exchange();
    is_counting = false;
    /* What is under way when counting starts and ends is a matter of one message a socket. */
    ck_assert_uint_le(receives, MESSAGES + 2 * PAIRS);
    ck_assert_uint_ge(receives, MESSAGES - 2 * PAIRS);
    ck_assert_uint_le(sends, MESSAGES + 2 * PAIRS);
    ck_assert_uint_ge(sends, MESSAGES - 2 * PAIRS);
    ck_assert_uint_eq(controls, 0);
    ck_assert_uint_le(waits, MESSAGES / 2);
    for (int i = 0; i < 2 * PAIRS; i++)
        evix_socket_close(&ends[i].socket, NULL);
    run_to_end();
    loop_close();
}
END_TEST

/* A request that is there when the receive starts, and whose answer fits: never registered. */

static void on_receive_and_close(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, receive);
    if (evix_op_more(op) && result == sizeof(message))
        send_message(end);
}

static void on_accept(struct evix_op *op, ssize_t result)
{
    if (!evix_op_more(op))
        return;
    evix_socket_init(&ends[1].socket, op->socket->handle.loop, (int)result);
    evix_receive(&ends[1].receive, &ends[1].socket, on_receive_and_close);
}

START_TEST(test_short_connection_registers_once_at_most)
{
    struct evix_options options = {.backend = EVIX_BACKEND_EPOLL};
    struct evix_op accept_op;
    char answer[sizeof(message)];
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    evix_socket_init(&ends[0].socket, loop, listen_loopback());
    struct sockaddr_in address = address_of(ends[0].socket.fd);
    evix_accept(&accept_op, &ends[0].socket, on_accept);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    int client = connect_to(&address);
    ck_assert_int_eq(send(client, message, sizeof(message), 0), sizeof(message));
    controls = 0;
    is_counting = true;
    while (recv(client, answer, sizeof(answer), MSG_PEEK) != sizeof(answer))
        turn();
    is_counting = false;
    ck_assert_uint_le(controls, 1);
    close(client);
    evix_socket_close(&ends[0].socket, NULL);
    evix_socket_close(&ends[1].socket, NULL);
    run_to_end();
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("calls");
    TCase *cases = tcase_create("calls");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, test_calls_of_a_request);
    tcase_add_test(cases, test_short_connection_registers_once_at_most);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    return run_suite(make_suite());
}

#else

int main(void)
{
    return 77;
}

#endif
