/* SPDX-License-Identifier: MIT */
#ifndef SERVER_BODY_PARTS_H
#define SERVER_BODY_PARTS_H

/* A body that is several ranges of a file in turn, as multipart/byteranges (RFC 9110 14.6). */

#include "files/store.h"
#include "http/multipart.h"

/*
 * `multipart` and the ranges are copied; the media type is the file's, on which a reference is
 * taken. The body's length is exact. 0, -ENOMEM, or -EOVERFLOW if the length is beyond any number.
 */
int body_from_parts(struct body **out, struct store *store, struct representation *file,
                    const struct http_multipart *multipart, const struct http_ranges *ranges);

#endif
