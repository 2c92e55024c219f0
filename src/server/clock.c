/* SPDX-License-Identifier: MIT */
/*
 * The Date line of responses, formatted once a second.
 * It does not keep time by itself: whoever reads it updates it first.
 * Called by http1.c and the handlers.
 */
#include "server/clock.h"

#include <time.h>

#include "http/date.h"

#define DATE_PREFIX "Server: evixd\r\nDate: "
#define SECOND_NS   1000000000u

void clock_init(struct clock *clock, const struct evix_loop *loop)
{
    *clock = (struct clock){.loop = loop};
    clock_update_slow(clock);
}

void clock_update_slow(struct clock *clock)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return;
    /* The text is good until the wall clock's second ends. */
    clock->next_ns = evix_now_ns(clock->loop) + SECOND_NS - (uint64_t)now.tv_nsec;
    clock->seconds = now.tv_sec;

    size_t prefix = sizeof(DATE_PREFIX) - 1;
    memcpy(clock->memory, DATE_PREFIX, prefix);
    clock->fields.data = clock->memory;
    if (http_date_format(now.tv_sec, clock->memory + prefix) != 0) {
        /* RFC 9110 6.6.1: without a usable clock there is no Date. */
        clock->fields.length = prefix - sizeof("Date: ") + 1;
        return;
    }
    memcpy(clock->memory + prefix + HTTP_DATE_LENGTH, "\r\n", 2);
    clock->fields.length = prefix + HTTP_DATE_LENGTH + 2;
}
