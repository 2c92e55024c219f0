/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_MEMORY_BUDGET_H
#define EVIXD_FILES_MEMORY_BUDGET_H

/* Bytes that several threads may take in all: counted before they are allocated. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct memory_budget {
    atomic_size_t used;
    size_t most; /* constant while any thread takes */
};

static inline size_t memory_budget_used(struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

static inline void memory_budget_give(struct memory_budget *budget, size_t bytes)
{
    (void)atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

/* False: it would be more than all may take, and nothing was taken. */
static inline bool memory_budget_take(struct memory_budget *budget, size_t bytes)
{
    size_t used = memory_budget_used(budget);

    do {
        if (bytes > budget->most || used > budget->most - bytes)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

#endif
