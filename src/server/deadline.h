/* SPDX-License-Identifier: MIT */
#ifndef SERVER_DEADLINE_H
#define SERVER_DEADLINE_H

/*
 * The one deadline that a connection has at a time. Moving it costs a store: the timer behind it
 * looks once a tick whether the deadline has come, and sleeps on if not. With a tick no longer than
 * the shortest timeout that is used, it still fires when it should.
 */

#include <evix/timer.h>

struct deadline {
    struct evix_timer timer; /* the owner finds itself from it; fires deadline_due() is asked */
    uint64_t due_ms;
};

#define DEADLINE_NONE UINT64_MAX

/* `fn` is called once a tick at most, and has to begin with deadline_passed(). */
void deadline_init(struct deadline *deadline, struct evix_loop *loop, evix_timer_fn *fn);

/* In force until the next call; `timeout_ms` 0 is none. `tick_ms`: see above, not 0. */
void deadline_start(struct deadline *deadline, uint64_t timeout_ms, uint64_t tick_ms);

static inline void deadline_move(struct deadline *deadline, uint64_t now_ms, uint64_t timeout_ms)
{
    deadline->due_ms = timeout_ms != 0 ? now_ms + timeout_ms : DEADLINE_NONE;
}

/* In the timer's callback: true if it is time; else the timer was started anew. */
bool deadline_passed(struct deadline *deadline, uint64_t tick_ms);

void deadline_stop(struct deadline *deadline);

#endif
