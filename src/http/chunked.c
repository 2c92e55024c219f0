/* SPDX-License-Identifier: MIT */
/*
 * Decodes the chunked transfer coding, byte-strict and in any slicing, and writes chunk heads.
 * It does not store content nor know how much of it is welcome: the caller counts.
 * Called by the server for request content, and for responses of unknown length.
 */
#include "http/chunked.h"

#include <assert.h>

/* Where in the coding the next byte stands. */
enum state {
    STATE_SIZE,         /* hexadecimal digits */
    STATE_SPACE,        /* white space after them: only an extension may follow */
    STATE_EXTENSION,    /* anything printable up to CR */
    STATE_SIZE_LF,      /* LF after the size's CR */
    STATE_DATA,         /* remaining bytes of content */
    STATE_DATA_CR,      /* CR after them */
    STATE_DATA_LF,      /* and LF */
    STATE_TRAILER,      /* at the start of a trailer line, or of the last empty line */
    STATE_TRAILER_NAME, /* within a trailer's name */
    STATE_TRAILER_TEXT, /* within a trailer's value */
    STATE_TRAILER_LF,   /* LF after a trailer's CR */
    STATE_LAST_LF,      /* LF of the empty line */
    STATE_DONE,
    STATE_BAD,
};

void http_chunked_init(struct http_chunked *chunked)
{
    *chunked = (struct http_chunked){.state = STATE_SIZE};
}

static enum state refuse(struct http_chunked *chunked, uint16_t status, const char *reason)
{
    chunked->status = status;
    chunked->reason = reason;
    return STATE_BAD;
}

static enum state expect(struct http_chunked *chunked, char byte, char wanted, enum state next)
{
    return byte == wanted ? next : refuse(chunked, 400, "a line of chunked coding lacks its CRLF");
}

static enum state read_size(struct http_chunked *chunked, char byte)
{
    int digit = http_byte_hex(byte);
    if (digit >= 0) {
        if (chunked->remaining >> 60 != 0 || chunked->digits == UINT8_MAX)
            return refuse(chunked, 400, "chunk size overflows");
        chunked->remaining = chunked->remaining << 4 | (unsigned)digit;
        chunked->digits++;
        return STATE_SIZE;
    }
    if (chunked->digits == 0)
        return refuse(chunked, 400, "chunk size is missing");
    if (byte == '\r')
        return STATE_SIZE_LF;
    if (byte == ';')
        return STATE_EXTENSION;
    if (byte == ' ' || byte == '\t')
        return STATE_SPACE;
    return refuse(chunked, 400, "malformed chunk size");
}

/* Extensions are ignored (RFC 9112 7.1.1), but not for ever. */
static enum state read_extension(struct http_chunked *chunked, enum state state, char byte)
{
    if (++chunked->extension_bytes > HTTP_CHUNKED_EXTENSION_BYTES)
        return refuse(chunked, 400, "chunk extensions are longer than the bound");
    if (state == STATE_SPACE) {
        if (byte == ' ' || byte == '\t')
            return STATE_SPACE;
        return byte == ';' ? STATE_EXTENSION
                           : refuse(chunked, 400, "white space after a chunk size");
    }
    if (byte == '\r')
        return STATE_SIZE_LF;
    return http_byte_is(byte, HTTP_BYTE_VALUE)
               ? STATE_EXTENSION
               : refuse(chunked, 400, "control byte in a chunk extension");
}

