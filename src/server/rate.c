/* SPDX-License-Identifier: MIT */
/*
 * The minimum rate: what a client has moved, as time.
 * It knows no clock, no socket, and not what becomes of a client that is too slow.
 * Called by connection.c and echo_tcp.c.
 */
#include "server/rate.h"

#define MS_A_SECOND 1000

uint64_t rate_due_ms(uint64_t due_ms, uint64_t now_ms, uint64_t moved, uint64_t timeout_ms,
                     uint64_t min_rate)
{
    if (moved == 0)
        return due_ms;
    if (min_rate == 0)
        return now_ms + timeout_ms;

    uint64_t latest_ms = now_ms + timeout_ms + RATE_CREDIT_BYTES * MS_A_SECOND / min_rate;
    /* The first look is at whole seconds, for which no product can be too large. */
    if (due_ms >= latest_ms || moved / min_rate > (latest_ms - due_ms) / MS_A_SECOND)
        return latest_ms;
    due_ms += moved * MS_A_SECOND / min_rate;
    return due_ms < latest_ms ? due_ms : latest_ms;
}
