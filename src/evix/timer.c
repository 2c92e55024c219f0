/* SPDX-License-Identifier: MIT */
/*
 * Timers in a pairing heap whose links lie in the timers: starting is O(1), the rest O(log n)
 * amortised, and nothing is allocated. Does not sleep: loop.c asks when the nearest one is due.
 * Called by users of timers, by op.c for time limits, and by loop.c.
 */
#include "timer_private.h"

#include <assert.h>
#include <errno.h>

#define NS_PER_MS 1000000u

/*
 * ---- the heap ----
 * A node's children hang from `child` and are linked by `sibling`. `parent` is the node that
 * points here: the parent for a first child, else the sibling before.
 */

static bool is_before(const struct evix_timer *a, const struct evix_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

/* Two roots become one. Either may be NULL. */
static struct evix_timer *merge(struct evix_timer *a, struct evix_timer *b)
{
    if (!a || !b)
        return a ? a : b;
    if (is_before(b, a)) {
        struct evix_timer *other = a;
        a = b;
        b = other;
    }
    b->sibling = a->child;
    if (b->sibling)
        b->sibling->parent = b;
    b->parent = a;
    a->child = b;
    return a;
}

/* Merges brothers in pairs, then the pairs from right to left: that is what keeps it O(log n). */
static struct evix_timer *merge_brothers(struct evix_timer *first)
{
    struct evix_timer *pairs = NULL, *root = NULL;
    while (first) {
        struct evix_timer *second = first->sibling;
        struct evix_timer *rest = second ? second->sibling : NULL;
        struct evix_timer *pair = merge(first, second);
        pair->sibling = pairs;
        pairs = pair;
        first = rest;
    }
    while (pairs) {
        struct evix_timer *next = pairs->sibling;
        root = merge(root, pairs);
        pairs = next;
    }
    if (root)
        root->parent = root->sibling = NULL;
    return root;
}

static void heap_insert(struct evix_timer **root, struct evix_timer *timer)
{
    timer->child = timer->sibling = timer->parent = NULL;
    *root = merge(*root, timer);
}

static void heap_remove(struct evix_timer **root, struct evix_timer *timer)
{
    struct evix_timer *orphans = merge_brothers(timer->child);
    if (timer == *root) {
        *root = orphans;
    } else {
        assert(timer->parent);
        if (timer->parent->child == timer)
            timer->parent->child = timer->sibling;
        else
            timer->parent->sibling = timer->sibling;
        if (timer->sibling)
            timer->sibling->parent = timer->parent;
        *root = merge(*root, orphans);
    }
    timer->child = timer->sibling = timer->parent = NULL;
}

/* ---- timers ---- */

static uint64_t ms_to_ns(uint64_t ms)
{
    return ms < TIMER_NEVER_NS / NS_PER_MS ? ms * NS_PER_MS : TIMER_NEVER_NS;
}

static uint64_t add_ns(uint64_t a, uint64_t b)
{
    return a < TIMER_NEVER_NS - b ? a + b : TIMER_NEVER_NS;
}

static void enter(struct evix_timer *timer, uint64_t due_ns)
{
    struct evix_loop *loop = timer->handle.loop;
    timer->due_ns = due_ns;
    timer->order = loop->timers.next_order++;
    heap_insert(&loop->timers.root, timer);
}

void evix_timer_init(struct evix_timer *timer, struct evix_loop *loop, evix_timer_fn *fn)
{
    *timer = (struct evix_timer){.fn = fn};
    handle_init(&timer->handle, loop, HANDLE_TIMER);
}

/*
 * The clock is read here, not taken from the start of the iteration: a callback that ran long
 * before it started a timer would have it fire early. Reading costs some 20 ns. A timeout of 0
 * cannot be early, and has to sort behind what is due in this iteration.
 */
void evix__timer_arm(struct evix_timer *timer, uint64_t timeout_ms)
{
    struct evix_loop *loop = timer->handle.loop;
    evix_timer_stop(timer);
    uint64_t from_ns = timeout_ms == 0 ? loop->now_ns : evix__clock_now_ns();
    enter(timer, add_ns(from_ns, ms_to_ns(timeout_ms)));
    handle_activate(&timer->handle);
}

void evix_timer_start(struct evix_timer *timer, uint64_t timeout_ms, uint64_t repeat_ms)
{
    evix__timer_arm(timer, timeout_ms);
    timer->repeat_ns = ms_to_ns(repeat_ms);
}

void evix_timer_stop(struct evix_timer *timer)
{
    if (!evix_is_active(&timer->handle))
        return;
    heap_remove(&timer->handle.loop->timers.root, timer);
    handle_stop(&timer->handle);
}

int evix_timer_again(struct evix_timer *timer)
{
    if (timer->repeat_ns == 0)
        return -EINVAL;
    evix__timer_arm(timer, timer->repeat_ns / NS_PER_MS);
    return 0;
}

uint64_t evix_timer_due_ms(const struct evix_timer *timer)
{
    return evix_is_active(&timer->handle) ? timer->due_ns / NS_PER_MS : 0;
}

/* ---- phase 4 ---- */

uint64_t evix__timers_due_ns(const struct evix_loop *loop)
{
    return loop->timers.root ? loop->timers.root->due_ns : UINT64_MAX;
}

/* A repeating timer is started anew before its callback, which may then stop it. */
static void fire(struct evix_loop *loop, struct evix_timer *timer, uint64_t now_ns)
{
    heap_remove(&loop->timers.root, timer);
    bool repeats = timer->handle.kind == HANDLE_TIMER && timer->repeat_ns != 0;
    if (repeats) {
        uint64_t due_ns = add_ns(timer->due_ns, timer->repeat_ns);
        enter(timer, due_ns > now_ns ? due_ns : add_ns(now_ns, timer->repeat_ns));
    } else {
        handle_stop(&timer->handle);
    }
    TRACE_CALL(loop, HANDLE_TIMER, timer->fn, timer);
}

/*
 * A timer that is started by one of these callbacks is never due before `now_ns`, and has a later
 * order than those that wait. So once one of them is the first in the heap, all that was due has
 * fired: it waits for the next iteration, and nobody is starved.
 */
void evix__timers_run(struct evix_loop *loop)
{
    uint64_t now_ns = loop->now_ns, next_order = loop->timers.next_order;
    struct evix_timer *timer;
    while ((timer = loop->timers.root) && timer->due_ns <= now_ns && timer->order < next_order)
        fire(loop, timer, now_ns);
}

void evix__timers_fini(struct evix_loop *loop)
{
    while (loop->timers.root)
        evix_timer_stop(loop->timers.root);
}
