/* SPDX-License-Identifier: MIT */
#ifndef SERVER_STATIC_CONTENT_H
#define SERVER_STATIC_CONTENT_H

/* How a file that was found becomes a response: 304 and 412, the whole, or parts of it. */

#include "server/exchange.h"

/* Evaluates conditions and ranges in the order of RFC 9110 13.2.2, and answers. */
void static_answer_file(struct exchange *exchange, struct representation *file);

#endif
