/* SPDX-License-Identifier: MIT */
/*
 * Writes the parts' heads and the end of multipart/byteranges, and counts the length beforehand.
 * It does not choose the ranges (range.c) nor read what is in them: the server's body does.
 * Called by the server, for several ranges in one request.
 */
#include "http/multipart.h"

#include <assert.h>

void http_multipart_init(struct http_multipart *multipart, struct http_text media_type,
                         uint64_t size, uint64_t random)
{
    static const char digits[16] = "0123456789abcdef";
    *multipart = (struct http_multipart){.media_type = media_type, .size = size};
    for (unsigned i = 0; i < HTTP_BOUNDARY_BYTES; i++)
        multipart->boundary[i] = digits[random >> (4 * i) & 15];
}

static struct http_text boundary_of(const struct http_multipart *multipart)
{
    return (struct http_text){multipart->boundary, HTTP_BOUNDARY_BYTES};
}

size_t http_multipart_overhead(const struct http_multipart *multipart)
{
    static const char constant[] = "\r\n--\r\nContent-Type: \r\nContent-Range: \r\n\r\n";
    return sizeof(constant) + HTTP_BOUNDARY_BYTES + multipart->media_type.length +
           HTTP_CONTENT_RANGE_BYTES;
}

size_t http_multipart_part(const struct http_multipart *multipart, const struct http_range *range,
                           char *out)
{
    struct http_writer writer;
    http_writer_init(&writer, out, http_multipart_overhead(multipart));
    http_write(&writer, HTTP_TEXT("\r\n--"));
    http_write(&writer, boundary_of(multipart));
    http_write(&writer, HTTP_TEXT("\r\n"));
    if (multipart->media_type.length != 0)
        http_write_field(&writer, HTTP_FIELD_CONTENT_TYPE, multipart->media_type);
    http_write_content_range(&writer, range, multipart->size);
    http_write(&writer, HTTP_TEXT("\r\n"));
    assert(!writer.failed);
    return (size_t)(writer.at - out);
}

size_t http_multipart_end(const struct http_multipart *multipart, char *out)
{
    struct http_writer writer;
    http_writer_init(&writer, out, http_multipart_overhead(multipart));
    http_write(&writer, HTTP_TEXT("\r\n--"));
    http_write(&writer, boundary_of(multipart));
    http_write(&writer, HTTP_TEXT("--\r\n"));
    assert(!writer.failed);
    return (size_t)(writer.at - out);
}

static size_t digits_of(uint64_t number)
{
    size_t count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

/* Everything in a part's head that is not its range or the size has the same length in each. */
static uint64_t head_length(const struct http_multipart *multipart, const struct http_range *range)
{
    static const char always[] = "\r\n--\r\nContent-Range: bytes -/\r\n\r\n";
    static const char type[] = "Content-Type: \r\n";
    size_t length = sizeof(always) - 1 + HTTP_BOUNDARY_BYTES + digits_of(range->first) +
                    digits_of(range->last) + digits_of(multipart->size);
    if (multipart->media_type.length != 0)
        length += sizeof(type) - 1 + multipart->media_type.length;
    return length;
}

uint64_t http_multipart_length(const struct http_multipart *multipart,
                               const struct http_range *ranges, unsigned count)
{
    static const char end[] = "\r\n----\r\n";
    uint64_t total = sizeof(end) - 1 + HTTP_BOUNDARY_BYTES;
    for (unsigned i = 0; i < count; i++) {
        uint64_t part = head_length(multipart, &ranges[i]);
        if (__builtin_add_overflow(part, http_range_length(&ranges[i]), &part) ||
            __builtin_add_overflow(total, part, &total))
            return UINT64_MAX;
    }
    return total;
}

void http_multipart_write_type(const struct http_multipart *multipart, struct http_writer *writer)
{
    http_write(writer, HTTP_TEXT("Content-Type: multipart/byteranges; boundary="));
    http_write(writer, boundary_of(multipart));
    http_write(writer, HTTP_TEXT("\r\n"));
}
