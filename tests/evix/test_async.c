/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups from threads and signal handlers: none is lost, several are one, stopping inside.
 * What the work pool makes of them is in test_work.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

enum { ROUNDS = 20000, THREADS = 3 };

/* A thread sends only when the callback has answered: one lost wake-up and all stands still. */
struct player {
    struct evix_async async;
    pthread_t thread;
    sem_t answered;
    int payload; /* written before the send, read in the callback */
    int seen;
};

static struct player players[THREADS];

static void *run_player(void *data)
{
    struct player *player = data;
    for (int round = 1; round <= ROUNDS; round++) {
        player->payload = round;
        evix_async_send(&player->async);
        while (sem_wait(&player->answered) < 0 && errno == EINTR) {
        }
    }
    return NULL;
}

static void on_player(struct evix_async *async)
{
    struct player *player = EVIX_CONTAINER_OF(async, struct player, async);
    ck_assert_int_eq(player->payload, player->seen + 1);
    player->seen++;
    bool is_last = player->seen == ROUNDS;
    sem_post(&player->answered);
    if (is_last) {
        pthread_join(player->thread, NULL);
        evix_async_stop(async);
    }
}

START_TEST(test_no_wakeup_is_lost)
{
    loop_open(_i);
    for (int i = 0; i < THREADS; i++) {
        players[i].seen = 0;
        ck_assert_int_eq(sem_init(&players[i].answered, 0, 0), 0);
        ck_assert_int_eq(evix_async_start(&players[i].async, loop, on_player), 0);
        ck_assert_int_eq(pthread_create(&players[i].thread, NULL, run_player, &players[i]), 0);
    }
    run_to_end();
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(players[i].seen, ROUNDS);
        sem_destroy(&players[i].answered);
    }
    loop_close();
}
END_TEST

static struct evix_async asyncs[4];
static int calls[4];

static void on_count(struct evix_async *async)
{
    calls[async - asyncs]++;
}

START_TEST(test_several_sends_are_one)
{
    struct evix_counters counters;
    loop_open(_i);
    memset(calls, 0, sizeof(calls));
    ck_assert_int_eq(evix_async_start(&asyncs[0], loop, on_count), 0);
    ck_assert_int_eq(evix_async_start(&asyncs[1], loop, on_count), 0);
    for (int i = 0; i < 1000; i++)
        evix_async_send(&asyncs[0]);
    evix_async_send(&asyncs[1]);
    turn();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert_int_eq(calls[0], 1);
    ck_assert_int_eq(calls[1], 1);
    evix_loop_counters(loop, &counters);
    ck_assert_uint_eq(counters.wakeups, 1);
    evix_async_stop(&asyncs[0]);
    evix_async_stop(&asyncs[0]);
    evix_async_stop(&asyncs[1]);
    loop_close();
}
END_TEST

static void on_send_again(struct evix_async *async)
{
    if (++calls[0] < 5)
        evix_async_send(async);
    else
        evix_async_stop(async);
}

START_TEST(test_send_inside_runs_again)
{
    loop_open(_i);
    memset(calls, 0, sizeof(calls));
    ck_assert_int_eq(evix_async_start(&asyncs[0], loop, on_send_again), 0);
    evix_async_send(&asyncs[0]);
    turn();
    ck_assert_int_eq(calls[0], 1);
    run_to_end();
    ck_assert_int_eq(calls[0], 5);
    loop_close();
}
END_TEST

static void on_stop_all(struct evix_async *async)
{
    calls[async - asyncs]++;
    for (int i = 0; i < 4; i++)
        evix_async_stop(&asyncs[i]);
}

START_TEST(test_stop_all_inside)
{
    loop_open(_i);
    memset(calls, 0, sizeof(calls));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(evix_async_start(&asyncs[i], loop, on_stop_all), 0);
        evix_async_send(&asyncs[i]);
    }
    run_to_end();
    ck_assert_int_eq(calls[0] + calls[1] + calls[2] + calls[3], 1);
    loop_close();
}
END_TEST

static void handler(int number)
{
    (void)number;
    errno = ERANGE;
    evix_async_send(&asyncs[0]);
    ck_assert_int_eq(errno, ERANGE); /* the interrupted code must not notice */
}

START_TEST(test_from_a_signal_handler)
{
    struct sigaction action = {.sa_handler = handler}, former;
    loop_open(_i);
    memset(calls, 0, sizeof(calls));
    ck_assert_int_eq(sigaction(SIGUSR1, &action, &former), 0);
    ck_assert_int_eq(evix_async_start(&asyncs[0], loop, on_stop_all), 0);
    raise(SIGUSR1);
    run_to_end();
    ck_assert_int_eq(calls[0], 1);
    sigaction(SIGUSR1, &former, NULL);
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("async");
    TCase *cases = tcase_create("async");
    tcase_set_timeout(cases, 60);
    add_for_each(cases, test_no_wakeup_is_lost);
    add_for_each(cases, test_several_sends_are_one);
    add_for_each(cases, test_send_inside_runs_again);
    add_for_each(cases, test_stop_all_inside);
    add_for_each(cases, test_from_a_signal_handler);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    drop_what_valgrind_blocks();
    return run_suite(make_suite());
}
