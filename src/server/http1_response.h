/* SPDX-License-Identifier: MIT */
#ifndef SERVER_HTTP1_RESPONSE_H
#define SERVER_HTTP1_RESPONSE_H

/* The sending side of http1.h, for http1.c. */

#include "server/exchange.h"

struct connection;

extern const struct responder http1_responder;

/* Queues an interim response, whole with its empty line. */
void http1_respond_interim(struct exchange *exchange, const char *text, size_t length);

/*
 * The answer ends where it is, incomplete, or before it has begun, and no request follows; what was
 * queued before still leaves. The exchange is there until the caller's turn is over.
 */
void http1_cut_short(struct exchange *exchange);

/* Below: http1.c's, for http1_response.c. */

/* An exchange that waited goes on to its handler, and its client with its content. */
void http1_handle(struct exchange *exchange);

/* Back to the pool. */
void http1_exchange_put(struct exchange *exchange);

/* Lets go of the connection's exchange if both its sides are complete. */
void http1_settle(struct connection *connection);

/* Whether content that nobody wants can be read and dropped, so that the connection lives on. */
bool http1_can_skip_content(const struct exchange *exchange);

#endif
