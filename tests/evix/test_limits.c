/* SPDX-License-Identifier: MIT */
/*
 * More of everything than there is room for: receivers than lent buffers, operations than entries
 * in a submission queue, completions than their queue holds; and errors that will not go away.
 * Does not test what an operation does: test_op.c and test_socket.c do.
 * Run by `make check` on every backend.
 */
#include "each_backend.h"
#include "sockets.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

enum {
    RECEIVERS = 200,
    READS = 20000, /* io_uring's queues hold 1,024 and 8,192 */
    DATA_BYTES = 3000,
};

/* ---- more receivers than buffers ---- */

struct receiver {
    struct evix_socket socket;
    struct evix_op receive;
    size_t received;
    ssize_t end;
    int peer;
};

static struct receiver receivers[RECEIVERS];
static size_t received_in_all;

static void on_receive(struct evix_op *op, ssize_t result)
{
    struct receiver *receiver = EVIX_CONTAINER_OF(op, struct receiver, receive);
    if (!evix_op_more(op)) {
        receiver->end = result;
        return;
    }
    ck_assert_int_gt(result, 0);
    receiver->received += (size_t)result;
    received_in_all += (size_t)result;
}

static void loop_open_with(int row, unsigned buffers, size_t bytes)
{
    struct evix_options options = {
        .backend = usable[row], .receive_buffers = buffers, .receive_buffer_bytes = bytes};
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
}

/*
 * Nobody is closed, nobody is forgotten, and the loop does not turn in vain: with two buffers, and
 * with as many as there are receivers, of which the kernel has few until it is in need of more.
 */
static void receive_more_than_buffers(int row, unsigned buffers)
{
    static const char data[DATA_BYTES];
    struct evix_counters before, after;
    received_in_all = 0;
    memset(receivers, 0, sizeof(receivers));
    loop_open_with(row, buffers, 4096);
    for (int i = 0; i < RECEIVERS; i++) {
        int fds[2];
        tcp_pair(fds);
        receivers[i].end = 1;
        receivers[i].peer = fds[1];
        evix_socket_init(&receivers[i].socket, loop, fds[0]);
        evix_receive(&receivers[i].receive, &receivers[i].socket, on_receive);
    }
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_NOWAIT), 0);
    for (int round = 1; round <= 3; round++) {
        evix_loop_counters(loop, &before);
        for (int i = 0; i < RECEIVERS; i++)
            ck_assert_int_eq(send(receivers[i].peer, data, sizeof(data), 0), sizeof(data));
        while (received_in_all < (size_t)round * RECEIVERS * sizeof(data))
            turn();
        evix_loop_counters(loop, &after);
        ck_assert_uint_le(after.iterations - before.iterations, 4 * RECEIVERS);
    }
    for (int i = 0; i < RECEIVERS; i++) {
        ck_assert_uint_eq(receivers[i].received, 3 * sizeof(data));
        ck_assert_int_eq(receivers[i].end, 1);
        close(receivers[i].peer);
    }
    run_to_end();
    for (int i = 0; i < RECEIVERS; i++) {
        ck_assert_int_eq(receivers[i].end, 0);
        evix_socket_close(&receivers[i].socket, NULL);
    }
    run_to_end();
    loop_close();
}

START_TEST(test_more_receivers_than_buffers)
{
    receive_more_than_buffers(_i, 2);
    receive_more_than_buffers(_i, 256);
}
END_TEST

/* Cancelled while they wait for a buffer, or for anything else. */
START_TEST(test_cancel_starved_receivers)
{
    memset(receivers, 0, sizeof(receivers));
    loop_open_with(_i, 1, 4096);
    for (int i = 0; i < RECEIVERS; i++) {
        int fds[2];
        tcp_pair(fds);
        receivers[i].peer = fds[1];
        evix_socket_init(&receivers[i].socket, loop, fds[0]);
        evix_receive(&receivers[i].receive, &receivers[i].socket, on_receive);
        ck_assert_int_eq(send(fds[1], "data", 4, 0), 4);
    }
    turn();
    for (int i = 0; i < RECEIVERS; i++)
        evix_cancel(&receivers[i].receive);
    run_to_end();
    for (int i = 0; i < RECEIVERS; i++) {
        ck_assert_int_eq(receivers[i].end, -ECANCELED);
        ck_assert_uint_le(receivers[i].received, 4);
        close(receivers[i].peer);
        evix_socket_close(&receivers[i].socket, NULL);
    }
    run_to_end();
    loop_close();
}
END_TEST

/* ---- more operations than queues hold ---- */

struct reading {
    struct evix_op op;
    struct evix_file_request request;
    char byte;
    ssize_t result;
};

static int reads_done;

static void on_read(struct evix_op *op, ssize_t result)
{
    EVIX_CONTAINER_OF(op, struct reading, op)->result = result;
    reads_done++;
}

