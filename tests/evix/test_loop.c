/* SPDX-License-Identifier: MIT */
/*
 * The loop: order of an iteration, what keeps it alive, its modes, posts, hooks, diagnosis.
 * Timers, watchers, signals, wake-ups and operations have tests of their own.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

#include <signal.h>
#include <time.h>

/* What ran, in order: a letter each. */
static char trail[256];

static void mark(char letter)
{
    size_t length = strlen(trail);
    ck_assert_uint_lt(length, sizeof(trail) - 1);
    trail[length] = letter;
    trail[length + 1] = '\0';
}

static void clear_trail(void)
{
    memset(trail, 0, sizeof(trail));
}

/* ---- the order of an iteration ---- */

static struct evix_post post_p;
static struct evix_hook prepare_h, check_h;
static struct evix_timer timer_t1;
static struct evix_io io_i;
static struct evix_signal signal_s;
static struct evix_socket socket_c;
static struct evix_async async_a;

static void on_post(struct evix_post *post)
{
    (void)post;
    mark('p');
}

static void on_prepare(struct evix_hook *hook)
{
    (void)hook;
    mark('b');
}

static void on_check(struct evix_hook *hook)
{
    (void)hook;
    mark('c');
}

static void on_timer(struct evix_timer *timer)
{
    (void)timer;
    mark('t');
}

static void on_io(struct evix_io *io, unsigned events)
{
    ck_assert_uint_eq(events, EVIX_READ);
    evix_io_stop(io);
    mark('i');
}

static void on_signal(struct evix_signal *signal, int number)
{
    ck_assert_int_eq(number, SIGUSR1);
    evix_signal_stop(signal);
    mark('s');
}

static void on_closed(struct evix_socket *socket)
{
    ck_assert_int_eq(socket->fd, -1);
    mark('x');
}

