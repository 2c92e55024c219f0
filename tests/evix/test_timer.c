/* SPDX-License-Identifier: MIT */
/*
 * Timers: order, repeats, stopping anywhere, never early, many of them.
 * Time limits of operations are in test_op.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 100000 };

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&pause, &pause) < 0 && errno == EINTR) {
    }
}

struct case_timer {
    struct evix_timer timer;
    uint64_t earliest_ns;
    uint32_t timeout_ms;
    int fired;
};

static struct case_timer few[8];
static int order[64];
static int fired;

static struct case_timer *case_of(struct evix_timer *timer)
{
    return EVIX_CONTAINER_OF(timer, struct case_timer, timer);
}

static void on_few(struct evix_timer *timer)
{
    struct case_timer *this = case_of(timer);
    ck_assert_uint_ge(clock_ns(), this->earliest_ns);
    ck_assert_int_lt(fired, 64);
    order[fired++] = (int)(this - few);
    this->fired++;
}

static void start_few(int index, uint64_t ms, uint64_t repeat_ms, evix_timer_fn *fn)
{
    few[index] = (struct case_timer){.earliest_ns = clock_ns() + ms * 1000000};
    evix_timer_init(&few[index].timer, loop, fn);
    evix_timer_start(&few[index].timer, ms, repeat_ms);
}

static void open_case(int row)
{
    loop_open(row);
    memset(order, -1, sizeof(order));
    fired = 0;
}

START_TEST(test_order_by_deadline)
{
    static const int expected[] = {3, 1, 0, 2};
    open_case(_i);
    start_few(0, 6, 0, on_few);
    start_few(1, 4, 0, on_few);
    start_few(2, 8, 0, on_few);
    start_few(3, 2, 0, on_few);
    run_to_end();
    ck_assert_int_eq(fired, 4);
    ck_assert_mem_eq(order, expected, sizeof(expected));
    loop_close();
}
END_TEST

START_TEST(test_equal_deadlines_in_start_order)
{
    static const int expected[] = {1, 2, 3, 4, 5, 6, 7, 0};
    open_case(_i);
    for (int i = 0; i < 8; i++)
        start_few(i, 0, 0, on_few);
    evix_timer_start(&few[0].timer, 0, 0); /* anew: behind the others now */
    turn();
    ck_assert_int_eq(fired, 8);
    ck_assert_mem_eq(order, expected, sizeof(expected));
    loop_close();
}
END_TEST

static void on_repeat(struct evix_timer *timer)
{
    on_few(timer);
    ck_assert(evix_is_active(&timer->handle));
    if (case_of(timer)->fired == 3)
        evix_timer_stop(timer);
}

START_TEST(test_repeat_until_stopped_inside)
{
    open_case(_i);
    uint64_t before = clock_ns();
    start_few(0, 2, 3, on_repeat);
    run_to_end();
    ck_assert_int_eq(few[0].fired, 3);
    ck_assert_uint_ge(clock_ns() - before, 8000000);
    ck_assert_uint_eq(evix_timer_due_ms(&few[0].timer), 0);
    loop_close();
}
END_TEST

START_TEST(test_behind_fires_once)
{
    open_case(_i);
    start_few(0, 2, 2, on_few);
    pause_ms(15); /* seven periods missed */
    turn();
    ck_assert_int_eq(few[0].fired, 1);
    ck_assert_uint_gt(few[0].timer.due_ns, evix_now_ns(loop));
    ck_assert_uint_le(few[0].timer.due_ns, evix_now_ns(loop) + 2000000);
    evix_timer_stop(&few[0].timer);
    loop_close();
}
END_TEST

START_TEST(test_again)
{
    open_case(_i);
    start_few(0, 5000, 0, on_few);
    ck_assert_int_eq(evix_timer_again(&few[0].timer), -EINVAL);
    evix_timer_stop(&few[0].timer);
    evix_timer_stop(&few[0].timer);
    start_few(1, 5000, 1, on_repeat);
    uint64_t due = evix_timer_due_ms(&few[1].timer);
    ck_assert_uint_ge(due, evix_now_ms(loop) + 4999);
    few[1].earliest_ns = clock_ns() + 1000000;
    ck_assert_int_eq(evix_timer_again(&few[1].timer), 0);
    ck_assert_uint_lt(evix_timer_due_ms(&few[1].timer), due);
    run_to_end();
    ck_assert_int_eq(few[1].fired, 3);
    loop_close();
}
END_TEST

