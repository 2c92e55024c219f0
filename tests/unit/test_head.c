/* SPDX-License-Identifier: MIT */
/* Where a head ends, in any slicing; limits; the fields of a whole one. */
#include "http_rows.h"

static const struct {
    const char *rfc;
    struct http_text data;
    size_t end; /* 0: incomplete */
} end_rows[] = {
    {"9112 2.1", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 27},
    {"9112 2.1: content behind", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n\r\nxx"), 27},
    {"9112 9.3.2: pipelined", BYTES("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n"), 18},
    {"9112 2.1: incomplete", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r"), 0},
    {"9112 2.1: incomplete", BYTES("GET / HTTP/1.1\r\nHost: a\r\n"), 0},
    {"9112 2.1: incomplete", BYTES("GET / HTTP/1.1\r\nHost: a\r"), 0},
    {"9112 2.1: incomplete", BYTES("G"), 0},
    {"9112 2.1: nothing", BYTES(""), 0},
    {"9112 2.2: empty lines only", BYTES("\r\n\r\n"), 0},
    {"9112 2.2: half an empty line", BYTES("\r\n\r"), 0},
    {"9112 2.2: empty line first", BYTES("\r\nGET / HTTP/1.0\r\n\r\n"), 20},
    {"9112 2.2: too many", BYTES("\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n"), 9},
    {"9112 2.2: LF as line end is an end too", BYTES("GET / HTTP/1.1\nHost: a\n\n"), 24},
    {"9112 2.2: LF then CRLF", BYTES("GET / HTTP/1.1\nHost: a\n\r\n"), 25},
    {"9112 2.2: CRLF then LF", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\n"), 26},
    {"9112 2.2: CR CR LF", BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\r\n"), 27},
    {"9112 2.2: CR within the head", BYTES("GET / HTTP/1.1\r\n\rHost: a\r\n\r\n"), 18},
    {"9112 2.2: LF first", BYTES("\nGET"), 1},
    {"9112 2.2: CR first", BYTES("\rGET"), 1},
    {"9112 2.2: a TLS hello", BYTES("\x16\x03\x01"), 1},
    {"9112 2.2: NUL", BYTES("\0\0\0"), 1},
};

START_TEST(end_in_any_slicing)
{
    struct http_text data = end_rows[_i].data;
    for (size_t step = 1; step <= data.length + 1; step++) {
        size_t scanned = 0, end = 0;
        for (size_t length = 0; end == 0 && length < data.length;) {
            length = length + step < data.length ? length + step : data.length;
            char *copy = malloc(length); /* a new place each time: only offsets are kept */
            memcpy(copy, data.data, length);
            size_t before = scanned;
            end = http_head_end(copy, length, &scanned);
            free(copy);
            ck_assert_uint_ge(scanned, before);
            ck_assert_uint_le(scanned, length);
        }
        ck_assert_msg(end == end_rows[_i].end, "RFC %s: %zu in steps of %zu", end_rows[_i].rfc, end,
                      step);
    }
}
END_TEST

/* A long head that comes byte by byte is not looked at from its start again. */
START_TEST(never_rescanned)
{
    enum { LENGTH = 100000 };
    char *data = malloc(LENGTH);
    size_t scanned = 0;
    memset(data, 'a', LENGTH);
    ck_assert_uint_eq(http_head_end(data, LENGTH, &scanned), 0);
    ck_assert_uint_eq(scanned, LENGTH);
    memcpy(data, "GET / HTTP/1.1\r\n\r\n", 18); /* an end where it has been looked at already */
    ck_assert_uint_eq(http_head_end(data, LENGTH, &scanned), 0);
    free(data);
}
END_TEST

static const struct http_limits small = {.target_bytes = 16, .head_bytes = 64, .fields = 3};

static const struct {
    const char *rfc;
    const char *head;
    int status;
} limit_rows[] = {
    {"9110 15.5.15: just below", "GET /123456789abcdef HTTP/1.1\r\nHost: a\r\n\r\n", 0},
    {"9110 15.5.15: above", "GET /123456789abcdef_ HTTP/1.1\r\nHost: a\r\n\r\n", 414},
    {"9110 15.5.15: above, malformed behind", "GET /123456789abcdef_ HTTP/1.1\r\nHost : a\r\n\r\n",
     414},
    {"6585 5: as many fields", "GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB:\r\n\r\n", 0},
    {"6585 5: one more", "GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB:\r\nC:\r\n\r\n", 431},
    {"6585 5: just 64 bytes",
     "GET / HTTP/1.1\r\nHost: a\r\nA: 23456789012345678901234567890123\r\n\r\n", 0},
    {"6585 5: 65 bytes",
     "GET / HTTP/1.1\r\nHost: a\r\nA: 234567890123456789012345678901234\r\n\r\n", 431},
};

START_TEST(limited)
{
    struct http_field fields[8];
    struct http_request request;
    http_request_init(&request, fields, 8);
    int status =
        http_head_parse(limit_rows[_i].head, strlen(limit_rows[_i].head), &small, NULL, &request);
    ck_assert_msg(status == limit_rows[_i].status, "RFC %s: %d (%s)", limit_rows[_i].rfc, status,
                  request.reason);
}
END_TEST

START_TEST(capacity_limits_too)
{
    struct http_field fields[1];
    struct http_request request;
    static const struct http_limits large = {8192, 32768, 100};
    const char *two = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n";
    const char *one = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    http_request_init(&request, fields, 1);
    ck_assert_int_eq(http_head_parse(two, strlen(two), &large, NULL, &request), 431);
    ck_assert_int_eq(http_head_parse(one, strlen(one), &large, NULL, &request), 0);
}
END_TEST

START_TEST(overflow)
{
    char data[256];
    memset(data, 'a', sizeof(data));
    memcpy(data, "GET /", 5);
    /* One long request line: 414 when no target within the limit can be in it. */
    ck_assert_int_eq(http_head_overflow(data, 16, &small), 0);
    ck_assert_int_eq(http_head_overflow(data, 64, &small), 0);
    ck_assert_int_eq(http_head_overflow(data, 65, &small), 414);
    ck_assert_int_eq(http_head_overflow(data, sizeof(data), &small), 414);
    /* A whole request line, and fields without end: RFC 6585 5. */
    memcpy(data, "GET / HTTP/1.1\r\n", 16);
    ck_assert_int_eq(http_head_overflow(data, 64, &small), 0);
    ck_assert_int_eq(http_head_overflow(data, 65, &small), 431);
    /* A target that is large, within a head that may be larger. */
    static const struct http_limits wide = {.target_bytes = 16, .head_bytes = 1000, .fields = 3};
    memset(data, 'a', sizeof(data));
    ck_assert_int_eq(http_head_overflow(data, 79, &wide), 0);
    ck_assert_int_eq(http_head_overflow(data, 80, &wide), 414);
    /* Empty lines before do not count. */
    memcpy(data, "\r\n\r\n", 4);
    ck_assert_int_eq(http_head_overflow(data, 83, &wide), 0);
    ck_assert_int_eq(http_head_overflow(data, 84, &wide), 414);
    ck_assert_int_eq(http_head_overflow(data, 0, &wide), 0);
}
END_TEST

START_TEST(whole_request)
{
    static const char head[] = "\r\nPUT /a/b?c HTTP/1.1\r\nHOST:example.org:8080\r\n"
                               "X-Empty:\r\nAccept: \t text/html, */*;q=0.1 \t\r\n"
                               "x-empty: \r\nContent-Length: 12\r\nAccept:a/b\r\n\r\n";
    struct parsed parsed;
    const struct http_request *request = &parsed.request;
    parse_bytes(&parsed, (struct http_text){head, sizeof(head) - 1});
    ck_assert_int_eq(parsed.status, 0);
    ck_assert_int_eq(request->method, HTTP_METHOD_PUT);
    ck_text_eq(request->method_text, "PUT");
    ck_text_eq(request->target, "/a/b?c");
    ck_assert(request->has_version);
    ck_assert_uint_eq(request->minor_version, 1);
    ck_text_eq(request->host, "example.org");
    ck_assert_uint_eq(request->port, 8080);
    ck_assert(request->has_content_length);
    ck_assert_uint_eq(request->content_length, 12);
    ck_assert_uint_eq(request->head.length, sizeof(head) - 1 - 2);

    static const char *const expected[][2] = {
        {"HOST", "example.org:8080"},       {"X-Empty", ""},
        {"Accept", "text/html, */*;q=0.1"}, {"x-empty", ""},
        {"Content-Length", "12"},           {"Accept", "a/b"}};
    ck_assert_uint_eq(request->field_count, 6);
    for (int i = 0; i < 6; i++) {
        ck_text_eq(request->fields[i].name, expected[i][0]);
        ck_text_eq(request->fields[i].value, expected[i][1]);
    }
    free(parsed.head);
}
END_TEST

/* One scratch serves request after request: nothing of the last is left. */
START_TEST(scratch_is_reset)
{
    static const struct http_limits limits = {8192, 32768, 100};
    struct http_field fields[8];
    struct http_request request;
    const char *full = "POST http://b:1/x?y HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n"
                       "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    const char *bare = "GET / HTTP/1.0\r\n\r\n";
    http_request_init(&request, fields, 8);
    ck_assert_int_eq(http_head_parse(full, strlen(full), &limits, NULL, &request), 0);
    ck_assert_ptr_nonnull(http_request_field(&request, HTTP_FIELD_RANGE));
    ck_assert_int_eq(http_head_parse(bare, strlen(bare), &limits, NULL, &request), 0);
    ck_assert_ptr_null(http_request_field(&request, HTTP_FIELD_RANGE));
    ck_assert_uint_eq(request.field_count, 0);
    ck_assert_uint_eq(request.host.length + request.query.length + request.port, 0);
    ck_assert(!request.has_query && !request.expect_continue && !request.has_content_length);
    ck_assert_int_eq(request.body, HTTP_BODY_NONE);
    ck_assert_uint_eq(request.content_length, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("head");
    tcase_add_loop_test(tcase, end_in_any_slicing, 0, ROW_COUNT(end_rows));
    tcase_add_test(tcase, never_rescanned);
    tcase_add_loop_test(tcase, limited, 0, ROW_COUNT(limit_rows));
    tcase_add_test(tcase, capacity_limits_too);
    tcase_add_test(tcase, overflow);
    tcase_add_test(tcase, whole_request);
    tcase_add_test(tcase, scratch_is_reset);
    return run_suite("head", tcase);
}
