/* SPDX-License-Identifier: MIT */
/*
 * Signals as events: storms, several watchers and loops, dispositions, children.
 * That they come last in a batch is in test_loop.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 8, STORM = 100000 };

static const int kinds[KINDS] = {SIGHUP,  SIGUSR1, SIGUSR2, SIGWINCH,
                                 SIGALRM, SIGCONT, SIGCHLD, SIGTERM};
static struct evix_signal signals[KINDS];
static int seen[KINDS];
static int missing;

static void on_kind(struct evix_signal *signal, int number)
{
    int kind = (int)(signal - signals);
    ck_assert_int_eq(number, kinds[kind]);
    if (seen[kind]++ == 0 && --missing == 0)
        evix_loop_stop(loop);
}

/* More bytes than a pipe holds; every kind must come through, and few callbacks may do it. */
START_TEST(test_storm_loses_no_kind)
{
    loop_open(_i);
    memset(seen, 0, sizeof(seen));
    missing = KINDS;
    for (int i = 0; i < KINDS; i++) {
        evix_signal_init(&signals[i], loop, on_kind);
        ck_assert_int_eq(evix_signal_start(&signals[i], kinds[i]), 0);
    }
    for (int i = 0; i < STORM; i++)
        raise(kinds[0]);
    for (int i = 1; i < KINDS; i++)
        raise(kinds[i]); /* after the pipe is full */
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 1);
    for (int i = 0; i < KINDS; i++) {
        ck_assert_int_eq(seen[i], 1);
        evix_signal_stop(&signals[i]);
    }
    loop_close();
}
END_TEST

static void own_handler(int number)
{
    (void)number;
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    ck_assert_int_eq(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

START_TEST(test_dispositions_come_back)
{
    struct sigaction own = {.sa_handler = own_handler}, former;
    struct evix_signal again;
    loop_open(_i);
    ck_assert_int_eq(sigaction(SIGUSR1, &own, &former), 0);
    signal(SIGUSR2, SIG_IGN);
    evix_signal_init(&signals[1], loop, on_kind);
    evix_signal_init(&signals[2], loop, on_kind);
    evix_signal_init(&again, loop, on_kind);
    ck_assert_int_eq(evix_signal_start(&signals[1], SIGUSR1), 0);
    ck_assert_int_eq(evix_signal_start(&again, SIGUSR1), 0);
    ck_assert_int_eq(evix_signal_start(&signals[2], SIGUSR2), 0);
    evix_signal_stop(&signals[1]);
    ck_assert(handler_of(SIGUSR1) != own_handler); /* one is left */
    evix_signal_stop(&again);
    evix_signal_stop(&again);
    evix_signal_stop(&signals[2]);
    ck_assert(handler_of(SIGUSR1) == own_handler);
    ck_assert(handler_of(SIGUSR2) == SIG_IGN);
    signal(SIGUSR2, SIG_DFL);
    sigaction(SIGUSR1, &former, NULL);
    loop_close();
}
END_TEST

START_TEST(test_refusals)
{
    loop_open(_i);
    evix_signal_init(&signals[0], loop, on_kind);
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGKILL), -EINVAL);
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGSTOP), -EINVAL);
    ck_assert_int_eq(evix_signal_start(&signals[0], 0), -EINVAL);
    ck_assert_int_eq(evix_signal_start(&signals[0], -3), -EINVAL);
    ck_assert_int_eq(evix_signal_start(&signals[0], 65), -EINVAL);
    ck_assert(!evix_is_active(&signals[0].handle));
    loop_close();
}
END_TEST

/* ---- several watchers ---- */

static int stops;

/* The first stops all of them, itself and those that were to be called next. */
static void on_stop_all(struct evix_signal *signal, int number)
{
    (void)signal;
    (void)number;
    stops++;
    for (int i = 0; i < KINDS; i++)
        evix_signal_stop(&signals[i]);
}

START_TEST(test_stop_all_inside)
{
    loop_open(_i);
    stops = 0;
    for (int i = 0; i < KINDS; i++) {
        evix_signal_init(&signals[i], loop, on_stop_all);
        ck_assert_int_eq(evix_signal_start(&signals[i], SIGUSR1), 0);
    }
    raise(SIGUSR1);
    run_to_end();
    ck_assert_int_eq(stops, 1);
    ck_assert(handler_of(SIGUSR1) == SIG_DFL);
    loop_close();
}
END_TEST

static void on_stop_self(struct evix_signal *signal, int number)
{
    (void)number;
    stops++;
    evix_signal_stop(signal);
}

START_TEST(test_raised_before_is_not_for_a_new_watcher)
{
    loop_open(_i);
    stops = 0;
    evix_signal_init(&signals[0], loop, on_stop_self);
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGUSR1), 0);
    raise(SIGUSR1);
    evix_signal_stop(&signals[0]); /* nobody is left to be told */
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGUSR1), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(stops, 0);
    raise(SIGUSR1);
    run_to_end();
    ck_assert_int_eq(stops, 1);
    loop_close();
}
END_TEST

/* ---- several loops: each is told, whichever of them reads the pipe ---- */

struct runner {
    pthread_t thread;
    struct evix_loop *loop;
    struct evix_signal signal;
    int count;
};

static void on_runner(struct evix_signal *signal, int number)
{
    struct runner *runner = EVIX_CONTAINER_OF(signal, struct runner, signal);
    ck_assert_int_eq(number, SIGUSR1);
    runner->count++;
    evix_signal_stop(signal);
}

