/* SPDX-License-Identifier: MIT */
#ifndef HTTP_STATUS_H
#define HTTP_STATUS_H

/* Status codes (RFC 9110 15). Codes are plain integers everywhere; the table in status.c is the
 * truth. */

#include "http/text.h"

/* "Not Found" and so on; "Unknown" for a code that the table lacks. */
struct http_text http_status_reason(int status);

/* "HTTP/1.1 404 Not Found\r\n", prebuilt for each code of the table; empty for another. */
struct http_text http_status_line(int status);

/* Whether a response with this status never has content: 1xx, 204, 304 (RFC 9112 6.3). */
static inline bool http_status_is_bodiless(int status)
{
    return status < 200 || status == 204 || status == 304;
}

#endif
