/* SPDX-License-Identifier: MIT */
#ifndef HTTP_RANGE_H
#define HTTP_RANGE_H

/* Byte ranges (RFC 9110 14). If-Range is decided in condition.h, before this. */

#include "http/text.h"

/* Both ends inclusive, within the representation. */
struct http_range {
    uint64_t first;
    uint64_t last;
    unsigned order; /* private to http_range_coalesce() */
};

/* Several, in memory that is somebody else's. */
struct http_ranges {
    struct http_range *at;
    unsigned count;
};

static inline uint64_t http_range_length(const struct http_range *range)
{
    return range->last - range->first + 1;
}

enum http_range_outcome {
    HTTP_RANGE_NONE,          /* ignore the field: 200 with the whole */
    HTTP_RANGE_SATISFIABLE,   /* `*count` ranges, at least one, in the order asked for */
    HTTP_RANGE_UNSATISFIABLE, /* 416 with http_content_range_unsatisfied() */
};

/*
 * Evaluates a Range field against a representation of `size` bytes. An unknown unit, a malformed
 * set and more than `capacity` satisfiable ranges are ignored (RFC 9110 14.2 allows the last);
 * unsatisfiable members are dropped while another one is left. A suffix of an empty representation
 * is ignored, because no Content-Range can express it.
 */
enum http_range_outcome http_range_parse(struct http_text value, uint64_t size,
                                         struct http_range *ranges, unsigned capacity,
                                         unsigned *count);

/*
 * Joins ranges that overlap or lie less than `gap` bytes apart, and returns how many are left. They
 * stay in the order that was asked for; joined ones stand where the first of them stood (RFC 9110
 * 15.3.7.2). O(n log n), and O(n) if they are ascending and apart, as honest clients' are.
 */
unsigned http_range_coalesce(struct http_range *ranges, unsigned count, uint64_t gap);

/* Room for a Content-Range value: "bytes ", three numbers of 20 digits, `-` and `/`. */
#define HTTP_CONTENT_RANGE_BYTES 68

/* "bytes 0-4/1000"; returns its length. */
size_t http_content_range(char out[HTTP_CONTENT_RANGE_BYTES], const struct http_range *range,
                          uint64_t size);

/* The same for a 416: "bytes" and an asterisk in place of the range. */
size_t http_content_range_unsatisfied(char out[HTTP_CONTENT_RANGE_BYTES], uint64_t size);

#endif
