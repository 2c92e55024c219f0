/* SPDX-License-Identifier: MIT */
/*
 * Reads a Range field against a representation's size, joins ranges, writes Content-Range.
 * It does not decide whether ranges are honoured at all: that is If-Range's and the method's.
 * Called by whoever answers with part of a representation.
 */
#include "http/range.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* What one member of the set comes to. */
enum spec {
    SPEC_MALFORMED,
    SPEC_UNSATISFIABLE,
    SPEC_WHOLE, /* a suffix of nothing */
    SPEC_RANGE,
};

/* A position; one that overflows is beyond any end, which is no error (RFC 9110 14.1.2). */
static bool read_position(struct http_text text, uint64_t *out)
{
    int result = http_text_to_number(text, out);
    if (result == -ERANGE)
        *out = UINT64_MAX;
    return result != -EINVAL;
}

static enum spec read_suffix(struct http_text text, uint64_t size, struct http_range *out)
{
    uint64_t length;
    if (!read_position(text, &length))
        return SPEC_MALFORMED;
    if (length == 0)
        return SPEC_UNSATISFIABLE;
    if (size == 0)
        return SPEC_WHOLE;
    *out = (struct http_range){.first = length < size ? size - length : 0, .last = size - 1};
    return SPEC_RANGE;
}

static enum spec read_spec(struct http_text member, uint64_t size, struct http_range *out)
{
    uint64_t first, last = UINT64_MAX;
    const char *dash = memchr(member.data, '-', member.length);
    if (dash == NULL)
        return SPEC_MALFORMED;
    struct http_text before = {member.data, (size_t)(dash - member.data)};
    struct http_text after = {dash + 1, member.length - before.length - 1};
    if (before.length == 0)
        return read_suffix(after, size, out);
    if (!read_position(before, &first) || (after.length > 0 && !read_position(after, &last)) ||
        last < first)
        return SPEC_MALFORMED;
    if (first >= size)
        return SPEC_UNSATISFIABLE;
    *out = (struct http_range){.first = first, .last = last < size ? last : size - 1};
    return SPEC_RANGE;
}

/* Takes "bytes=" off; the unit matches in any case (RFC 9110 14.1). */
static bool take_unit(struct http_text *value)
{
    struct http_text unit = HTTP_TEXT("bytes");
    if (value->length <= unit.length || value->data[unit.length] != '=' ||
        !http_text_equal_nocase((struct http_text){value->data, unit.length}, unit))
        return false;
    value->data += unit.length + 1;
    value->length -= unit.length + 1;
    return true;
}

enum http_range_outcome http_range_parse(struct http_text value, uint64_t size,
                                         struct http_range *ranges, unsigned capacity,
                                         unsigned *count)
{
    struct http_text member;
    struct http_range range;
    bool asked = false, whole = false;
    *count = 0;
    if (!take_unit(&value))
        return HTTP_RANGE_NONE;
    while (http_text_next_member(&value, &member)) {
        asked = true;
        switch (read_spec(member, size, &range)) {
        case SPEC_MALFORMED: /* ignore all of them, also if others are well */
            *count = 0;
            return HTTP_RANGE_NONE;
        case SPEC_UNSATISFIABLE:
            break;
        case SPEC_WHOLE:
            whole = true;
            break;
        case SPEC_RANGE:
            if (*count == capacity) { /* whatever else is asked for: it costs no more to see */
                *count = 0;
                return HTTP_RANGE_NONE;
            }
            ranges[(*count)++] = range;
            break;
        }
    }
    if (!asked || whole) {
        *count = 0;
        return HTTP_RANGE_NONE;
    }
    assert(*count <= capacity);
    return *count > 0 ? HTTP_RANGE_SATISFIABLE : HTTP_RANGE_UNSATISFIABLE;
}

/* Whether two ranges overlap or have fewer than `gap` bytes between them. */
static bool are_close(const struct http_range *a, const struct http_range *b, uint64_t gap)
{
    const struct http_range *low = a->first <= b->first ? a : b;
    const struct http_range *high = low == a ? b : a;
    return high->first <= low->last || high->first - low->last - 1 < gap;
}

static bool are_ascending_and_apart(const struct http_range *ranges, unsigned count, uint64_t gap)
{
    for (unsigned i = 1; i < count; i++) {
        if (ranges[i].first < ranges[i - 1].first || are_close(&ranges[i - 1], &ranges[i], gap))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct http_range *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static int by_order(const void *a, const void *b)
{
    const struct http_range *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

/* Of ranges that are sorted by their start. */
static unsigned join_neighbours(struct http_range *ranges, unsigned count, uint64_t gap)
{
    unsigned kept = 0;
    for (unsigned i = 1; i < count; i++) {
        struct http_range *last = &ranges[kept];
        if (!are_close(last, &ranges[i], gap)) {
            ranges[++kept] = ranges[i];
            continue;
        }
        if (ranges[i].last > last->last)
            last->last = ranges[i].last;
        if (ranges[i].order < last->order)
            last->order = ranges[i].order;
    }
    return kept + 1;
}

unsigned http_range_coalesce(struct http_range *ranges, unsigned count, uint64_t gap)
{
    if (are_ascending_and_apart(ranges, count, gap))
        return count;
    for (unsigned i = 0; i < count; i++)
        ranges[i].order = i;
    qsort(ranges, count, sizeof(ranges[0]), by_start);
    unsigned left = join_neighbours(ranges, count, gap);
    assert(left >= 1 && left <= count);
    qsort(ranges, left, sizeof(ranges[0]), by_order);
    return left;
}

static size_t put_number(char *out, uint64_t number)
{
    char digits[20];
    size_t length = 0;
    do {
        digits[length++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < length; i++)
        out[i] = digits[length - 1 - i];
    return length;
}

size_t http_content_range(char out[HTTP_CONTENT_RANGE_BYTES], const struct http_range *range,
                          uint64_t size)
{
    size_t length = sizeof("bytes ") - 1;
    memcpy(out, "bytes ", length);
    assert(range->first <= range->last && range->last < size);
    length += put_number(out + length, range->first);
    out[length++] = '-';
    length += put_number(out + length, range->last);
    out[length++] = '/';
    return length + put_number(out + length, size);
}

size_t http_content_range_unsatisfied(char out[HTTP_CONTENT_RANGE_BYTES], uint64_t size)
{
    size_t length = sizeof("bytes */") - 1;
    memcpy(out, "bytes */", length);
    return length + put_number(out + length, size);
}
