/* SPDX-License-Identifier: MIT */
#ifndef SERVER_PRECONDITION_H
#define SERVER_PRECONDITION_H

/* Conditional requests (RFC 9110 13), for every handler that has a representation to give. */

#include "http/condition.h"
#include "server/exchange.h"

/* Whether the request has conditions at all: most have none. */
static inline bool precondition_is_there(const struct http_request *request)
{
    return http_request_field(request, HTTP_FIELD_IF_NONE_MATCH) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_MODIFIED_SINCE) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_MATCH) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_UNMODIFIED_SINCE) != NULL;
}

/*
 * Evaluates them; to be called where the answer would be a 200. FAILED was answered with 412 and
 * `fields` when this returns; a 304 is the caller's, who knows its fields.
 */
enum http_condition precondition_evaluate(struct exchange *exchange,
                                          const struct http_validators *validators,
                                          struct http_text fields);

/*
 * The same for what is made anew for each request and has no validators: a tag matches nothing of
 * it, `*` does, and dates are ignored. True: it was answered, with a 412 or a 304, with `fields`.
 */
bool precondition_decides(struct exchange *exchange, struct http_text fields);

#endif