START_TEST(test_order_of_an_iteration)
{
    int fds[2], pair[2];
    loop_open(_i);
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    evix_socket_init(&socket_c, loop, pair[0]);
    evix_socket_close(&socket_c, on_closed);
    evix_timer_init(&timer_t1, loop, on_timer);
    evix_timer_start(&timer_t1, 0, 0);
    evix_hook_start(&check_h, loop, EVIX_HOOK_CHECK, on_check);
    evix_hook_start(&prepare_h, loop, EVIX_HOOK_PREPARE, on_prepare);
    evix_signal_init(&signal_s, loop, on_signal);
    ck_assert_int_eq(evix_signal_start(&signal_s, SIGUSR1), 0);
    raise(SIGUSR1); /* before the pipe is written: watchers come first all the same */
    evix_io_init(&io_i, loop, fds[0], on_io);
    ck_assert_int_eq(evix_io_start(&io_i, EVIX_READ), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    evix_post_init(&post_p, loop, on_post);
    evix_post(&post_p);

    clear_trail();
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
    ck_assert_str_eq(trail, "pbisctx");

    evix_hook_stop(&check_h);
    evix_hook_stop(&prepare_h);
    loop_close();
    close(fds[0]);
    close(fds[1]);
    close(pair[1]);
}
END_TEST

/* ---- posts ---- */

static struct evix_post posts[4];
static int rounds;

static void on_numbered_post(struct evix_post *post)
{
    mark((char)('0' + (post - posts)));
}

START_TEST(test_posts_run_once_in_order)
{
    loop_open(_i);
    for (int i = 0; i < 4; i++)
        evix_post_init(&posts[i], loop, on_numbered_post);
    evix_post(&posts[2]);
    evix_post(&posts[0]);
    evix_post(&posts[3]);
    evix_post(&posts[2]);
    evix_post(&posts[1]);
    evix_post_cancel(&posts[3]);
    evix_post_cancel(&posts[3]);
    clear_trail();
    run_to_end();
    ck_assert_str_eq(trail, "201");
    loop_close();
}
END_TEST

static void on_post_cancels(struct evix_post *post)
{
    mark('0');
    evix_post_cancel(&posts[1]);
    evix_post(&posts[3]);
    if (++rounds < 2)
        evix_post(post);
}

START_TEST(test_post_added_meanwhile_waits_a_turn)
{
    loop_open(_i);
    rounds = 0;
    for (int i = 0; i < 4; i++)
        evix_post_init(&posts[i], loop, i == 0 ? on_post_cancels : on_numbered_post);
    evix_post(&posts[0]);
    evix_post(&posts[1]);
    evix_post(&posts[2]);
    clear_trail();
    turn();
    ck_assert_str_eq(trail, "02");
    turn();
    ck_assert_str_eq(trail, "0230"); /* and 3 again, posted by the second run of 0 */
    turn();
    ck_assert_str_eq(trail, "02303");
    loop_close();
}
END_TEST

static void on_post_again(struct evix_post *post)
{
    rounds++;
    evix_post(post);
}

static void on_pipe_stop_posting(struct evix_io *io, unsigned events)
{
    (void)events;
    evix_io_stop(io);
    evix_post_cancel(&posts[0]);
}

START_TEST(test_posting_does_not_starve_io)
{
    int fds[2];
    loop_open(_i);
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    evix_io_init(&io_i, loop, fds[0], on_pipe_stop_posting);
    ck_assert_int_eq(evix_io_start(&io_i, EVIX_READ), 0);
    rounds = 0;
    evix_post_init(&posts[0], loop, on_post_again);
    evix_post(&posts[0]);
    run_to_end();
    ck_assert_int_eq(rounds, 1);
    loop_close();
    close(fds[0]);
    close(fds[1]);
}
END_TEST

/* ---- hooks ---- */

static struct evix_hook hooks[3];

static void on_numbered_hook(struct evix_hook *hook)
{
    mark((char)('0' + (hook - hooks)));
    if (hook == &hooks[0]) {
        evix_hook_stop(&hooks[0]);
        evix_hook_stop(&hooks[1]);
        evix_hook_start(&hooks[0], loop, EVIX_HOOK_PREPARE, on_numbered_hook);
    }
}

START_TEST(test_hooks_may_stop_each_other)
{
    loop_open(_i);
    for (int i = 0; i < 3; i++)
        evix_hook_start(&hooks[i], loop, EVIX_HOOK_PREPARE, on_numbered_hook);
    ck_assert(!evix_loop_alive(loop)); /* a hook keeps nothing alive */
    clear_trail();
    turn();
    ck_assert_str_eq(trail, "02"); /* what joined meanwhile waits */
    turn();
    ck_assert_str_eq(trail, "0220");
    evix_hook_stop(&hooks[0]);
    evix_hook_stop(&hooks[2]);
    loop_close();
}
END_TEST

/* ---- life ---- */

START_TEST(test_ends_when_nothing_is_left)
{
    loop_open(_i);
    run_to_end(); /* nothing at all */
    evix_timer_init(&timer_t1, loop, on_timer);
    evix_timer_start(&timer_t1, 1, 0);
    ck_assert(evix_loop_alive(loop));
    run_to_end();
    loop_close();
}
END_TEST

static void on_async(struct evix_async *async)
{
    (void)async;
    mark('a');
}

START_TEST(test_unreferenced_handle_keeps_nothing_alive)
{
    loop_open(_i);
    evix_timer_init(&timer_t1, loop, on_timer);
    evix_timer_start(&timer_t1, 3600 * 1000, 0);
    evix_unref(&timer_t1.handle);
    ck_assert_int_eq(evix_async_start(&async_a, loop, on_async), 0);
    ck_assert(evix_loop_alive(loop));
    evix_unref(&async_a.handle);
    evix_unref(&async_a.handle); /* the second one is harmless */
    ck_assert(!evix_loop_alive(loop));
    run_to_end();
    evix_ref(&async_a.handle);
    ck_assert(evix_loop_alive(loop));
    evix_async_stop(&async_a);
    evix_timer_stop(&timer_t1);
    ck_assert(!evix_is_active(&timer_t1.handle));
    loop_close();
}
END_TEST

static struct evix_op op_unreferenced;

static void on_cancelled(struct evix_op *op, ssize_t result)
{
    (void)op;
    ck_assert_int_eq(result, -ECANCELED);
    mark('o');
}

START_TEST(test_unreferenced_socket)
{
    int pair[2];
    loop_open(_i);
    clear_trail();
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    evix_socket_init(&socket_c, loop, pair[0]);
    evix_receive(&op_unreferenced, &socket_c, on_cancelled);
    ck_assert(evix_is_active(&socket_c.handle));
    evix_unref(&socket_c.handle);
    ck_assert(!evix_loop_alive(loop));
    run_to_end();
    evix_ref(&socket_c.handle);
    ck_assert(evix_loop_alive(loop));
    evix_unref(&socket_c.handle);
    evix_socket_close(&socket_c, on_closed); /* closing is done whatever the reference */
    ck_assert(evix_loop_alive(loop));
    run_to_end();
    ck_assert_str_eq(trail, "ox");
    loop_close();
    close(pair[1]);
}
END_TEST

static void on_timer_stop_loop(struct evix_timer *timer)
{
    (void)timer;
    evix_loop_stop(loop);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_ONCE), -EBUSY);
}

