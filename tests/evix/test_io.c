/* SPDX-License-Identifier: MIT */
/*
 * Readiness watchers: what is delivered, and stopping, freeing and reusing anything inside a batch.
 * Operations on sockets are in test_socket.c and test_op.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

#include <sys/stat.h>

enum { PIPES = 16 };

static int pipes[PIPES][2];
static struct evix_io *watchers[PIPES];
static int calls;
static unsigned last_events;

static void open_pipes(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pipe(pipes[i]), 0);
}

static void close_pipes(int count)
{
    for (int i = 0; i < count; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

static void on_count(struct evix_io *io, unsigned events)
{
    (void)io;
    calls++;
    last_events = events;
}

START_TEST(test_level_triggered)
{
    struct evix_io io;
    char byte;
    loop_open(_i);
    calls = 0;
    open_pipes(1);
    evix_io_init(&io, loop, pipes[0][0], on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(calls, 0);
    ck_assert_int_eq(write(pipes[0][1], "x", 1), 1);
    turn();
    turn();
    turn();
    ck_assert_int_eq(calls, 3); /* as long as it is not read */
    ck_assert_uint_eq(last_events, EVIX_READ);
    ck_assert_int_eq(read(pipes[0][0], &byte, 1), 1);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(calls, 3);
    evix_io_stop(&io);
    evix_io_stop(&io);
    loop_close();
    close_pipes(1);
}
END_TEST

static void on_one_shot(struct evix_io *io, unsigned events)
{
    ck_assert(!evix_is_active(&io->handle));
    on_count(io, events);
    if (calls < 3)
        ck_assert_int_eq(evix_io_start(io, EVIX_WRITE | EVIX_ONE_SHOT), 0);
}

START_TEST(test_one_shot)
{
    struct evix_io io;
    loop_open(_i);
    calls = 0;
    open_pipes(1);
    evix_io_init(&io, loop, pipes[0][1], on_one_shot);
    ck_assert_int_eq(evix_io_start(&io, EVIX_WRITE | EVIX_ONE_SHOT), 0);
    turn();
    ck_assert_int_eq(calls, 1); /* started again inside: not called again in the batch */
    run_to_end();
    ck_assert_int_eq(calls, 3);
    ck_assert_uint_eq(last_events, EVIX_WRITE);
    loop_close();
    close_pipes(1);
}
END_TEST

START_TEST(test_changing_events)
{
    struct evix_io io;
    int pair[2];
    loop_open(_i);
    calls = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    evix_io_init(&io, loop, pair[0], on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(calls, 0);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ | EVIX_WRITE), 0);
    turn();
    ck_assert_uint_eq(last_events, EVIX_WRITE);
    ck_assert_int_eq(write(pair[1], "x", 1), 1);
    turn();
    ck_assert_uint_eq(last_events, EVIX_READ | EVIX_WRITE);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), 0);
    turn();
    ck_assert_uint_eq(last_events, EVIX_READ);
    evix_io_stop(&io);
    loop_close();
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* The interests of two watchers of one descriptor are one union, whoever leaves it. */
START_TEST(test_two_watchers_share_a_descriptor)
{
    struct evix_io reader, writer, other;
    int pair[2];
    loop_open(_i);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    evix_io_init(&reader, loop, pair[0], on_count);
    evix_io_init(&writer, loop, pair[0], on_count);
    evix_io_init(&other, loop, pair[0], on_count);
    ck_assert_int_eq(evix_io_start(&reader, EVIX_READ), 0);
    ck_assert_int_eq(evix_io_start(&writer, EVIX_WRITE), 0);
    ck_assert_int_eq(evix_io_start(&other, EVIX_READ | EVIX_WRITE), 0);
    ck_assert_int_eq(write(pair[1], "x", 1), 1);
    calls = 0;
    turn();
    ck_assert_int_eq(calls, 3);
    evix_io_stop(&other);
    calls = 0;
    turn();
    ck_assert_int_eq(calls, 2);
    evix_io_stop(&writer);
    calls = 0;
    turn();
    ck_assert_int_eq(calls, 1);
    ck_assert_uint_eq(last_events, EVIX_READ);
    ck_assert_int_eq(evix_io_start(&writer, EVIX_WRITE), 0);
    evix_io_stop(&reader);
    calls = 0;
    turn();
    ck_assert_int_eq(calls, 1);
    ck_assert_uint_eq(last_events, EVIX_WRITE);
    evix_io_stop(&writer);
    loop_close();
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* Whoever is called first stops (and frees) all, itself and those later in the batch. */
static void on_free_all(struct evix_io *io, unsigned events)
{
    (void)io;
    (void)events;
    calls++;
    for (int i = 0; i < PIPES; i++) {
        evix_io_stop(watchers[i]);
        free(watchers[i]);
        watchers[i] = NULL;
    }
}

/* `shared`: all watch one descriptor, else one each. */
static void free_all_in_a_batch(int row, bool shared)
{
    loop_open(row);
    calls = 0;
    open_pipes(PIPES);
    for (int i = 0; i < PIPES; i++) {
        watchers[i] = malloc(sizeof(*watchers[i]));
        ck_assert_ptr_nonnull(watchers[i]);
        evix_io_init(watchers[i], loop, pipes[shared ? 0 : i][0], on_free_all);
        ck_assert_int_eq(evix_io_start(watchers[i], EVIX_READ), 0);
        ck_assert_int_eq(write(pipes[i][1], "x", 1), 1);
    }
    run_to_end();
    ck_assert_int_eq(calls, 1);
    loop_close();
    close_pipes(PIPES);
}

START_TEST(test_free_all_in_a_batch)
{
    free_all_in_a_batch(_i, false);
    free_all_in_a_batch(_i, true);
}
END_TEST

/*
 * Whoever is called first closes all other descriptors, opens as many that are not readable (the
 * numbers are taken again), and watches those.
 */
static void on_reuse(struct evix_io *io, unsigned events)
{
    (void)events;
    ck_assert_int_eq(calls++, 0);
    for (int i = 0; i < PIPES; i++)
        evix_io_stop(watchers[i]);
    for (int i = 0; i < PIPES; i++)
        if (watchers[i] != io) {
            close(pipes[i][0]);
            close(pipes[i][1]);
        }
    for (int i = 0; i < PIPES; i++)
        if (watchers[i] != io) {
            ck_assert_int_eq(pipe(pipes[i]), 0);
            evix_io_init(watchers[i], loop, pipes[i][0], on_reuse);
            ck_assert_int_eq(evix_io_start(watchers[i], EVIX_READ), 0);
        }
}

START_TEST(test_number_reused_in_a_batch)
{
    static struct evix_io memory[PIPES];
    loop_open(_i);
    calls = 0;
    open_pipes(PIPES);
    for (int i = 0; i < PIPES; i++) {
        watchers[i] = &memory[i];
        evix_io_init(watchers[i], loop, pipes[i][0], on_reuse);
        ck_assert_int_eq(evix_io_start(watchers[i], EVIX_READ), 0);
        ck_assert_int_eq(write(pipes[i][1], "x", 1), 1);
    }
    turn();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(calls, 1);
    for (int i = 0; i < PIPES; i++)
        evix_io_stop(watchers[i]);
    loop_close();
    close_pipes(PIPES);
}
END_TEST

static struct evix_timer end_timer;
static struct evix_io hangup_io;

static void on_end(struct evix_timer *timer)
{
    (void)timer;
    evix_io_stop(&hangup_io);
}

/* A hang-up that nobody reads of must not turn the loop. */
START_TEST(test_hangup_does_not_spin)
{
    int pair[2];
    struct evix_counters before, after;
    loop_open(_i);
    calls = 0;
    open_pipes(1);
    tcp_pair(pair);
    evix_io_init(&hangup_io, loop, pair[0], on_count);
    ck_assert_int_eq(evix_io_start(&hangup_io, EVIX_READ), 0);
    evix_io_stop(&hangup_io);
    reset_close(pair[1]);
    evix_io_init(&hangup_io, loop, pipes[0][0], on_count);
    ck_assert_int_eq(evix_io_start(&hangup_io, EVIX_READ), 0);
    evix_timer_init(&end_timer, loop, on_end);
    evix_timer_start(&end_timer, 50, 0);
    evix_loop_counters(loop, &before);
    run_to_end();
    evix_loop_counters(loop, &after);
    ck_assert_int_eq(calls, 0);
    ck_assert_uint_le(after.iterations - before.iterations, 5);
    loop_close();
    close(pair[0]);
    close_pipes(1);
}
END_TEST

START_TEST(test_hangup_is_told)
{
    struct evix_io io;
    int pair[2];
    loop_open(_i);
    tcp_pair(pair);
    evix_io_init(&io, loop, pair[0], on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), 0);
    reset_close(pair[1]);
    calls = 0;
    turn();
    ck_assert_int_eq(calls, 1);
    ck_assert_uint_eq(last_events, EVIX_READ | EVIX_HANGUP);
    evix_io_stop(&io);
    loop_close();
    close(pair[0]);
}
END_TEST

