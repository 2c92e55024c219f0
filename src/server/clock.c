/* SPDX-License-Identifier: MIT */
/*
 * The Date line of responses, formatted once a second.
 * It does not keep time by itself: whoever reads it updates it first.
 * Called by http1.c and the handlers.
 */
#include "server/clock.h"

#include <assert.h>
#include <time.h>

#include "http/response.h"

#define SECOND_NS 1000000000u

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

    struct http_writer writer;
    http_writer_init(&writer, clock->memory, sizeof(clock->memory));
    http_write_status(&writer, 200);
    char *fields = writer.at;
    http_write(&writer, HTTP_TEXT("Server: evixd\r\n"));
    /* RFC 9110 6.6.1: without a usable clock there is no Date. */
    http_write_date_field(&writer, HTTP_FIELD_DATE, now.tv_sec);
    assert(!writer.failed);
    clock->fields = (struct http_text){fields, (size_t)(writer.at - fields)};
    clock->ok = (struct http_text){clock->memory, (size_t)(writer.at - clock->memory)};
}