/* Stops all others, due in the same iteration or not, and starts one of them. */
static void on_stop_others(struct evix_timer *timer)
{
    on_few(timer);
    for (int i = 0; i < 8; i++)
        if (&few[i].timer != timer)
            evix_timer_stop(&few[i].timer);
    few[5].earliest_ns = 0;
    evix_timer_start(&few[5].timer, 0, 0);
}

START_TEST(test_stop_others_inside)
{
    open_case(_i);
    start_few(0, 0, 0, on_stop_others);
    for (int i = 1; i < 8; i++)
        start_few(i, i < 4 ? 0 : 50, 0, on_few);
    turn();
    ck_assert_int_eq(fired, 1);
    run_to_end();
    ck_assert_int_eq(fired, 2);
    ck_assert_int_eq(order[1], 5);
    loop_close();
}
END_TEST

static void on_free(struct evix_timer *timer)
{
    fired++;
    free(case_of(timer));
}

START_TEST(test_free_inside)
{
    open_case(_i);
    for (int i = 0; i < 8; i++) {
        struct case_timer *this = calloc(1, sizeof(*this));
        ck_assert_ptr_nonnull(this);
        evix_timer_init(&this->timer, loop, on_free);
        evix_timer_start(&this->timer, (uint64_t)i % 3, 0);
    }
    run_to_end();
    ck_assert_int_eq(fired, 8);
    loop_close();
}
END_TEST

/* A timer that starts itself with 0 must not keep the loop from polling. */

static struct evix_io pipe_io;

static void on_zero(struct evix_timer *timer)
{
    fired++;
    evix_timer_start(timer, 0, 0);
}

static void on_pipe(struct evix_io *io, unsigned events)
{
    (void)events;
    evix_io_stop(io);
    evix_timer_stop(&few[0].timer);
}

START_TEST(test_zero_timer_runs_once_an_iteration)
{
    int fds[2];
    open_case(_i);
    start_few(0, 0, 0, on_zero);
    start_few(1, 0, 0, on_few);
    turn();
    ck_assert_int_eq(fired, 2);
    turn();
    ck_assert_int_eq(fired, 3);
    ck_assert_int_eq(pipe(fds), 0);
    evix_io_init(&pipe_io, loop, fds[0], on_pipe);
    ck_assert_int_eq(evix_io_start(&pipe_io, EVIX_READ), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    run_to_end();
    ck_assert_int_eq(fired, 3);
    loop_close();
    close(fds[0]);
    close(fds[1]);
}
END_TEST

/* The deadline counts from the present, not from the start of a long iteration. */

static void on_late(struct evix_timer *timer)
{
    (void)timer;
    pause_ms(40);
    start_few(1, 30, 0, on_few); /* on_few checks that it is not early */
}

START_TEST(test_started_late_is_not_early)
{
    open_case(_i);
    start_few(0, 1, 0, on_late);
    run_to_end();
    ck_assert_int_eq(few[1].fired, 1);
    loop_close();
}
END_TEST

START_TEST(test_started_before_run_is_not_early)
{
    open_case(_i);
    pause_ms(30); /* the loop's clock is old by now */
    start_few(0, 20, 0, on_few);
    run_to_end();
    ck_assert_int_eq(few[0].fired, 1);
    loop_close();
}
END_TEST

START_TEST(test_for_ever_does_not_overflow)
{
    open_case(_i);
    start_few(0, 0, UINT64_MAX, on_repeat);
    start_few(1, 1, 0, on_few);
    few[2] = (struct case_timer){0};
    evix_timer_init(&few[2].timer, loop, on_few);
    evix_timer_start(&few[2].timer, UINT64_MAX, 0);
    while (fired < 2)
        turn();
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(fired, 2);
    ck_assert(evix_is_active(&few[0].timer.handle));
    ck_assert(evix_is_active(&few[2].timer.handle));
    evix_timer_stop(&few[0].timer);
    evix_timer_stop(&few[2].timer);
    loop_close();
}
END_TEST

/* ---- many ---- */

static struct case_timer *many;
static uint64_t last_due_ns;
static uint32_t seed;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void on_many(struct evix_timer *timer)
{
    ck_assert(timer->due_ns >= last_due_ns && timer->due_ns <= evix_now_ns(loop));
    last_due_ns = timer->due_ns;
    case_of(timer)->fired++;
    fired++;
}

START_TEST(test_a_hundred_thousand)
{
    int expected = MANY;
    open_case(_i);
    many = calloc(MANY, sizeof(*many));
    ck_assert_ptr_nonnull(many);
    seed = 7;
    last_due_ns = 0;
    for (int i = 0; i < MANY; i++) {
        evix_timer_init(&many[i].timer, loop, on_many);
        evix_timer_start(&many[i].timer, 20 + next_random() % 300, 0);
    }
    for (int i = 0; i < MANY; i += 3) { /* a third is stopped, most of those are started again */
        evix_timer_stop(&many[i].timer);
        if (next_random() % 4)
            evix_timer_start(&many[i].timer, 20 + next_random() % 300, 0);
        else
            expected--;
    }
    run_to_end();
    ck_assert_int_eq(fired, expected);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_le(many[i].fired, 1);
    loop_close();
    free(many);
}
END_TEST

/* ---- a loop that stood still ---- */

static struct {
    struct evix_io io;
    struct case_timer timer;
    volatile bool *is_stopped;
    bool was_stopped, was_told;
} still;

static void on_still_readable(struct evix_io *io, unsigned events)
{
    (void)events;
    evix_io_stop(io);
    still.was_told = true;
}

static void on_still_timer(struct evix_timer *timer)
{
    (void)timer;
    still.was_stopped = *still.is_stopped;
    /* What could be read before the loop went on comes before the timer that was due by then. */
    if (still.was_stopped) {
        ck_assert(still.was_told);
        ck_assert_uint_gt(evix_loop_absence_ns(loop), 0);
    }
    evix_io_stop(&still.io);
}

static char state_of(pid_t process)
{
    char name[32], state = '?';
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)process);
    FILE *file = fopen(name, "re");
    if (!file)
        return '?';
    if (fscanf(file, "%*d %*s %c", &state) != 1)
        state = '?';
    fclose(file);
    return state;
}