START_TEST(test_refusals)
{
    char name[] = "/tmp/evix-test-io-XXXXXX";
    struct evix_io io;
    loop_open(_i);
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    unlink(name);
    evix_io_init(&io, loop, file, on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), -EPERM);
    ck_assert_int_eq(evix_io_start(&io, EVIX_ONE_SHOT), -EINVAL);
    ck_assert(!evix_is_active(&io.handle));
    close(file);
    evix_io_init(&io, loop, file, on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), -EBADF);
    evix_io_init(&io, loop, -1, on_count);
    ck_assert_int_eq(evix_io_start(&io, EVIX_WRITE), -EBADF);
    evix_io_stop(&io);
    loop_close();
}
END_TEST

/* The table grows while a callback of a low descriptor is on the stack. */

static struct evix_io high_io;
static int high_fd;

static void on_grow(struct evix_io *io, unsigned events)
{
    (void)events;
    evix_io_stop(io);
    high_fd = fcntl(pipes[0][0], F_DUPFD, 700);
    ck_assert_int_ge(high_fd, 700);
    evix_io_init(&high_io, loop, high_fd, on_one_shot);
    ck_assert_int_eq(evix_io_start(&high_io, EVIX_READ | EVIX_ONE_SHOT), 0);
}

START_TEST(test_table_grows_inside)
{
    struct evix_io io;
    loop_open(_i);
    calls = 3;
    open_pipes(1);
    ck_assert_int_eq(write(pipes[0][1], "x", 1), 1);
    evix_io_init(&io, loop, pipes[0][0], on_grow);
    ck_assert_int_eq(evix_io_start(&io, EVIX_READ), 0);
    run_to_end();
    ck_assert_int_eq(calls, 4);
    loop_close();
    close(high_fd);
    close_pipes(1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("io");
    TCase *cases = tcase_create("io");
    tcase_set_timeout(cases, 20);
    add_for_each(cases, test_level_triggered);
    add_for_each(cases, test_one_shot);
    add_for_each(cases, test_changing_events);
    add_for_each(cases, test_two_watchers_share_a_descriptor);
    add_for_each(cases, test_free_all_in_a_batch);
    add_for_each(cases, test_number_reused_in_a_batch);
    add_for_each(cases, test_hangup_does_not_spin);
    add_for_each(cases, test_hangup_is_told);
    add_for_each(cases, test_refusals);
    add_for_each(cases, test_table_grows_inside);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
