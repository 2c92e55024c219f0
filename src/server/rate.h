/* SPDX-License-Identifier: MIT */
#ifndef SERVER_RATE_H
#define SERVER_RATE_H

/*
 * How long a client may go on at limits.min_rate: arithmetic alone.
 *
 * It begins with the time of its timeout, and each byte that it moves buys it as much more as the
 * minimum rate needs for a byte. Until what it has bought is used up, it may also stand still: what
 * is seen of a slow reader are not the bytes that it reads, but those that its kernel acknowledges,
 * and these come in steps of a receive buffer. At 500 bytes a second, a step on loopback (95,232
 * bytes with Linux's defaults) takes more than three minutes. So a reader that is never slower than
 * the minimum rate is never cut off, if its steps are no longer than RATE_CREDIT_BYTES.
 */

#include <stdint.h>

/* What can be bought in advance, in bytes: Linux's receive buffer by default. */
#define RATE_CREDIT_BYTES 131072

/*
 * When the client's time is over, after it has moved `moved` bytes since this was asked last, and
 * its time was over at `due_ms`; not before now: cut it off. With a `min_rate` (bytes a second) of
 * 0, any byte buys the whole `timeout_ms`.
 */
uint64_t rate_due_ms(uint64_t due_ms, uint64_t now_ms, uint64_t moved, uint64_t timeout_ms,
                     uint64_t min_rate);

#endif
