/* SPDX-License-Identifier: MIT */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

/*
 * From bytes to a request: find where the head ends, then parse it in place. Nothing is copied and
 * nothing allocated. The usual use:
 *
 *     size_t head = http_head_end(data, length, &scanned);
 *     if (head != 0)
 *         status = http_head_parse(data, head, &limits, cache, &request);
 *     else
 *         status = http_head_overflow(data, length, &limits);      0: receive more
 */

#include "http/header_cache.h"
#include "http/request.h"

/* Empty lines tolerated before a request line (RFC 9112 2.2). */
#define HTTP_HEAD_EMPTY_LINES 4

/*
 * The length of the head at the start of `data`, its empty line and leading ones included, or 0 if
 * it is incomplete. `*scanned` starts at 0 and is kept by the caller between calls with more of the
 * same bytes: none is looked at twice. What can be no head (a TLS hello, a lone LF) ends at once,
 * so that http_head_parse() can refuse it without waiting for more.
 */
size_t http_head_end(const char *data, size_t length, size_t *scanned);

/*
 * For a head that is incomplete: 0 while it is within the limits, else the status to answer, 414 if
 * its request line alone is too long and 431 otherwise.
 */
int http_head_overflow(const char *data, size_t length, const struct http_limits *limits);

/*
 * Parses a whole head of `length` bytes, as http_head_end() measured it. 0, or the status to answer
 * (400, 414, 417, 421, 431, 501, 505) with `out->reason` set; after each of them the connection has
 * to be closed, but for 417 and 501 where `out->keep_alive` says. On failure method_text, target
 * and version are filled in as far as they are known, for the log. `out` was prepared with
 * http_request_init(). `cache` may be NULL; else it is used with the same limits each time.
 */
int http_head_parse(const char *data, size_t length, const struct http_limits *limits,
                    struct http_header_cache *cache, struct http_request *out);

#endif
