/* SPDX-License-Identifier: MIT */
#ifndef SERVER_HTTP1_H
#define SERVER_HTTP1_H

/* HTTP/1.1 (RFC 9112) on a connection: bytes become exchanges, and answers bytes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct worker;

/* Looks at input, takes what can be taken now, and says how much that was. */
size_t http1_take(struct connection *connection, const char *data, size_t length);

/* Asks bodies for more and sends what was gathered, unless something is being sent. */
void http1_send(struct connection *connection);

/* What was being sent has left: all of it. */
void http1_sent(struct connection *connection, uint64_t bytes);

/* The file that is being sent cannot be read: its answer ends early, those before it do not. */
void http1_piece_failed(struct connection *connection, int error);

/* The client's time for its request is over: 408 if it had begun one and can still be told. */
void http1_time_out(struct connection *connection);

/* Input was lost: no request after what is answered already. */
void http1_give_up(struct connection *connection);

/* True if the client owes content that a handler waits for. */
bool http1_awaits_content(const struct connection *connection);

/* The connection ends: handlers are told. */
void http1_cancel(struct connection *connection);

/* The connection has ended, and nothing is in flight: everything is given back. */
void http1_release(struct connection *connection);

/* The exchanges' pool; at the worker's end. */
void http1_pool_fini(struct worker *worker);

#endif