START_TEST(test_stop_and_modes)
{
    loop_open(_i);
    evix_timer_init(&timer_t1, loop, on_timer_stop_loop);
    evix_timer_start(&timer_t1, 1, 1);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 1);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 1); /* the stop is used up */
    evix_timer_start(&timer_t1, 3600 * 1000, 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    evix_loop_stop(loop);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 1);
    evix_timer_stop(&timer_t1);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
    loop_close();
}
END_TEST

/* ---- diagnosis ---- */

static char reported[512];
static int reports;

static void on_report(void *data, const char *text)
{
    ck_assert_ptr_eq(data, &reports);
    ck_assert_ptr_null(strchr(text, '\n'));
    snprintf(reported, sizeof(reported), "%s", text);
    reports++;
}

static void on_timer_slow(struct evix_timer *timer)
{
    struct timespec pause = {.tv_nsec = 3000000};
    (void)timer;
    nanosleep(&pause, NULL);
}

START_TEST(test_slow_callback_is_reported)
{
    struct evix_options options = {.backend = usable[_i],
                                   .slow_callback_ns = 2000000,
                                   .report = on_report,
                                   .report_data = &reports};
    struct evix_counters counters;
    reports = 0;
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    evix_timer_init(&timer_t1, loop, on_timer_slow);
    evix_timer_start(&timer_t1, 0, 0);
    run_to_end();
    ck_assert_int_eq(reports, 1);
    ck_assert_ptr_nonnull(strstr(reported, "of a timer held the loop for "));
    ck_assert_ptr_nonnull(strstr(reported, "test_loop"));
    evix_loop_counters(loop, &counters);
    ck_assert_uint_eq(counters.slow_callbacks, 1);
    ck_assert_uint_eq(counters.callbacks, 1);
    ck_assert_uint_ge(counters.iterations, 1);
    loop_close();
}
END_TEST

START_TEST(test_counters)
{
    struct evix_counters counters;
    loop_open(_i);
    evix_loop_counters(loop, &counters);
    ck_assert_uint_eq(counters.iterations, 0);
    evix_timer_init(&timer_t1, loop, on_timer_slow);
    evix_timer_start(&timer_t1, 0, 0);
    run_to_end();
    evix_timer_start(&timer_t1, 0, 0);
    turn();
    turn(); /* the poll of this one closes the account of the one before */
    evix_loop_counters(loop, &counters);
    ck_assert_uint_ge(counters.waits, 2);
    ck_assert_uint_eq(counters.callbacks, 2);
    ck_assert_uint_eq(counters.slow_callbacks, 0);
    ck_assert_uint_eq(counters.operations, 0);
    loop_close();
}
END_TEST

START_TEST(test_leftovers_are_reported)
{
    struct evix_options options = {
        .backend = usable[_i], .report = on_report, .report_data = &reports};
    reports = 0;
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    evix_timer_init(&timer_t1, loop, on_timer);
    evix_timer_start(&timer_t1, 1000, 0);
    evix_post_init(&posts[0], loop, on_numbered_post);
    evix_post(&posts[0]);
    evix_hook_start(&prepare_h, loop, EVIX_HOOK_PREPARE, on_prepare);
    ck_assert_int_eq(evix_async_start(&async_a, loop, on_async), 0);
    evix_signal_init(&signal_s, loop, on_signal);
    ck_assert_int_eq(evix_signal_start(&signal_s, SIGUSR1), 0);
    evix_io_init(&io_i, loop, 0, on_io);
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    evix_io_init(&io_i, loop, fds[0], on_io);
    ck_assert_int_eq(evix_io_start(&io_i, EVIX_READ), 0);
    evix_loop_free(&loop);
    ck_assert_ptr_null(loop);
    ck_assert_int_eq(reports, 1);
    ck_assert_ptr_nonnull(strstr(reported, "5 handles"));
    ck_assert(!evix_is_active(&timer_t1.handle));
    ck_assert(!evix_is_active(&posts[0].handle));
    ck_assert(!evix_is_active(&io_i.handle));
    ck_assert(!evix_is_active(&signal_s.handle));
    ck_assert(!evix_is_active(&async_a.handle));
    close(fds[0]);
    close(fds[1]);
    evix_loop_free(&loop); /* NULL is fine */
}
END_TEST

