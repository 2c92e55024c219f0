/* SPDX-License-Identifier: MIT */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

/*
 * The wall clock of a worker, for fields and logs: read and formatted once a second, however many
 * responses carry it.
 */

#include <evix/loop.h>

#include "http/text.h"

struct clock {
    const struct evix_loop *loop;
    uint64_t next_ns;        /* the loop's time from which on the text is old */
    int64_t seconds;         /* since the epoch */
    struct http_text fields; /* "Server: evixd\r\nDate: ...\r\n" */
    struct http_text ok;     /* the same behind "HTTP/1.1 200 OK\r\n": how most heads begin */
    char memory[80];
};

void clock_init(struct clock *clock, const struct evix_loop *loop);

/* Brings it up to date. To be called before `seconds` or `fields` are read. */
void clock_update_slow(struct clock *clock);

static inline void clock_update(struct clock *clock)
{
    if (evix_now_ns(clock->loop) >= clock->next_ns)
        clock_update_slow(clock);
}

#endif
