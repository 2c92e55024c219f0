/* SPDX-License-Identifier: MIT */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

/* Private to this room: the form of a request target, and the host it is for (RFC 9112 3.2, 3.3).
 */

#include "http/request.h"

/*
 * Sets form, path and query from `out->target`, and host and port if it has them. The target's
 * bytes have been checked. 0, or 400 or 421 with `out->reason` set.
 */
int http_target_parse(struct http_request *out);

/* Then, when the fields are known: checks Host, and takes host and port from it if none are set. */
int http_host_parse(struct http_request *out);

/*
 * Splits "host", "host:", "host:80" or "[::1]:80" after checking it. `*has_port` tells whether a
 * port that is not empty was there. 0 or -EINVAL.
 */
int http_authority_parse(struct http_text text, struct http_text *host, uint16_t *port,
                         bool *has_port);

#endif
