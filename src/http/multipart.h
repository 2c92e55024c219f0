/* SPDX-License-Identifier: MIT */
#ifndef HTTP_MULTIPART_H
#define HTTP_MULTIPART_H

/*
 * The media type multipart/byteranges (RFC 9110 14.6, RFC 2046 5.1): what stands before, between
 * and behind the parts, and how long it all is. No content passes through here.
 */

#include "http/range.h"
#include "http/response.h"

#define HTTP_BOUNDARY_BYTES 16

struct http_multipart {
    struct http_text media_type; /* of the representation, said in each part; the caller's memory */
    uint64_t size;               /* of the representation */
    char boundary[HTTP_BOUNDARY_BYTES];
};

/*
 * `random` becomes the boundary. Nobody must be able to foretell it, for nobody looks whether the
 * content holds it.
 */
void http_multipart_init(struct http_multipart *multipart, struct http_text media_type,
                         uint64_t size, uint64_t random);

/* So much is a part longer than its content, at most: room for a part's head, and for the end. */
size_t http_multipart_overhead(const struct http_multipart *multipart);

/*
 * What comes before a part's content; returns its length. Each begins with a line's end, also the
 * first, where it is an empty preamble (RFC 2046 5.1.1): some clients count on it.
 */
size_t http_multipart_part(const struct http_multipart *multipart, const struct http_range *range,
                           char *out);

/* What comes behind the last part's content. */
size_t http_multipart_end(const struct http_multipart *multipart, char *out);

/* The exact length of the whole with these parts; UINT64_MAX if it can't be expressed. */
uint64_t http_multipart_length(const struct http_multipart *multipart,
                               const struct http_range *ranges, unsigned count);

/* The Content-Type of the response. */
void http_multipart_write_type(const struct http_multipart *multipart, struct http_writer *writer);

#endif