/* Stops its parent until the timer is due and the pipe has something. */
static void stop_parent(int fd, uint64_t timeout_ms)
{
    kill(getppid(), SIGSTOP);
    for (int i = 0; state_of(getppid()) != 'T' && i < 10000; i++)
        pause_ms(1);
    *still.is_stopped = true;
    pause_ms((long)(2 * timeout_ms));
    _exit(write(fd, "", 1) == 1 && kill(getppid(), SIGCONT) == 0 ? 0 : 1);
}

static void stand_still(uint64_t timeout_ms)
{
    int fds[2], status;
    *still.is_stopped = false;
    still.was_stopped = still.was_told = false;
    ck_assert_int_eq(pipe(fds), 0);
    evix_io_init(&still.io, loop, fds[0], on_still_readable);
    ck_assert_int_eq(evix_io_start(&still.io, EVIX_READ), 0);
    evix_timer_init(&still.timer.timer, loop, on_still_timer);
    evix_timer_start(&still.timer.timer, timeout_ms, 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        stop_parent(fds[1], timeout_ms);
    run_to_end();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close(fds[0]);
    close(fds[1]);
}

START_TEST(test_stopped_process)
{
    loop_open(_i);
    still.is_stopped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(still.is_stopped != MAP_FAILED);
    /* On a busy machine the child may come too late. */
    for (uint64_t timeout_ms = 100; !still.was_stopped && timeout_ms <= 3200; timeout_ms *= 2)
        stand_still(timeout_ms);
    munmap((void *)still.is_stopped, 4096);
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("timer");
    TCase *cases = tcase_create("timer");
    tcase_set_timeout(cases, 30);
    add_for_each(cases, test_order_by_deadline);
    add_for_each(cases, test_equal_deadlines_in_start_order);
    add_for_each(cases, test_repeat_until_stopped_inside);
    add_for_each(cases, test_behind_fires_once);
    add_for_each(cases, test_again);
    add_for_each(cases, test_stop_others_inside);
    add_for_each(cases, test_free_inside);
    add_for_each(cases, test_zero_timer_runs_once_an_iteration);
    add_for_each(cases, test_started_late_is_not_early);
    add_for_each(cases, test_started_before_run_is_not_early);
    add_for_each(cases, test_for_ever_does_not_overflow);
    add_for_each(cases, test_a_hundred_thousand);
    add_for_each(cases, test_stopped_process);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
