/* SPDX-License-Identifier: MIT */
/*
 * Heads: the end is the same in any slicing, and what passes the parser holds what its header
 * promises, down to each byte.
 * The first byte of an input is the size of the slices.
 */
#include "fuzz.h"
#include "http/head.h"

static bool is_within(struct http_text text, struct http_text whole)
{
    return text.length == 0 ||
           (text.data >= whole.data && text.data + text.length <= whole.data + whole.length);
}

static bool all_are(struct http_text text, unsigned class)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!http_byte_is(text.data[i], class))
            return false;
    }
    return true;
}

static size_t end_in_slices(const char *data, size_t size, size_t step)
{
    size_t scanned = 0, end = 0;
    for (size_t length = 0; end == 0 && length < size;) {
        length = size - length < step ? size : length + step;
        end = http_head_end(data, length, &scanned);
        CHECK(scanned <= length);
    }
    return end;
}

static unsigned count_lines(struct http_text head)
{
    unsigned lines = 0;
    for (size_t i = 0; i < head.length; i++)
        lines += head.data[i] == '\n';
    return lines;
}

static void check_fields(const struct http_request *request)
{
    bool has_length = false, has_coding = false;
    CHECK(count_lines(request->head) == request->field_count + 2u);
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct http_field *field = &request->fields[i];
        CHECK(field->name.length > 0 && all_are(field->name, HTTP_BYTE_TOKEN));
        CHECK(all_are(field->value, HTTP_BYTE_VALUE));
        CHECK(http_text_trim(field->value).length == field->value.length);
        CHECK(is_within(field->name, request->head) && is_within(field->value, request->head));
        CHECK(field->name.data[field->name.length] == ':');
        CHECK(field->id == http_field_find(field->name));
        CHECK(field->next == 0 || field->next > i + 1);
        has_length |= field->id == HTTP_FIELD_CONTENT_LENGTH;
        has_coding |= field->id == HTTP_FIELD_TRANSFER_ENCODING;
    }
    CHECK(!(has_length && has_coding));
    CHECK(has_length == request->has_content_length);
    CHECK(has_coding == (request->body == HTTP_BODY_CHUNKED));
}

static void check_accepted(const struct http_request *request)
{
    CHECK(request->reason == NULL && request->has_version && request->minor_version <= 1);
    CHECK(request->method != HTTP_METHOD_OTHER && request->form != HTTP_TARGET_NONE);
    CHECK(request->target.length > 0 && all_are(request->target, HTTP_BYTE_TARGET));
    CHECK(is_within(request->target, request->head) && is_within(request->host, request->head));
    if (request->form == HTTP_TARGET_ORIGIN || request->form == HTTP_TARGET_ABSOLUTE)
        CHECK(request->path.length > 0 && request->path.data[0] == '/');
    if (request->minor_version == 1)
        CHECK(http_request_field_single(request, HTTP_FIELD_HOST) != NULL);
    check_fields(request);
}

static void check_clone(const struct http_request *request)
{
    struct http_request *copy = http_request_clone(request);
    CHECK(copy != NULL);
    CHECK(http_text_equal(copy->head, request->head) && copy->head.data != request->head.data);
    CHECK(http_text_equal(copy->target, request->target));
    CHECK(http_text_equal(copy->host, request->host) && is_within(copy->host, copy->head));
    CHECK(http_text_equal(copy->path, request->path));
    for (unsigned i = 0; i < copy->field_count; i++) {
        CHECK(http_text_equal(copy->fields[i].value, request->fields[i].value));
        CHECK(is_within(copy->fields[i].name, copy->head));
    }
    free(copy);
}

/* What came before is read as it was then: the first time is kept the second, found the third. */
static void check_cached(const struct http_request *plain, const char *input, size_t end,
                         const struct http_limits *limits)
{
    static struct http_header_cache *cache;
    struct http_field fields[20];
    struct http_request request;
    if (cache == NULL)
        cache = http_header_cache_new();
    CHECK(cache != NULL);
    for (int i = 0; i < 3; i++) {
        http_request_init(&request, fields, 20);
        CHECK(http_head_parse(input, end, limits, cache, &request) == 0);
        CHECK(request.field_count == plain->field_count);
        CHECK(http_text_equal(request.host, plain->host) && request.port == plain->port);
        CHECK(request.keep_alive == plain->keep_alive && request.body == plain->body);
        CHECK(memcmp(request.known, plain->known, sizeof(request.known)) == 0);
        for (unsigned j = 0; j < request.field_count; j++) {
            CHECK(http_text_equal(request.fields[j].name, plain->fields[j].name));
            CHECK(http_text_equal(request.fields[j].value, plain->fields[j].value));
            CHECK(request.fields[j].next == plain->fields[j].next);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct http_limits limits = {1024, 4096, 20};
    struct http_field fields[20];
    struct http_request request;
    if (size < 2)
        return 0;
    size_t step = data[0] + 1u;
    const char *input = (const char *)data + 1;
    size_t length = size - 1;
    size_t end = end_in_slices(input, length, length);
    CHECK(end_in_slices(input, length, step) == end && end <= length);
    int overflow = http_head_overflow(input, length, &limits);
    CHECK(overflow == 0 || overflow == 414 || overflow == 431);
    if (end == 0)
        return 0;
    http_request_init(&request, fields, 20);
    int status = http_head_parse(input, end, &limits, NULL, &request);
    CHECK(status == 0 || (status >= 400 && status <= 505));
    CHECK((request.reason != NULL) == (status != 0));
    CHECK(is_within(request.target, request.head) && is_within(request.method_text, request.head));
    if (status == 0) {
        check_accepted(&request);
        check_cached(&request, input, end, &limits);
    }
    check_clone(&request);
    return 0;
}
