/* SPDX-License-Identifier: MIT */
/*
 * A deadline that is cheap to move: stored when it moves, looked at when the timer fires.
 * It does not know what it is for, nor what happens when it has passed.
 * Called by connection.c and echo_tcp.c.
 */
#include "server/deadline.h"

#define STANDSTILL_MS 1000

static void sleep_on(struct deadline *deadline, uint64_t now_ms, uint64_t tick_ms)
{
    uint64_t left_ms = deadline->due_ms - now_ms;

    evix_timer_start(&deadline->timer, left_ms < tick_ms ? left_ms : tick_ms, 0);
}

void deadline_init(struct deadline *deadline, struct evix_loop *loop, evix_timer_fn *fn)
{
    evix_timer_init(&deadline->timer, loop, fn);
    deadline->due_ms = DEADLINE_NONE;
}

void deadline_start(struct deadline *deadline, uint64_t timeout_ms, uint64_t tick_ms)
{
    uint64_t now_ms = evix_now_ms(deadline->timer.handle.loop);

    deadline_move(deadline, now_ms, timeout_ms);
    sleep_on(deadline, now_ms, tick_ms);
}

/*
 * A deadline that passed while this process was stopped, or its machine was, is put off by as long:
 * what clients sent meanwhile may be here already, or be sent again soon.
 */
static void excuse_absence(struct deadline *deadline, uint64_t now_ms)
{
    uint64_t absence_ms = evix_loop_absence_ns(deadline->timer.handle.loop) / 1000000;

    if (now_ms >= deadline->due_ms && absence_ms >= STANDSTILL_MS)
        deadline->due_ms = now_ms + absence_ms;
}

bool deadline_passed(struct deadline *deadline, uint64_t tick_ms)
{
    uint64_t now_ms = evix_now_ms(deadline->timer.handle.loop);

    excuse_absence(deadline, now_ms);
    if (now_ms >= deadline->due_ms)
        return true;
    sleep_on(deadline, now_ms, tick_ms);
    return false;
}

void deadline_stop(struct deadline *deadline)
{
    evix_timer_stop(&deadline->timer);
}
