/* SPDX-License-Identifier: MIT */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

/*
 * The chunked transfer coding (RFC 9112 7.1): a strict decoder that works on any slicing of its
 * input and hands out the data in place, and the writing of chunk heads.
 */

#include "http/text.h"

/* Bounds over one whole body: extensions and trailers are read and ignored. */
#define HTTP_CHUNKED_EXTENSION_BYTES 16384
#define HTTP_CHUNKED_TRAILER_BYTES   16384

enum http_chunked_outcome {
    HTTP_CHUNKED_MORE, /* all input was consumed; give more */
    HTTP_CHUNKED_DATA, /* `*data` is a piece of the content; call again with what is left */
    HTTP_CHUNKED_DONE, /* the body is complete; what is left is the next request's */
    HTTP_CHUNKED_BAD,  /* malformed (400) or over a bound (431): see status and reason; close */
};

struct http_chunked {
    uint64_t remaining;       /* private: of the current chunk, or its size so far */
    uint64_t decoded;         /* content bytes handed out, to hold against a body limit */
    uint32_t extension_bytes; /* private, as the next three */
    uint32_t trailer_bytes;
    uint8_t state;
    uint8_t digits;
    uint16_t status;    /* with HTTP_CHUNKED_BAD: the status to answer */
    const char *reason; /* and the rule that was broken, a constant string */
};

void http_chunked_init(struct http_chunked *chunked);

/*
 * Reads at most `length` bytes of `input`; `*consumed` says how many were used up (those of `*data`
 * included). The size of a chunk is known when its first data come: a caller that limits the body
 * compares http_chunked_announced() with its limit after each call.
 */
enum http_chunked_outcome http_chunked_decode(struct http_chunked *chunked, const char *input,
                                              size_t length, size_t *consumed,
                                              struct http_text *data);

/* Content bytes handed out, plus those that the current chunk has promised. Saturates. */
uint64_t http_chunked_announced(const struct http_chunked *chunked);

/* Room for http_chunk_head(): 16 digits and CRLF. */
#define HTTP_CHUNK_HEAD_BYTES 18

/* Writes "1f4\r\n" and returns its length. After the data comes CRLF. `size` is not 0. */
size_t http_chunk_head(char out[HTTP_CHUNK_HEAD_BYTES], uint64_t size);

/* What ends a chunked body without trailers: "0\r\n\r\n". */
#define HTTP_CHUNK_LAST HTTP_TEXT("0\r\n\r\n")

#endif
