/* SPDX-License-Identifier: MIT */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

/*
 * Building a response's head in the caller's memory: a cursor that never runs over its end. Nothing
 * is printed by format; what does not fit sets `failed`, which is looked at once, at the end.
 */

#include "http/field.h"
#include "http/method.h"
#include "http/status.h"

struct http_writer {
    char *at; /* where the next byte goes */
    char *end;
    bool failed; /* something did not fit, or would have broken the head: do not send it */
};

static inline void http_writer_init(struct http_writer *writer, char *memory, size_t capacity)
{
    *writer = (struct http_writer){.at = memory, .end = memory + capacity};
}

static inline void http_write(struct http_writer *writer, struct http_text text)
{
    if ((size_t)(writer->end - writer->at) < text.length) {
        writer->failed = true;
        writer->end = writer->at; /* nothing shorter may follow what was left out */
        return;
    }
    if (text.length != 0)
        memcpy(writer->at, text.data, text.length);
    writer->at += text.length;
}

/* Decimal. */
void http_write_number(struct http_writer *writer, uint64_t number);

/* "HTTP/1.1 200 OK\r\n"; a code without a reason is written with an empty one. 100 to 999. */
void http_write_status(struct http_writer *writer, int status);

/* "Name: value\r\n". A value that holds CR, LF or NUL fails: it would split the head. */
void http_write_field(struct http_writer *writer, enum http_field_id id, struct http_text value);

/* The same with a name of the caller's (configured headers); it has to be a token. */
void http_write_named_field(struct http_writer *writer, struct http_text name,
                            struct http_text value);

void http_write_number_field(struct http_writer *writer, enum http_field_id id, uint64_t number);

/* Leaves the field out if the date cannot be expressed. */
void http_write_date_field(struct http_writer *writer, enum http_field_id id, int64_t time);

/* "Content-Range: bytes 0-4/1000\r\n"; a NULL range is that of a 416. */
struct http_range;
void http_write_content_range(struct http_writer *writer, const struct http_range *range,
                              uint64_t size);

/* "Allow: GET, HEAD\r\n" from a set of HTTP_METHOD_BIT(). */
void http_write_allow(struct http_writer *writer, unsigned methods);

/* A path, percent-encoded as http_path_encode() does; for the value of Location. */
void http_write_path(struct http_writer *writer, struct http_text path);

/* "Location: /encoded/path/?query\r\n"; the raw query is kept byte for byte if there is one. */
void http_write_location(struct http_writer *writer, struct http_text path,
                         const struct http_text *raw_query);

/* The empty line. Returns the head's length since `start`, or 0 if the writer failed. */
size_t http_write_head_end(struct http_writer *writer, const char *start);

#endif
