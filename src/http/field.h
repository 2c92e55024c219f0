/* SPDX-License-Identifier: MIT */
#ifndef HTTP_FIELD_H
#define HTTP_FIELD_H

/*
 * The field names that evixd reads or writes. One list feeds the enum, the names and the finder:
 * the letters are a name's first and last, which with its length tell every two names apart.
 */

#include "http/text.h"

#define HTTP_FIELD_MAP(XX)                                                                         \
    XX(ACCEPT, "Accept", 'a', 't')                                                                 \
    XX(ACCEPT_CHARSET, "Accept-Charset", 'a', 't')                                                 \
    XX(ACCEPT_ENCODING, "Accept-Encoding", 'a', 'g')                                               \
    XX(ACCEPT_LANGUAGE, "Accept-Language", 'a', 'e')                                               \
    XX(ACCEPT_RANGES, "Accept-Ranges", 'a', 's')                                                   \
    XX(ACCESS_CONTROL_ALLOW_ORIGIN, "Access-Control-Allow-Origin", 'a', 'n')                       \
    XX(AGE, "Age", 'a', 'e')                                                                       \
    XX(ALLOW, "Allow", 'a', 'w')                                                                   \
    XX(AUTHORIZATION, "Authorization", 'a', 'n')                                                   \
    XX(CACHE_CONTROL, "Cache-Control", 'c', 'l')                                                   \
    XX(CONNECTION, "Connection", 'c', 'n')                                                         \
    XX(CONTENT_DISPOSITION, "Content-Disposition", 'c', 'n')                                       \
    XX(CONTENT_ENCODING, "Content-Encoding", 'c', 'g')                                             \
    XX(CONTENT_LANGUAGE, "Content-Language", 'c', 'e')                                             \
    XX(CONTENT_LENGTH, "Content-Length", 'c', 'h')                                                 \
    XX(CONTENT_LOCATION, "Content-Location", 'c', 'n')                                             \
    XX(CONTENT_RANGE, "Content-Range", 'c', 'e')                                                   \
    XX(CONTENT_SECURITY_POLICY, "Content-Security-Policy", 'c', 'y')                               \
    XX(CONTENT_TYPE, "Content-Type", 'c', 'e')                                                     \
    XX(COOKIE, "Cookie", 'c', 'e')                                                                 \
    XX(DATE, "Date", 'd', 'e')                                                                     \
    XX(ETAG, "ETag", 'e', 'g')                                                                     \
    XX(EXPECT, "Expect", 'e', 't')                                                                 \
    XX(EXPIRES, "Expires", 'e', 's')                                                               \
    XX(FORWARDED, "Forwarded", 'f', 'd')                                                           \
    XX(HOST, "Host", 'h', 't')                                                                     \
    XX(IF_MATCH, "If-Match", 'i', 'h')                                                             \
    XX(IF_MODIFIED_SINCE, "If-Modified-Since", 'i', 'e')                                           \
    XX(IF_NONE_MATCH, "If-None-Match", 'i', 'h')                                                   \
    XX(IF_RANGE, "If-Range", 'i', 'e')                                                             \
    XX(IF_UNMODIFIED_SINCE, "If-Unmodified-Since", 'i', 'e')                                       \
    XX(KEEP_ALIVE, "Keep-Alive", 'k', 'e')                                                         \
    XX(LAST_MODIFIED, "Last-Modified", 'l', 'd')                                                   \
    XX(LOCATION, "Location", 'l', 'n')                                                             \
    XX(MAX_FORWARDS, "Max-Forwards", 'm', 's')                                                     \
    XX(ORIGIN, "Origin", 'o', 'n')                                                                 \
    XX(RANGE, "Range", 'r', 'e')                                                                   \
    XX(REFERER, "Referer", 'r', 'r')                                                               \
    XX(RETRY_AFTER, "Retry-After", 'r', 'r')                                                       \
    XX(SEC_FETCH_DEST, "Sec-Fetch-Dest", 's', 't')                                                 \
    XX(SERVER, "Server", 's', 'r')                                                                 \
    XX(TE, "TE", 't', 'e')                                                                         \
    XX(TRAILER, "Trailer", 't', 'r')                                                               \
    XX(TRANSFER_ENCODING, "Transfer-Encoding", 't', 'g')                                           \
    XX(UPGRADE, "Upgrade", 'u', 'e')                                                               \
    XX(USER_AGENT, "User-Agent", 'u', 't')                                                         \
    XX(VARY, "Vary", 'v', 'y')                                                                     \
    XX(VIA, "Via", 'v', 'a')                                                                       \
    XX(WWW_AUTHENTICATE, "WWW-Authenticate", 'w', 'e')                                             \
    XX(X_CONTENT_TYPE_OPTIONS, "X-Content-Type-Options", 'x', 's')                                 \
    XX(X_FORWARDED_FOR, "X-Forwarded-For", 'x', 'r')

enum http_field_id {
    HTTP_FIELD_OTHER, /* not in the list */
#define HTTP_FIELD_ENUM(id, name, first, last) HTTP_FIELD_##id,
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
