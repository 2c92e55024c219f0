/* SPDX-License-Identifier: MIT */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

/*
 * A request's head, parsed. Everything in it points into the bytes of the head and is valid while
 * they are; http_request_clone() makes a copy that stands alone. Filled by http_head_parse().
 */

#include "http/field.h"
#include "http/method.h"
#include "http/text.h"

/* What a request may cost; the caller's settings. */
struct http_limits {
    size_t target_bytes; /* longer: 414 */
    size_t head_bytes;   /* longer: 431 (414 if the request line alone is) */
    unsigned fields;     /* more: 431; also bounded by the capacity given to http_request_init() */
};

/* The four forms of a request target, RFC 9112 3.2. */
enum http_target_form {
    HTTP_TARGET_NONE, /* not known: the request line was malformed */
    HTTP_TARGET_ORIGIN,
    HTTP_TARGET_ABSOLUTE,
    HTTP_TARGET_AUTHORITY, /* CONNECT only */
    HTTP_TARGET_ASTERISK,  /* OPTIONS only */
};

/* How long the content is, RFC 9112 6.3. */
enum http_body_framing {
    HTTP_BODY_NONE,    /* no content; also Content-Length: 0 */
    HTTP_BODY_LENGTH,  /* request.content_length bytes, at least one */
    HTTP_BODY_CHUNKED, /* see chunked.h */
};

struct http_request {
    enum http_method method;
    enum http_target_form form;
    enum http_body_framing body;
    uint8_t minor_version; /* 0 or 1: HTTP/1.2 and above are treated as 1.1 (RFC 9110 2.5) */
    bool has_version;      /* false: the version was malformed or not reached */
    bool has_query;        /* `?` was there, even if nothing followed it */
    bool has_content_length;
    bool keep_alive;      /* the client wants to, and may, send another request */
    bool expect_continue; /* 100-continue is awaited before content: only 1.1 with content */
    uint16_t port;        /* of the host; 0 if none was given */

    struct http_text method_text;
    struct http_text target; /* as it was sent */
    struct http_text path;   /* raw, begins with `/` (ORIGIN, ABSOLUTE), else empty */
    struct http_text query;  /* raw, without the `?` */
    struct http_text host; /* without the port; an IPv6 literal keeps its brackets; may be empty */
    uint64_t content_length;

    struct http_text head; /* all of its bytes, the last empty line included, leading ones not */
    const char *reason;    /* on failure: the rule that was broken, a constant string; else NULL */

    struct http_field *fields; /* in the order received; memory given by the caller */
    uint16_t field_count;
    uint16_t field_capacity;
    uint16_t known[HTTP_FIELD_COUNT]; /* private: index of the first of each known name, plus 1 */
};

/* Gives the request its array for fields, once; http_head_parse() resets all else. */
void http_request_init(struct http_request *request, struct http_field *fields, unsigned capacity);

/* The value of the first field of that name, or NULL. O(1). */
static inline const struct http_text *http_request_field(const struct http_request *request,
                                                         enum http_field_id id)
{
    uint16_t index = request->known[id];
    return index != 0 ? &request->fields[index - 1].value : NULL;
}

/* The same, but NULL also if it was sent more than once: for fields that take a single value. */
const struct http_text *http_request_field_single(const struct http_request *request,
                                                  enum http_field_id id);

/* Whether that name was on more than one line. */
bool http_request_field_is_repeated(const struct http_request *request, enum http_field_id id);

/* The members of a list field, over all lines of that name in order (RFC 9110 5.3). */
struct http_list {
    const struct http_request *request; /* private, as all here */
    struct http_text rest;
    uint16_t next;
};

void http_list_start(struct http_list *list, const struct http_request *request,
                     enum http_field_id id);

/* False at the end; `*member` is trimmed and never empty. */
bool http_list_next(struct http_list *list, struct http_text *member);

/* Whether a member equals the token, in any case: http_request_lists(r, CONNECTION, "close"). */
bool http_request_lists(const struct http_request *request, enum http_field_id id,
                        struct http_text token);

/*
 * A deep copy with its head and fields in one allocation, for handlers that answer later; the
 * caller frees it with free(). NULL if there is no memory.
 */
struct http_request *http_request_clone(const struct http_request *request);

#endif
