/* SPDX-License-Identifier: MIT */
/*
 * Ranges: what is satisfiable lies within the representation, joining neither loses nor adds a byte
 * that was asked for and keeps the order, and a multipart answer is as long as was said before.
 * The first eight bytes of an input are the size of the representation.
 */
#include "fuzz.h"
#include "http/multipart.h"

enum { MOST = 64 };

static bool is_in(uint64_t position, const struct http_range *ranges, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (position >= ranges[i].first && position <= ranges[i].last)
            return true;
    }
    return false;
}

/* The index of the first that was asked for and lies within; they all have one. */
static unsigned first_within(const struct http_range *whole, const struct http_range *asked,
                             unsigned count)
{
    unsigned i = 0;
    while (i < count && (asked[i].first < whole->first || asked[i].last > whole->last))
        i++;
    CHECK(i < count);
    return i;
}

static void check_multipart(const struct http_range *ranges, unsigned count, uint64_t size)
{
    struct http_multipart multipart;
    char out[256];
    uint64_t total = 0;
    http_multipart_init(&multipart, HTTP_TEXT("text/plain"), size, size);
    CHECK(http_multipart_overhead(&multipart) <= sizeof(out));
    for (unsigned i = 0; i < count; i++) {
        uint64_t part = http_multipart_part(&multipart, &ranges[i], out);
        if (__builtin_add_overflow(part, http_range_length(&ranges[i]), &part) ||
            __builtin_add_overflow(total, part, &total)) {
            CHECK(http_multipart_length(&multipart, ranges, count) == UINT64_MAX);
            return;
        }
    }
    if (!__builtin_add_overflow(total, http_multipart_end(&multipart, out), &total))
        CHECK(http_multipart_length(&multipart, ranges, count) == total);
}

static void check_coalesced(const struct http_range *asked, unsigned count, uint64_t gap)
{
    struct http_range joined[MOST];
    memcpy(joined, asked, count * sizeof(joined[0]));
    unsigned left = http_range_coalesce(joined, count, gap);
    CHECK(left >= 1 && left <= count);
    for (unsigned i = 0; i < count; i++) {
        CHECK(is_in(asked[i].first, joined, left) && is_in(asked[i].last, joined, left));
        for (unsigned j = 0; j < i && i < left; j++)
            CHECK(joined[i].last < joined[j].first || joined[j].last < joined[i].first);
    }
    for (unsigned i = 0; i < left; i++) {
        CHECK(is_in(joined[i].first, asked, count) && is_in(joined[i].last, asked, count));
        CHECK(i == 0 ||
              first_within(&joined[i], asked, count) > first_within(&joined[i - 1], asked, count));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_range ranges[MOST];
    char value[HTTP_CONTENT_RANGE_BYTES];
    unsigned count = 0;
    uint64_t whole;
    if (size < sizeof(whole))
        return 0;
    memcpy(&whole, data, sizeof(whole));
    struct http_text field = {(const char *)data + sizeof(whole), size - sizeof(whole)};
    enum http_range_outcome outcome = http_range_parse(field, whole, ranges, MOST, &count);
    CHECK(count <= MOST && (count > 0) == (outcome == HTTP_RANGE_SATISFIABLE));
    for (unsigned i = 0; i < count; i++) {
        CHECK(ranges[i].first <= ranges[i].last && ranges[i].last < whole);
        CHECK(http_range_length(&ranges[i]) >= 1 && http_range_length(&ranges[i]) <= whole);
        CHECK(http_content_range(value, &ranges[i], whole) <= sizeof(value));
    }
    if (count > 0) {
        check_multipart(ranges, count, whole);
        check_coalesced(ranges, count, 0);
        check_coalesced(ranges, count, 80);
        check_coalesced(ranges, count, UINT64_MAX);
    }
    return 0;
}