/* Trailers are held to the same grammar as fields, then forgotten. */
static enum state read_trailer(struct http_chunked *chunked, enum state state, char byte)
{
    if (++chunked->trailer_bytes > HTTP_CHUNKED_TRAILER_BYTES)
        return refuse(chunked, 431, "trailers are longer than the bound");
    if (state == STATE_TRAILER && byte == '\r')
        return STATE_LAST_LF;
    if (state != STATE_TRAILER_TEXT) {
        if (http_byte_is(byte, HTTP_BYTE_TOKEN))
            return STATE_TRAILER_NAME;
        if (state == STATE_TRAILER_NAME && byte == ':')
            return STATE_TRAILER_TEXT;
        return refuse(chunked, 400, "malformed trailer");
    }
    if (byte == '\r')
        return STATE_TRAILER_LF;
    return http_byte_is(byte, HTTP_BYTE_VALUE) ? STATE_TRAILER_TEXT
                                               : refuse(chunked, 400, "control byte in a trailer");
}

/* What the byte leads to, in each state that is no piece of content. */
static enum state step(struct http_chunked *chunked, char byte)
{
    enum state state = chunked->state;
    switch (state) {
    case STATE_SIZE:
        return read_size(chunked, byte);
    case STATE_SPACE:
    case STATE_EXTENSION:
        return read_extension(chunked, state, byte);
    case STATE_SIZE_LF:
        chunked->digits = 0;
        return expect(chunked, byte, '\n', chunked->remaining > 0 ? STATE_DATA : STATE_TRAILER);
    case STATE_DATA_CR:
        return expect(chunked, byte, '\r', STATE_DATA_LF);
    case STATE_DATA_LF:
        return expect(chunked, byte, '\n', STATE_SIZE);
    case STATE_TRAILER:
    case STATE_TRAILER_NAME:
    case STATE_TRAILER_TEXT:
        return read_trailer(chunked, state, byte);
    case STATE_TRAILER_LF:
        return expect(chunked, byte, '\n', STATE_TRAILER);
    case STATE_LAST_LF:
        return expect(chunked, byte, '\n', STATE_DONE);
    case STATE_DATA:
    case STATE_DONE:
    case STATE_BAD:
        break;
    }
    return state;
}

/* Hands out what there is of the current chunk. */
static size_t take_data(struct http_chunked *chunked, struct http_text available,
                        struct http_text *data)
{
    if (available.length > chunked->remaining)
        available.length = (size_t)chunked->remaining;
    assert(available.length > 0 && chunked->remaining > 0);
    *data = available;
    chunked->remaining -= available.length;
    chunked->decoded += available.length;
    if (chunked->remaining == 0)
        chunked->state = STATE_DATA_CR;
    return available.length;
}

enum http_chunked_outcome http_chunked_decode(struct http_chunked *chunked, const char *input,
                                              size_t length, size_t *consumed,
                                              struct http_text *data)
{
    size_t at = 0;
    assert(chunked->state <= STATE_BAD);
    *data = (struct http_text){NULL, 0};
    while (at < length && chunked->state < STATE_DONE) {
        if (chunked->state == STATE_DATA) {
            struct http_text available = {input + at, length - at};
            *consumed = at + take_data(chunked, available, data);
            return HTTP_CHUNKED_DATA;
        }
        chunked->state = (uint8_t)step(chunked, input[at]);
        at += chunked->state != STATE_BAD;
    }
    *consumed = at;
    if (chunked->state == STATE_DONE)
        return HTTP_CHUNKED_DONE;
    return chunked->state == STATE_BAD ? HTTP_CHUNKED_BAD : HTTP_CHUNKED_MORE;
}

uint64_t http_chunked_announced(const struct http_chunked *chunked)
{
    uint64_t total;
    if (__builtin_add_overflow(chunked->decoded, chunked->remaining, &total))
        return UINT64_MAX;
    return total;
}

size_t http_chunk_head(char out[HTTP_CHUNK_HEAD_BYTES], uint64_t size)
{
    static const char digits[16] = "0123456789abcdef";
    assert(size != 0); /* that would end the body */
    unsigned count = (unsigned)(67 - __builtin_clzll(size)) / 4;
    for (unsigned i = 0; i < count; i++)
        out[i] = digits[size >> (4 * (count - 1 - i)) & 15];
    out[count] = '\r';
    out[count + 1] = '\n';
    return count + 2;
}
