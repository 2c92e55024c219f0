/* SPDX-License-Identifier: MIT */
#ifndef HTTP_FIELD_H
#define HTTP_FIELD_H

/* The field names that evixd reads or writes. One list feeds the enum, the names and the finder. */

#include "http/text.h"

#define HTTP_FIELD_MAP(XX)                                                                         \
    XX(ACCEPT, "Accept")                                                                           \
    XX(ACCEPT_CHARSET, "Accept-Charset")                                                           \
    XX(ACCEPT_ENCODING, "Accept-Encoding")                                                         \
    XX(ACCEPT_LANGUAGE, "Accept-Language")                                                         \
    XX(ACCEPT_RANGES, "Accept-Ranges")                                                             \
    XX(ACCESS_CONTROL_ALLOW_ORIGIN, "Access-Control-Allow-Origin")                                 \
    XX(AGE, "Age")                                                                                 \
    XX(ALLOW, "Allow")                                                                             \
    XX(AUTHORIZATION, "Authorization")                                                             \
    XX(CACHE_CONTROL, "Cache-Control")                                                             \
    XX(CONNECTION, "Connection")                                                                   \
    XX(CONTENT_DISPOSITION, "Content-Disposition")                                                 \
    XX(CONTENT_ENCODING, "Content-Encoding")                                                       \
    XX(CONTENT_LANGUAGE, "Content-Language")                                                       \
    XX(CONTENT_LENGTH, "Content-Length")                                                           \
    XX(CONTENT_LOCATION, "Content-Location")                                                       \
    XX(CONTENT_RANGE, "Content-Range")                                                             \
    XX(CONTENT_SECURITY_POLICY, "Content-Security-Policy")                                         \
    XX(CONTENT_TYPE, "Content-Type")                                                               \
    XX(COOKIE, "Cookie")                                                                           \
    XX(DATE, "Date")                                                                               \
    XX(ETAG, "ETag")                                                                               \
    XX(EXPECT, "Expect")                                                                           \
    XX(EXPIRES, "Expires")                                                                         \
    XX(FORWARDED, "Forwarded")                                                                     \
    XX(HOST, "Host")                                                                               \
    XX(IF_MATCH, "If-Match")                                                                       \
    XX(IF_MODIFIED_SINCE, "If-Modified-Since")                                                     \
    XX(IF_NONE_MATCH, "If-None-Match")                                                             \
    XX(IF_RANGE, "If-Range")                                                                       \
    XX(IF_UNMODIFIED_SINCE, "If-Unmodified-Since")                                                 \
    XX(KEEP_ALIVE, "Keep-Alive")                                                                   \
    XX(LAST_MODIFIED, "Last-Modified")                                                             \
    XX(LOCATION, "Location")                                                                       \
    XX(MAX_FORWARDS, "Max-Forwards")                                                               \
    XX(ORIGIN, "Origin")                                                                           \
    XX(RANGE, "Range")                                                                             \
    XX(REFERER, "Referer")                                                                         \
    XX(RETRY_AFTER, "Retry-After")                                                                 \
    XX(SEC_FETCH_DEST, "Sec-Fetch-Dest")                                                           \
    XX(SERVER, "Server")                                                                           \
    XX(TE, "TE")                                                                                   \
    XX(TRAILER, "Trailer")                                                                         \
    XX(TRANSFER_ENCODING, "Transfer-Encoding")                                                     \
    XX(UPGRADE, "Upgrade")                                                                         \
    XX(USER_AGENT, "User-Agent")                                                                   \
    XX(VARY, "Vary")                                                                               \
    XX(VIA, "Via")                                                                                 \
    XX(WWW_AUTHENTICATE, "WWW-Authenticate")                                                       \
    XX(X_CONTENT_TYPE_OPTIONS, "X-Content-Type-Options")                                           \
    XX(X_FORWARDED_FOR, "X-Forwarded-For")

enum http_field_id {
    HTTP_FIELD_OTHER, /* not in the list */
#define HTTP_FIELD_ENUM(id, name) HTTP_FIELD_##id,
    HTTP_FIELD_MAP(HTTP_FIELD_ENUM)
#undef HTTP_FIELD_ENUM
        HTTP_FIELD_COUNT
};

/* One field line of a request, in place. */
struct http_field {
    struct http_text name;
    struct http_text value; /* trimmed; may be empty */
    uint16_t id;            /* enum http_field_id */
    uint16_t next;          /* index of the next field of the same known name, 0 if none */
};

/* Names match in either case (RFC 9110 5.1). */
enum http_field_id http_field_find(struct http_text name);

/* The name as we write it; empty for HTTP_FIELD_OTHER. */
struct http_text http_field_name(enum http_field_id id);

#endif
