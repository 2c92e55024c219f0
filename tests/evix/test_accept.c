/* SPDX-License-Identifier: MIT */
/*
 * Errors of accept(2) that pass: no connection that waits is left to wait for the next one. An
 * error that leaves its connection in the queue cannot be had from the kernel at will (a security
 * module's EPERM is one), so accept4(2), as the library calls it, fails as often as a case wants.
 * evix/op.h and src/evix/accept.c.
 */
#include "each_backend.h"
#include "sockets.h"

#include <evix/evix.h>

static const int passing[] = {
    ECONNABORTED, EPROTO,      EPERM,      ENETDOWN,  ENETUNREACH, EHOSTDOWN,
    EHOSTUNREACH, ENOPROTOOPT, EOPNOTSUPP, ETIMEDOUT, ENONET,      EINTR,
};
enum { ERRORS = sizeof(passing) / sizeof(passing[0]), CLIENTS = 6 };

static int failures_left;
static int error_given;
static int accepted;
static ssize_t last_result;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    if (failures_left > 0) {
        failures_left--;
        errno = error_given;
        return -1;
    }
    return __real_accept4(fd, address, length, flags);
}

static struct evix_socket listener;
static struct evix_op op;

static void on_accepted(struct evix_op *done, ssize_t result)
{
    last_result = result;
    if (result >= 0) {
        close((int)result);
        accepted++;
    }
    (void)done;
}

/* Connections that wait already, and accepting that begins with `failures` errors. */
static void begin(int row, int clients[], int count, int failures, int error)
{
    int fd = listen_loopback();
    struct sockaddr_in address = address_of(fd);
    failures_left = failures;
    error_given = error;
    accepted = 0;
    for (int i = 0; i < count; i++)
        clients[i] = connect_to(&address);
    loop_open(row);
    evix_socket_init(&listener, loop, fd);
    evix_accept(&op, &listener, on_accepted);
}

static void end(const int clients[], int count)
{
    for (int i = 0; i < count; i++)
        close(clients[i]);
    evix_socket_close(&listener, NULL);
    run_to_end();
    loop_close();
}

/* No new client comes to the rescue: the loop would sleep until the case's time is over. */
static void serve_all(int row, int count, int failures, int error)
{
    int clients[CLIENTS];
    begin(row, clients, count, failures, error);
    while (accepted < count)
        turn();
    ck_assert_int_eq(failures_left, 0);
    end(clients, count);
}

/* Of a listener that the kernel watches already: to begin with that tells what is there. */
START_TEST(test_one_waits)
{
    for (int i = 0; i < ERRORS; i++) {
        int clients[2];
        begin(_i, clients, 1, 0, passing[i]);
        struct sockaddr_in address = address_of(listener.fd);
        while (accepted < 1)
            turn();
        failures_left = 1;
        clients[1] = connect_to(&address);
        while (accepted < 2)
            turn();
        ck_assert_int_eq(failures_left, 0);
        end(clients, 2);
    }
}
END_TEST

START_TEST(test_several_wait)
{
    for (int failures = 1; failures <= CLIENTS + 1; failures++)
        serve_all(_i, CLIENTS, failures, EPERM);
}
END_TEST

/* Else a rule that refuses everybody would turn the loop for ever. */
START_TEST(test_no_end_of_them)
{
    int client;
    begin(_i, &client, 1, 1000, EPERM);
    last_result = 0;
    while (last_result == 0)
        turn();
    ck_assert_int_eq((int)last_result, -EPERM);
    ck_assert_int_eq(accepted, 0);
    ck_assert_int_ge(failures_left, 900);
    end(&client, 1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("accept");
    TCase *cases = tcase_create("passing errors");
    tcase_set_timeout(cases, 20);
    add_for_each(cases, test_one_waits);
    add_for_each(cases, test_several_wait);
    add_for_each(cases, test_no_end_of_them);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
