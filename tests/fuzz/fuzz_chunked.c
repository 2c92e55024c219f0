/* SPDX-License-Identifier: MIT */
/*
 * The chunked coding: the content, the outcome and where it ends are the same in any slicing.
 * The first byte of an input is the size of the slices.
 */
#include "fuzz.h"
#include "http/chunked.h"

struct result {
    enum http_chunked_outcome outcome;
    size_t used;
    size_t content_bytes;
    uint64_t hash; /* of the content, in order */
};

static struct result decode(const char *input, size_t size, size_t step)
{
    struct result result = {HTTP_CHUNKED_MORE, 0, 0, 5381};
    struct http_chunked chunked;
    struct http_text data;
    http_chunked_init(&chunked);
    while (result.used < size && result.outcome < HTTP_CHUNKED_DONE) {
        size_t slice = size - result.used < step ? size - result.used : step, consumed;
        result.outcome =
            http_chunked_decode(&chunked, input + result.used, slice, &consumed, &data);
        CHECK(consumed <= slice && data.length <= consumed);
        CHECK(consumed > 0 || result.outcome == HTTP_CHUNKED_BAD);
        for (size_t i = 0; i < data.length; i++)
            result.hash = result.hash * 33 + (unsigned char)data.data[i];
        result.content_bytes += data.length;
        result.used += consumed;
    }
    CHECK(chunked.decoded == result.content_bytes);
    CHECK((chunked.status != 0) == (result.outcome == HTTP_CHUNKED_BAD));
    /* Data or not at the end of the input depends on the slices; that all was used does not. */
    if (result.outcome == HTTP_CHUNKED_DATA)
        result.outcome = HTTP_CHUNKED_MORE;
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct result whole = decode((const char *)data + 1, size - 1, size - 1);
    struct result sliced = decode((const char *)data + 1, size - 1, data[0] + 1u);
    CHECK(whole.outcome == sliced.outcome && whole.used == sliced.used);
    CHECK(whole.content_bytes == sliced.content_bytes && whole.hash == sliced.hash);
    return 0;
}
