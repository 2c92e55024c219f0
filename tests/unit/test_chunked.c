/* SPDX-License-Identifier: MIT */
/* The chunked coding: each row in every slicing, and the bounds. */
#include "http_rows.h"
#include "http/chunked.h"

static const struct {
    const char *rfc;
    struct http_text input;
    int status; /* 0: complete; -1: incomplete; else the refusal */
    const char *content;
    size_t rest; /* bytes behind a complete body */
} rows[] = {
    {"9112 7.1", BYTES("5\r\nhello\r\n0\r\n\r\n"), 0, "hello", 0},
    {"9112 7.1: empty", BYTES("0\r\n\r\n"), 0, "", 0},
    {"9112 7.1: several", BYTES("5\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\n\r\n"), 0,
     "hello 0123456789", 0},
    {"9112 7.1: either case", BYTES("a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n"), 0,
     "01234567890123456789a", 0},
    {"9112 7.1: zeros", BYTES("0005\r\nhello\r\n000\r\n\r\n"), 0, "hello", 0},
    {"9112 9.3.2: pipelined", BYTES("1\r\na\r\n0\r\n\r\nGET /"), 0, "a", 5},
    {"9112 7.1: content that looks like framing", BYTES("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n"), 0,
     "\r\n0\r\n\r\n", 0},
    {"9112 7.1.1: extension", BYTES("1;a\r\nx\r\n0;b=c;d=\"e f\"\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.1: white space before it", BYTES("1 \t;a\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.1: empty one", BYTES("1;\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.2: trailer", BYTES("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.2: trailer that would frame", BYTES("0\r\nContent-Length: 5\r\n\r\nhello"), 0, "",
     5},
    {"9112 7.1: incomplete", BYTES("5\r\nhel"), -1, "hel", 0},
    {"9112 7.1: incomplete", BYTES("5\r\nhello\r\n0\r\n\r"), -1, "hello", 0},
    {"9112 7.1: incomplete", BYTES("5\r\nhello\r\n0\r\n"), -1, "hello", 0},
    {"9112 7.1: incomplete", BYTES("5"), -1, "", 0},
    {"9112 7.1: 0x", BYTES("0x5\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: plus", BYTES("+5\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: minus", BYTES("-5\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: underscore", BYTES("5_0\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: empty size", BYTES("\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1.1: extension without name", BYTES("1;=\"x\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.1: quote without end", BYTES("1;a=\"x\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
    {"9112 7.1.1: extension with spaces", BYTES("1;a b c\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
    {"9112 7.1: empty size, extension", BYTES(";a\r\nhello\r\n"), 400, "", 0},
    {"9112 7.1: space before", BYTES(" 5\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: space behind", BYTES("5 \r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: not hexadecimal", BYTES("g\r\n"), 400, "", 0},
    {"9112 7.1: dot", BYTES("5.0\r\nhello"), 400, "", 0},
    {"9112 7.1: LF after the size", BYTES("5\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: CR in the size line", BYTES("5\r\r\nhello\r\n0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: CR in the size", BYTES("5\r5\r\nhello"), 400, "", 0},
    {"9112 7.1: CR in an extension", BYTES("5;a\rb\r\nhello"), 400, "", 0},
    {"9112 7.1: LF in an extension", BYTES("5;a\nhello"), 400, "", 0},
    {"9112 7.1: NUL in an extension", BYTES("5;\0\r\nhello"), 400, "", 0},
    {"9112 7.1: LF after the data", BYTES("5\r\nhello\n0\r\n\r\n"), 400, "hello", 0},
    {"9112 7.1: more data than said", BYTES("5\r\nhello!\r\n0\r\n\r\n"), 400, "hello", 0},
    {"9112 7.1: less data than said", BYTES("6\r\nhello\r\n0\r\n\r\n"), 400, "hello\r", 0},
    {"9112 7.1: no CRLF after the data", BYTES("5\r\nhello0\r\n\r\n"), 400, "hello", 0},
    {"9112 7.1: size LF last", BYTES("0\n\r\n"), 400, "", 0},
    {"9112 7.1: LF as the last line", BYTES("0\r\n\n"), 400, "", 0},
    {"9112 7.1: CR as the last line", BYTES("0\r\n\rx"), 400, "", 0},
    {"9112 5, trailer: LF", BYTES("0\r\nA: b\n\r\n"), 400, "", 0},
    {"9112 5, trailer: folded", BYTES("0\r\nA: b\r\n c\r\n\r\n"), 400, "", 0},
    {"9112 5, trailer: no colon", BYTES("0\r\nA\r\n\r\n"), 400, "", 0},
    {"9112 5, trailer: no name", BYTES("0\r\n: b\r\n\r\n"), 400, "", 0},
    {"9112 5, trailer: space before the colon", BYTES("0\r\nA : b\r\n\r\n"), 400, "", 0},
    {"9112 5, trailer: NUL", BYTES("0\r\nA: \0\r\n\r\n"), 400, "", 0},
    {"9112 7.1: 64 bits are kept", BYTES("ffffffffffffffff\r\nx"), -1, "x", 0},
    {"9112 7.1: 65 bits overflow", BYTES("10000000000000000\r\nx"), 400, "", 0},
    {"9112 7.1: zeros may be many", BYTES("00000000000000000000001\r\nx\r\n0\r\n\r\n"), 0, "x", 0},
};

/* Decodes the whole input in slices of `step` bytes. The outcome, as in the rows. */
static int decode(struct http_text input, size_t step, char *content, size_t *rest)
{
    struct http_chunked chunked;
    struct http_text data;
    size_t at = 0, length = 0;
    http_chunked_init(&chunked);
    while (at < input.length) {
        size_t slice = input.length - at < step ? input.length - at : step, consumed;
        char *copy = malloc(slice);
        memcpy(copy, input.data + at, slice);
        int outcome = http_chunked_decode(&chunked, copy, slice, &consumed, &data);
        ck_assert_uint_le(consumed, slice);
        ck_assert((data.length > 0) == (outcome == HTTP_CHUNKED_DATA));
        if (data.length > 0)
            memcpy(content + length, data.data, data.length);
        length += data.length;
        content[length] = '\0';
        at += consumed;
        free(copy);
        ck_assert_uint_eq(chunked.decoded, length);
        ck_assert_uint_ge(http_chunked_announced(&chunked), length);
        *rest = input.length - at;
        if (outcome == HTTP_CHUNKED_DONE)
            return 0;
        if (outcome == HTTP_CHUNKED_BAD) {
            ck_assert_ptr_nonnull(chunked.reason);
            return chunked.status;
        }
        if (outcome == HTTP_CHUNKED_MORE)
            ck_assert_uint_eq(consumed, slice);
    }
    return -1;
}

START_TEST(in_any_slicing)
{
    for (size_t step = 1; step <= rows[_i].input.length; step++) {
        char content[256] = "";
        size_t rest = 0;
        int status = decode(rows[_i].input, step, content, &rest);
        ck_assert_msg(status == rows[_i].status && strcmp(content, rows[_i].content) == 0,
                      "RFC %s in steps of %zu: %d, \"%s\"", rows[_i].rfc, step, status, content);
        if (status == 0)
            ck_assert_uint_eq(rest, rows[_i].rest);
    }
}
END_TEST

/* Feeds `piece` again and again; after how many bytes it is refused, or 0. */
static size_t refused_after(const char *start, const char *piece, size_t most, int *status)
{
    struct http_chunked chunked;
    struct http_text data;
    size_t consumed, total = 0, length = strlen(piece);
    http_chunked_init(&chunked);
    http_chunked_decode(&chunked, start, strlen(start), &consumed, &data);
    while (total < most) {
        for (size_t at = 0; at < length; at += consumed) {
            if (http_chunked_decode(&chunked, piece + at, length - at, &consumed, &data) ==
                HTTP_CHUNKED_BAD) {
                *status = chunked.status;
                return total + at + consumed;
            }
        }
        total += length;
    }
    return 0;
}

START_TEST(bounds)
{
    int status = 0;
    size_t most = 1 << 20;
    ck_assert_uint_eq(refused_after("1;", "a", most, &status), HTTP_CHUNKED_EXTENSION_BYTES);
    ck_assert_int_eq(status, 400);
    ck_assert_uint_gt(refused_after("", "1;abcdef\r\nx\r\n", most, &status),
                      0); /* in small doses */
    ck_assert_int_eq(status, 400);
    ck_assert_uint_eq(refused_after("0\r\nA:", "b", most, &status), HTTP_CHUNKED_TRAILER_BYTES - 2);
    ck_assert_int_eq(status, 431);
    ck_assert_uint_gt(refused_after("0\r\n", "A: b\r\n", most, &status), 0);
    ck_assert_int_eq(status, 431);
    ck_assert_uint_eq(refused_after("", "0", most, &status), UINT8_MAX); /* zeros of a size */
    ck_assert_int_eq(status, 400);
    ck_assert_uint_eq(refused_after("", "1\r\nx\r\n", most, &status), 0);
}
END_TEST

START_TEST(announced)
{
    struct http_chunked chunked;
    struct http_text data;
    size_t consumed;
    http_chunked_init(&chunked);
    http_chunked_decode(&chunked, "2\r\nab\r\nffff\r\nx", 14, &consumed, &data);
    ck_assert_uint_eq(http_chunked_announced(&chunked), 2);
    http_chunked_decode(&chunked, "\r\nffff\r\nx", 9, &consumed, &data);
    ck_assert_uint_eq(chunked.decoded, 3);
    ck_assert_uint_eq(http_chunked_announced(&chunked), 2 + 0xffff);
    http_chunked_init(&chunked);
    http_chunked_decode(&chunked, "1\r\na", 4, &consumed, &data);
    http_chunked_decode(&chunked, "\r\nffffffffffffffff\r\nx", 21, &consumed, &data);
    ck_assert_uint_eq(http_chunked_announced(&chunked), UINT64_MAX);
}
END_TEST

static const struct {
    uint64_t size;
    const char *head;
} head_rows[] = {
    {1, "1\r\n"},         {15, "f\r\n"},
    {16, "10\r\n"},       {255, "ff\r\n"},
    {4096, "1000\r\n"},   {65535, "ffff\r\n"},
    {65536, "10000\r\n"}, {UINT64_MAX, "ffffffffffffffff\r\n"},
};

START_TEST(chunk_heads)
{
    char out[HTTP_CHUNK_HEAD_BYTES];
    size_t length = http_chunk_head(out, head_rows[_i].size);
    ck_text_eq(((struct http_text){out, length}), head_rows[_i].head);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("chunked");
    tcase_add_loop_test(tcase, in_any_slicing, 0, ROW_COUNT(rows));
    tcase_add_test(tcase, bounds);
    tcase_add_test(tcase, announced);
    tcase_add_loop_test(tcase, chunk_heads, 0, ROW_COUNT(head_rows));
    return run_suite("chunked", tcase);
}
