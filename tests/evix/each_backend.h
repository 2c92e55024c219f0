/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EVIX_EACH_BACKEND_H
#define TESTS_EVIX_EACH_BACKEND_H

/*
 * Runs a case once on each backend that this machine lets us use: add it with add_for_each(), and
 * let it begin with loop_open(_i) and end with loop_close(). The loop is the case's alone.
 */

#include "under_valgrind.h"

#include <evix/evix.h>

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const enum evix_backend every_backend[] = {EVIX_BACKEND_IO_URING, EVIX_BACKEND_EPOLL,
                                                  EVIX_BACKEND_KQUEUE, EVIX_BACKEND_POLL};
enum { EVERY_BACKEND = sizeof(every_backend) / sizeof(every_backend[0]) };

static enum evix_backend usable[EVERY_BACKEND];
static int usable_count;
static struct evix_loop *loop;

/* A backend may be absent or forbidden; anything else is a failure. */
static inline void find_usable(void)
{
    for (int i = 0; i < EVERY_BACKEND; i++) {
        struct evix_options options = {.backend = every_backend[i]};
        struct evix_loop *probe;
        int error = evix_loop_new(&probe, &options);
        if (error == -ENOSYS || error == -EPERM) {
            printf("backend %s is not usable here: %s\n", evix_backend_name(every_backend[i]),
                   evix_strerror(error));
            continue;
        }
        if (error < 0) {
            fprintf(stderr, "backend %s: %s\n", evix_backend_name(every_backend[i]),
                    evix_strerror(error));
            exit(EXIT_FAILURE);
        }
        usable[usable_count++] = every_backend[i];
        evix_loop_free(&probe);
    }
}

/* For cases in which other threads run. */
static inline void drop_what_valgrind_blocks(void)
{
    if (is_under_valgrind() && usable_count > 0 && usable[0] == EVIX_BACKEND_IO_URING) {
        usable_count--;
        for (int i = 0; i < usable_count; i++)
            usable[i] = usable[i + 1];
    }
}

static inline void add_for_each(TCase *cases, const TTest *test)
{
    tcase_add_loop_test(cases, test, 0, usable_count);
}

static inline void loop_open(int row)
{
    struct evix_options options = {.backend = usable[row]};
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
}

/* One iteration that may sleep. */
static inline void turn(void)
{
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
}

/* To the natural end: nothing may be left active. */
static inline void run_to_end(void)
{
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
}

static inline void loop_close(void)
{
    ck_assert(!evix_loop_alive(loop));
    evix_loop_free(&loop);
    ck_assert_ptr_null(loop);
}

static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
