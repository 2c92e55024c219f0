/* SPDX-License-Identifier: MIT */
#ifndef HTTP_TEXT_H
#define HTTP_TEXT_H

/*
 * A slice of bytes that somebody else owns: never NUL-terminated, never copied, never freed. Every
 * slice of a request points into the bytes of its head and lives as long as they do.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct http_text {
    const char *data;
    size_t length;
};

/* A slice of a string literal. */
#define HTTP_TEXT(literal) ((struct http_text){"" literal, sizeof(literal) - 1})

static inline struct http_text http_text_of(const char *string)
{
    return (struct http_text){string, strlen(string)};
}

static inline bool http_text_equal(struct http_text a, struct http_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* The same, but ASCII letters match in either case (never by locale). */
bool http_text_equal_nocase(struct http_text a, struct http_text b);

/* Without the spaces and tabs at both ends (OWS, RFC 9110 5.6.3). */
struct http_text http_text_trim(struct http_text text);

/*
 * Takes the next member off a comma-separated list (#rule, RFC 9110 5.6.1): `*rest` shrinks by it,
 * `*member` is trimmed and never empty. Empty members are skipped; a comma inside a quoted string
 * does not separate. False when nothing is left.
 */
bool http_text_next_member(struct http_text *rest, struct http_text *member);

/* The same for `;`: parameters of a member. Here the members may be empty. */
bool http_text_next_parameter(struct http_text *rest, struct http_text *parameter);

/* Decimal digits and nothing else: 0, -EINVAL (empty, a sign, anything else) or -ERANGE. */
int http_text_to_number(struct http_text text, uint64_t *out);

/* Byte classes of RFC 9110 5.6.2 (token) and RFC 3986 2.3; one table, one bit each. */
enum {
    HTTP_BYTE_TOKEN = 1,       /* tchar */
    HTTP_BYTE_TARGET = 2,      /* visible ASCII but `#`: may stand in a request target */
    HTTP_BYTE_VALUE = 4,       /* HTAB, SP, visible ASCII, 0x80 to 0xFF: a field value's bytes */
    HTTP_BYTE_HOST = 8,        /* unreserved and sub-delims: reg-name but for `%` */
    HTTP_BYTE_UNRESERVED = 16, /* stands in a path that we write as it is */
    HTTP_BYTE_ETAG = 32,       /* etagc, RFC 9110 8.8.3 */
};
extern const uint8_t http_byte_classes[256];

static inline bool http_byte_is(char byte, unsigned classes)
{
    return (http_byte_classes[(unsigned char)byte] & classes) != 0;
}

/* The value of a hexadecimal digit, or -1. */
int http_byte_hex(char byte);

#endif