START_TEST(test_now_moves)
{
    loop_open(_i);
    uint64_t before = evix_now_ns(loop);
    struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
    ck_assert_uint_eq(evix_now_ns(loop), before);
    evix_now_update(loop);
    ck_assert_uint_ge(evix_now_ns(loop), before + 2000000);
    ck_assert_uint_eq(evix_now_ms(loop), evix_now_ns(loop) / 1000000);
    loop_close();
}
END_TEST

/* ---- which backend ---- */

START_TEST(test_backend_by_name)
{
    loop_open(_i);
    ck_assert_int_eq(evix_loop_backend(loop), usable[_i]);
    ck_assert(evix_backend_built(usable[_i]));
    loop_close();
}
END_TEST

START_TEST(test_auto_and_absent_backends)
{
    ck_assert_int_eq(evix_loop_new(&loop, NULL), 0);
    ck_assert_int_ne(evix_loop_backend(loop), EVIX_BACKEND_AUTO);
    ck_assert(evix_backend_built(evix_loop_backend(loop)));
    loop_close();

    struct evix_options options = {
        .backend = (enum evix_backend)99, .report = on_report, .report_data = &reports};
    reports = 0;
    ck_assert_int_eq(evix_loop_new(&loop, &options), -ENOSYS);
    ck_assert_int_eq(reports, 1);
    ck_assert(!evix_backend_built((enum evix_backend)99));
    ck_assert_str_eq(evix_backend_name((enum evix_backend)99), "unknown");
    ck_assert_str_eq(evix_backend_name(EVIX_BACKEND_EPOLL), "epoll");
    ck_assert_str_eq(evix_backend_name(EVIX_BACKEND_IO_URING), "io_uring");
    ck_assert_str_eq(evix_strerror(-ENOENT), strerror(ENOENT));
    ck_assert_ptr_nonnull(evix_strerror(-123456));
}
END_TEST

/* ---- the pulse ---- */

static uint64_t pulse;
static uint64_t pulses_seen[3];
static int pulse_count;

static void on_pulse_timer(struct evix_timer *timer)
{
    pulses_seen[pulse_count++] = pulse;
    if (pulse_count == 3)
        evix_timer_stop(timer);
}

START_TEST(test_pulse_shows_turns)
{
    struct evix_options options = {.backend = usable[_i], .pulse = &pulse};
    struct evix_timer timer;
    pulse = 0;
    pulse_count = 0;
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    ck_assert_uint_eq(pulse, 0); /* it does not run */
    evix_timer_init(&timer, loop, on_pulse_timer);
    evix_timer_start(&timer, 1, 1);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (int i = 0; i < 3; i++) /* in callbacks */
        ck_assert_uint_eq(pulses_seen[i] % 2, 1);
    ck_assert_uint_lt(pulses_seen[0], pulses_seen[1]);
    ck_assert_uint_lt(pulses_seen[1], pulses_seen[2]);
    ck_assert_uint_eq(pulse % 2, 0);
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("loop");
    TCase *cases = tcase_create("loop");
    tcase_set_timeout(cases, 20);
    add_for_each(cases, test_order_of_an_iteration);
    add_for_each(cases, test_posts_run_once_in_order);
    add_for_each(cases, test_post_added_meanwhile_waits_a_turn);
    add_for_each(cases, test_posting_does_not_starve_io);
    add_for_each(cases, test_hooks_may_stop_each_other);
    add_for_each(cases, test_ends_when_nothing_is_left);
    add_for_each(cases, test_unreferenced_handle_keeps_nothing_alive);
    add_for_each(cases, test_unreferenced_socket);
    add_for_each(cases, test_stop_and_modes);
    add_for_each(cases, test_slow_callback_is_reported);
    add_for_each(cases, test_counters);
    add_for_each(cases, test_leftovers_are_reported);
    add_for_each(cases, test_now_moves);
    add_for_each(cases, test_pulse_shows_turns);
    add_for_each(cases, test_backend_by_name);
    tcase_add_test(cases, test_auto_and_absent_backends);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
