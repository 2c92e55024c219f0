/* SPDX-License-Identifier: MIT */
/*
 * Preconditions, entity tags, dates and the Accept fields: an input is the field lines of a
 * request.
 */
#include "fuzz.h"
#include "http/condition.h"
#include "http/date.h"
#include "http/head.h"
#include "http/negotiate.h"

#define NOW INT64_C(1790000000)

static void check_date(struct http_text text)
{
    char out[HTTP_DATE_LENGTH];
    int64_t time, again;
    if (http_date_parse(text, NOW, &time) != 0)
        return;
    if (http_date_format(time, out) == 0) { /* the leap second that ends year 9999 has no format */
        CHECK(http_date_parse((struct http_text){out, sizeof(out)}, NOW, &again) == 0);
        CHECK(again == time);
    }
}

static void check_tag(struct http_text text)
{
    struct http_etag tag;
    if (http_etag_parse(text, &tag) != 0)
        return;
    CHECK(http_etag_equal_weak(&tag, &tag) && http_etag_equal_strong(&tag, &tag) == !tag.is_weak);
    CHECK(tag.opaque.length + (tag.is_weak ? 2 : 0) == text.length);
}

static void check_conditions(const struct http_request *request)
{
    struct http_validators tagged = {HTTP_TEXT("\"now\""), true, 784111777};
    struct http_validators weak = {HTTP_TEXT("W/\"now\""), false, 0};
    int outcome = http_condition_evaluate(request, &tagged, NOW);
    CHECK(outcome == 0 || outcome == 304 || outcome == 412);
    CHECK(outcome != 304 || request->method == HTTP_METHOD_GET);
    CHECK(http_condition_evaluate(request, NULL, NOW) != HTTP_CONDITION_NOT_MODIFIED);
    if (http_request_field(request, HTTP_FIELD_IF_RANGE) != NULL)
        CHECK(!http_condition_allows_range(request, &weak, NOW));
    else
        CHECK(http_condition_allows_range(request, &weak, NOW));
}

static void check_weights(const struct http_request *request)
{
    struct http_text codings[] = {HTTP_TEXT("gzip"), HTTP_TEXT("identity")};
    int weights[2];

    CHECK(http_accept_weight(request, HTTP_TEXT("text"), HTTP_TEXT("html")) <= 1000);
    http_coding_weights(request, codings, 2, weights);
    CHECK(weights[0] >= 0 && weights[0] <= 1000 && weights[1] >= 0 && weights[1] <= 1000);
    CHECK(http_identity_is_refused(request) == (weights[1] == 0));
    (void)http_accept_prefers_json(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "GET / HTTP/1.1\r\nHost: a\r\n", end[] = "\r\n\r\n";
    static const struct http_limits limits = {1024, 16384, 20};
    enum { LINE = sizeof(line) - 1, END = sizeof(end) - 1 };
    struct http_field fields[20];
    struct http_request request;
    if (size == 0 || size > 8192)
        return 0;
    char *head = malloc(LINE + size + END);
    CHECK(head != NULL);
    memcpy(head, line, LINE);
    memcpy(head + LINE, data, size);
    memcpy(head + LINE + size, end, END);
    http_request_init(&request, fields, 20);
    if (http_head_parse(head, LINE + size + END, &limits, NULL, &request) == 0) {
        for (unsigned i = 0; i < request.field_count; i++) {
            check_date(fields[i].value);
            check_tag(fields[i].value);
        }
        check_conditions(&request);
        check_weights(&request);
    }
    free(head);
    return 0;
}