static struct reading *start_reads(int fd)
{
    struct reading *readings = calloc(READS, sizeof(*readings));
    ck_assert_ptr_nonnull(readings);
    for (int i = 0; i < READS; i++)
        evix_file_read(&readings[i].op, loop, &readings[i].request, fd, &readings[i].byte, 1, 0,
                       on_read);
    return readings;
}

static int open_something(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

START_TEST(test_more_operations_than_entries)
{
    reads_done = 0;
    loop_open(_i);
    int fd = open_something();
    struct reading *readings = start_reads(fd);
    run_to_end();
    ck_assert_int_eq(reads_done, READS);
    int right = 0;
    for (int i = 0; i < READS; i++)
        right += readings[i].result == 1 && readings[i].byte == '\x7f';
    ck_assert_int_eq(right, READS);
    free(readings);
    close(fd);
    loop_close();
}
END_TEST

/* In the first callback, so with the others in the kernel, in a queue, or complete. */
static struct reading *to_cancel;

static void on_read_cancel_all(struct evix_op *op, ssize_t result)
{
    on_read(op, result);
    if (reads_done == 1)
        for (int i = 0; i < READS; i++)
            evix_cancel(&to_cancel[i].op);
}

START_TEST(test_cancel_more_operations_than_entries)
{
    reads_done = 0;
    loop_open(_i);
    int fd = open_something();
    to_cancel = start_reads(fd);
    for (int i = 0; i < READS; i++)
        to_cancel[i].op.fn = on_read_cancel_all;
    run_to_end();
    ck_assert_int_eq(reads_done, READS);
    int right = 0;
    for (int i = 0; i < READS; i++)
        right += to_cancel[i].result == 1 || to_cancel[i].result == -ECANCELED;
    ck_assert_int_eq(right, READS);
    free(to_cancel);
    close(fd);
    loop_close();
}
END_TEST

/* ---- errors that stay ---- */

static int accept_ends;
static ssize_t accept_result;

static void on_accept(struct evix_op *op, ssize_t result)
{
    ck_assert(!evix_op_more(op));
    accept_ends++;
    accept_result = result;
}

/* On a socket that does not listen the error is the same each time: it ends, once. */
START_TEST(test_accept_that_never_works)
{
    struct evix_socket listener;
    struct evix_op op;
    struct evix_counters counters;
    accept_ends = 0;
    loop_open(_i);
    evix_socket_init(&listener, loop, bind_loopback());
    evix_accept(&op, &listener, on_accept);
    run_to_end();
    ck_assert_int_eq(accept_ends, 1);
    ck_assert_int_eq(accept_result, -EINVAL);
    evix_loop_counters(loop, &counters);
    ck_assert_uint_le(counters.iterations, 3);
    evix_socket_close(&listener, NULL);
    run_to_end();
    loop_close();
}
END_TEST

/* ---- a loop that is made in one thread and lives in another ---- */

static void *run_in_thread(void *data)
{
    int *fd = data;
    struct reading reading = {.result = -1};
    evix_file_read(&reading.op, loop, &reading.request, *fd, &reading.byte, 1, 0, on_read);
    int left = evix_loop_run(loop, EVIX_RUN_DEFAULT);
    evix_loop_free(&loop);
    *fd = left == 0 && reading.result == 1 ? 0 : -1;
    return NULL;
}

START_TEST(test_made_in_another_thread)
{
    pthread_t thread;
    loop_open(_i);
    int fd = open_something();
    int outcome = fd;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_in_thread, &outcome), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(outcome, 0);
    close(fd);
}
END_TEST

/*
 * Kernels before 5.12 count rings against the limit of locked memory; then the next backend is
 * taken. Whatever the kernel does, there is a loop and it works.
 */
START_TEST(test_no_memory_may_be_locked)
{
    struct rlimit none = {0, 0};
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    ck_assert_int_eq(evix_loop_new(&loop, NULL), 0);
    int fd = open_something();
    struct reading reading;
    evix_file_read(&reading.op, loop, &reading.request, fd, &reading.byte, 1, 0, on_read);
    run_to_end();
    ck_assert_int_eq(reading.result, 1);
    close(fd);
    loop_close();
}
END_TEST

int main(void)
{
    find_usable();
    Suite *suite = suite_create("limits");
    TCase *cases = tcase_create("limits");
    tcase_set_timeout(cases, 30);
    add_for_each(cases, test_more_receivers_than_buffers);
    add_for_each(cases, test_cancel_starved_receivers);
    add_for_each(cases, test_more_operations_than_entries);
    add_for_each(cases, test_cancel_more_operations_than_entries);
    add_for_each(cases, test_accept_that_never_works);
    add_for_each(cases, test_made_in_another_thread);
    tcase_add_test(cases, test_no_memory_may_be_locked);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
