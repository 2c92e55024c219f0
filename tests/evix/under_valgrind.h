/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EVIX_UNDER_VALGRIND_H
#define TESTS_EVIX_UNDER_VALGRIND_H

/*
 * valgrind runs one thread at a time, and does not know that io_uring_enter(2) sleeps: a loop that
 * waits in it keeps all other threads from running. So cases with threads pass over io_uring then.
 */

#include <stdbool.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

static inline bool is_under_valgrind(void)
{
#ifdef RUNNING_ON_VALGRIND
    return RUNNING_ON_VALGRIND;
#else
    return false;
#endif
}

#endif
