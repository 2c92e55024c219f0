/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ACCESS_RECORD_H
#define SERVER_ACCESS_RECORD_H

/* From an exchange to its line in the access log. */

#include <stdbool.h>
#include <stddef.h>

struct connection;
struct exchange;

/*
 * Called when the exchange is answered: if it will be logged, what it refers to is kept until then.
 * False, and the connection was ended, if there is no memory.
 */
bool access_record_keep(struct exchange *exchange);

/* The same for the head of its response, if the log asks for its fields. */
bool access_record_keep_head(struct exchange *exchange, const char *head, size_t length);

/* Called once, when its last byte has left or never will. */
void access_record_write(const struct exchange *exchange, struct connection *connection);

#endif