static void *run_runner(void *data)
{
    struct runner *runner = data;
    return evix_loop_run(runner->loop, EVIX_RUN_DEFAULT) == 0 ? data : NULL;
}

START_TEST(test_several_loops_in_threads)
{
    struct runner runners[4];
    struct evix_options options = {.backend = usable[_i]};
    for (int i = 0; i < 4; i++) {
        struct runner *runner = &runners[i];
        runner->count = 0;
        ck_assert_int_eq(evix_loop_new(&runner->loop, &options), 0);
        evix_signal_init(&runner->signal, runner->loop, on_runner);
        ck_assert_int_eq(evix_signal_start(&runner->signal, SIGUSR1), 0);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&runners[i].thread, NULL, run_runner, &runners[i]), 0);
    ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        ck_assert_int_eq(pthread_join(runners[i].thread, &result), 0);
        ck_assert_ptr_eq(result, &runners[i]);
        ck_assert_int_eq(runners[i].count, 1);
        evix_loop_free(&runners[i].loop);
    }
}
END_TEST

/* ---- children ---- */

/* In the child: everything of the parent's is forgotten, and the child can watch on its own. */
static int run_child(enum evix_backend backend)
{
    evix_signal_after_fork();
    if (handler_of(SIGUSR1) != SIG_DFL)
        return 1;
    evix_loop_free(&loop); /* the copy of the parent's */
    struct evix_options options = {.backend = backend};
    if (evix_loop_new(&loop, &options) < 0)
        return 2;
    stops = 0;
    evix_signal_init(&signals[1], loop, on_stop_self);
    if (evix_signal_start(&signals[1], SIGUSR1) < 0)
        return 3;
    raise(SIGUSR1);
    if (evix_loop_run(loop, EVIX_RUN_DEFAULT) != 0 || stops != 1)
        return 4;
    evix_loop_free(&loop);
    return 0;
}

static pid_t forked;

/* Others are walked to when this one forks. */
static void on_fork(struct evix_signal *signal, int number)
{
    (void)number;
    evix_signal_stop(signal);
    forked = fork();
    if (forked != 0)
        return;
    evix_signal_after_fork();
    loop = NULL; /* it runs: nothing can be done with it here */
    _exit(run_child(EVIX_BACKEND_AUTO));
}

START_TEST(test_child_of_a_callback)
{
    int status;
    loop_open(_i);
    stops = 0;
    for (int i = 0; i < 3; i++) {
        evix_signal_init(&signals[i], loop, i == 1 ? on_fork : on_stop_self);
        ck_assert_int_eq(evix_signal_start(&signals[i], SIGUSR1), 0);
    }
    raise(SIGUSR1);
    run_to_end();
    ck_assert_int_eq(stops, 2); /* the walk goes on in the parent */
    ck_assert_int_gt(forked, 0);
    ck_assert_int_eq(waitpid(forked, &status, 0), forked);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    loop_close();
}
END_TEST

START_TEST(test_child_after_fork)
{
    int status;
    loop_open(_i);
    stops = 0;
    evix_signal_init(&signals[0], loop, on_stop_self);
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGUSR1), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(run_child(usable[_i]));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(stops, 0); /* the child's signal was the child's */
    raise(SIGUSR1);
    run_to_end(); /* and the parent's loop still sees its own */
    ck_assert_int_eq(stops, 1);
    loop_close();
}
END_TEST

/*
 * In the child, as a process does that takes orders: what has come before anything is watched
 * waits, blocked, and is delivered to the first watcher.
 */
static int hear_what_waits(enum evix_backend backend)
{
    struct evix_options options = {.backend = backend};
    sigset_t none;
    raise(SIGUSR1);
    evix_signal_after_fork();
    evix_loop_free(&loop);
    if (evix_loop_new(&loop, &options) < 0)
        return 1;
    stops = 0;
    evix_signal_init(&signals[1], loop, on_stop_self);
    if (evix_signal_start(&signals[1], SIGUSR1) < 0)
        return 2;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (evix_loop_run(loop, EVIX_RUN_NOWAIT) < 0 || stops != 1)
        return 3;
    evix_loop_free(&loop);
    return 0;
}

START_TEST(test_child_hears_what_came_before_it_watched)
{
    sigset_t all, before;
    int status;
    loop_open(_i);
    signal(SIGUSR1, SIG_DFL); /* with SIG_IGN the kernel would drop it: see signal.h */
    evix_signal_init(&signals[0], loop, on_stop_self);
    ck_assert_int_eq(evix_signal_start(&signals[0], SIGUSR1), 0);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0)
        _exit(hear_what_waits(usable[_i]));
    sigprocmask(SIG_SETMASK, &before, NULL);
    ck_assert_int_ge(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    evix_signal_stop(&signals[0]);
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("signal");
    TCase *cases = tcase_create("signal");
    tcase_set_timeout(cases, 30);
    add_for_each(cases, test_storm_loses_no_kind);
    add_for_each(cases, test_dispositions_come_back);
    add_for_each(cases, test_refusals);
    add_for_each(cases, test_stop_all_inside);
    add_for_each(cases, test_raised_before_is_not_for_a_new_watcher);
    add_for_each(cases, test_several_loops_in_threads);
    add_for_each(cases, test_child_of_a_callback);
    add_for_each(cases, test_child_after_fork);
    add_for_each(cases, test_child_hears_what_came_before_it_watched);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    drop_what_valgrind_blocks();
    return run_suite(make_suite());
}
