/* SPDX-License-Identifier: MIT */
#ifndef SERVER_RETIRE_H
#define SERVER_RETIRE_H

/*
 * How a worker ends: retired, when others have taken its place, or finishing, when the server
 * stops. Either way it answers what has come, and says on each last response that it is the last.
 * A retired one is in no hurry: an idle connection stays long enough for the request that may be
 * on its way, and a listener that goes for good is emptied before it is closed.
 */

#include <evix/evix.h>

struct worker;

struct retire {
    struct evix_timer listeners_timer; /* then the listeners that go for good are closed */
    struct evix_timer shutdown_timer;  /* then connections are cut off */
    size_t ordered;                    /* listeners that the order to retire has named so far */
    size_t open_listeners;
    size_t open_stays; /* those of them that other workers accept from, too */
    bool is_finishing;
};

void retire_init(struct worker *worker);

/* What the master says of the next listener (worker.h); with the last one, the worker retires. */
void retire_take_order(struct worker *worker, char word);

/* The server stops: gracefully, or at once. */
void retire_finish(struct worker *worker);
void retire_now(struct worker *worker);

/* How long an ending worker waits for a request on an idle connection, and for a client to take
   note of the last response. */
uint32_t retire_idle_ms(const struct worker *worker);
uint32_t retire_linger_ms(const struct worker *worker);

void retire_fini(struct worker *worker);

#endif
