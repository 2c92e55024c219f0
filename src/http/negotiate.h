/* SPDX-License-Identifier: MIT */
#ifndef HTTP_NEGOTIATE_H
#define HTTP_NEGOTIATE_H

/* Proactive negotiation (RFC 9110 12). Weights are in thousandths: 0 is "not acceptable". */

#include "http/request.h"

/*
 * The weight of a media type, HTTP_TEXT("text"), HTTP_TEXT("html"): the most specific range that
 * matches decides. 1000 without an Accept field. Ranges with parameters other than q and charset
 * (and malformed ones) match nothing.
 */
unsigned http_accept_weight(const struct http_request *request, struct http_text type,
                            struct http_text subtype);

/* Whether application/json is wanted more than text/html: a tie is HTML's. */
bool http_accept_prefers_json(const struct http_request *request);

/* Whether HTML is among what the client accepts, by name. */
bool http_accept_names_page(const struct http_request *request);

/*
 * Whether the client means to show the answer as a page of its own: Sec-Fetch-Dest says so, or,
 * without that field, HTML is among what it accepts, by name.
 */
bool http_asks_for_document(const struct http_request *request);

/*
 * The weights of content codings ("br", "gzip", "identity"), in one pass over the fields. Without
 * the field only identity is acceptable here, with 1000 (RFC 9110 12.5.3 would allow any; old
 * clients cannot decode them). Identity is acceptable unless it, or `*` without it, has q=0;
 * unmentioned, it has the lowest weight, 1.
 */
void http_coding_weights(const struct http_request *request, const struct http_text *codings,
                         size_t count, int *weights);

/* Whether content without a coding is what the client says it can't use. */
bool http_identity_is_refused(const struct http_request *request);

#endif
