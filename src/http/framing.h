/* SPDX-License-Identifier: MIT */
#ifndef HTTP_FRAMING_H
#define HTTP_FRAMING_H

/*
 * Private to this room: the second half of the guard. It decides, from fields alone, what frames
 * the message and whether another may follow it (RFC 9112 6 and 9).
 */

#include "http/request.h"

/*
 * Sets body, content_length, has_content_length, keep_alive and expect_continue. 0, or 400, 417 or
 * 501 with `out->reason` set; after a 400 what follows the head cannot be trusted.
 */
int http_framing_decide(struct http_request *out);

#endif
