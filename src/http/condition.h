/* SPDX-License-Identifier: MIT */
#ifndef HTTP_CONDITION_H
#define HTTP_CONDITION_H

/* Entity tags and conditional requests (RFC 9110 8.8 and 13). */

#include "http/request.h"

/* An entity tag: `opaque` with its quotes. */
struct http_etag {
    struct http_text opaque;
    bool is_weak;
};

/* Reads exactly one tag, `"x"` or `W/"x"`: 0 or -EINVAL. */
int http_etag_parse(struct http_text text, struct http_etag *out);

/* RFC 9110 8.8.3.2. */
bool http_etag_equal_strong(const struct http_etag *a, const struct http_etag *b);
bool http_etag_equal_weak(const struct http_etag *a, const struct http_etag *b);

/* What is known of the selected representation. */
struct http_validators {
    struct http_text etag; /* as it is sent in ETag, quotes and W/ included; empty: none */
    bool has_modified;
    int64_t modified; /* in seconds, as it is sent in Last-Modified */
};

enum http_condition {
    HTTP_CONDITION_PROCEED = 0,
    HTTP_CONDITION_NOT_MODIFIED = 304,
    HTTP_CONDITION_FAILED = 412,
};

/*
 * Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since in the order of
 * RFC 9110 13.2.2. `validators` is NULL if there is no representation (`*` then matches nothing).
 * To be called only where the answer without them would be 2xx (13.2.1). `now` in seconds, for
 * dates with two-digit years.
 */
enum http_condition http_condition_evaluate(const struct http_request *request,
                                            const struct http_validators *validators, int64_t now);

/*
 * Whether a Range field is to be honoured: true without If-Range, else only if it holds the very
 * same strong tag or the exact Last-Modified date, and that date's second has passed (a file that
 * changed this second may change again within it, RFC 9110 8.8.2.2).
 */
bool http_condition_allows_range(const struct http_request *request,
                                 const struct http_validators *validators, int64_t now);

#endif
