/* SPDX-License-Identifier: MIT */
/* Heads of responses: whole ones, cut ones, and values that would split them. */
#include "http_rows.h"
#include "http/range.h"
#include "http/response.h"

static void write_head(struct http_writer *writer)
{
    struct http_range range = {.first = 0, .last = 4};
    struct http_text query = HTTP_TEXT("x=1&y=%26");
    http_write_status(writer, 206);
    http_write_date_field(writer, HTTP_FIELD_DATE, 784111777);
    http_write_field(writer, HTTP_FIELD_ETAG, HTTP_TEXT("\"a\""));
    http_write_number_field(writer, HTTP_FIELD_CONTENT_LENGTH, 5);
    http_write_content_range(writer, &range, 1000);
    http_write_allow(writer, HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD));
    http_write_location(writer, HTTP_TEXT("/d i/"), &query);
    http_write_named_field(writer, HTTP_TEXT("X-Own"), HTTP_TEXT("value"));
    http_write_field(writer, HTTP_FIELD_VARY, HTTP_TEXT(""));
}

static const char expected[] = "HTTP/1.1 206 Partial Content\r\n"
                               "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                               "ETag: \"a\"\r\n"
                               "Content-Length: 5\r\n"
                               "Content-Range: bytes 0-4/1000\r\n"
                               "Allow: GET, HEAD\r\n"
                               "Location: /d%20i/?x=1&y=%26\r\n"
                               "X-Own: value\r\n"
                               "Vary: \r\n"
                               "\r\n";

START_TEST(whole)
{
    char memory[512];
    struct http_writer writer;
    http_writer_init(&writer, memory, sizeof(memory));
    write_head(&writer);
    size_t length = http_write_head_end(&writer, memory);
    ck_text_eq(((struct http_text){memory, length}), expected);
}
END_TEST

/* In each smaller memory it fails, stays within, and nothing follows what was left out. */
START_TEST(cut)
{
    for (size_t capacity = 0; capacity < sizeof(expected) - 1; capacity++) {
        char *memory = malloc(capacity + 1);
        struct http_writer writer;
        memory[capacity] = '!';
        http_writer_init(&writer, memory, capacity);
        write_head(&writer);
        ck_assert_uint_eq(http_write_head_end(&writer, memory), 0);
        ck_assert(writer.failed);
        ck_assert_int_eq(memory[capacity], '!');
        ck_assert_uint_le((size_t)(writer.at - memory), capacity);
        ck_assert_int_eq(memcmp(memory, expected, (size_t)(writer.at - memory)), 0);
        free(memory);
    }
}
END_TEST

static const struct {
    const char *rfc;
    struct http_text name, value;
    bool fails;
} value_rows[] = {
    {"9110 5.5", BYTES("X"), BYTES("a\tb \xff"), false},
    {"9110 5.5: CRLF", BYTES("X"), BYTES("a\r\nX-Evil: 1"), true},
    {"9110 5.5: LF", BYTES("X"), BYTES("a\n"), true},
    {"9110 5.5: CR", BYTES("X"), BYTES("\ra"), true},
    {"9110 5.5: NUL", BYTES("X"), BYTES("a\0b"), true},
    {"9110 5.1: empty name", BYTES(""), BYTES("a"), true},
    {"9110 5.1: space in a name", BYTES("X Y"), BYTES("a"), true},
    {"9110 5.1: colon in a name", BYTES("X:"), BYTES("a"), true},
    {"9110 5.1: line end in a name", BYTES("X\r\nY"), BYTES("a"), true},
};

START_TEST(values)
{
    char memory[128];
    struct http_writer writer;
    http_writer_init(&writer, memory, sizeof(memory));
    http_write_named_field(&writer, value_rows[_i].name, value_rows[_i].value);
    ck_assert_msg(writer.failed == value_rows[_i].fails, "RFC %s", value_rows[_i].rfc);
    http_writer_init(&writer, memory, sizeof(memory));
    http_write_field(&writer, HTTP_FIELD_SERVER, value_rows[_i].value);
    ck_assert(writer.failed == (value_rows[_i].fails && value_rows[_i].value.length != 1));
    if (writer.failed)
        ck_assert_ptr_eq(writer.at, memory);
}
END_TEST

static const struct {
    const char *rfc;
    const char *path;
    const char *query;
    const char *line; /* NULL: refused */
} location_rows[] = {
    {"9110 10.2.2: path only", "/dir/", NULL, "Location: /dir/\r\n"},
    {"9110 10.2.2: query kept", "/dir/", "x=1&y=%26", "Location: /dir/?x=1&y=%26\r\n"},
    {"9110 10.2.2: empty query kept", "/dir/", "", "Location: /dir/?\r\n"},
    {"3986 4.2", "//evil.example/", NULL, "Location: /evil.example/\r\n"},
    {"3986 4.2", "/\\evil.example/", NULL, "Location: /%5Cevil.example/\r\n"},
    {"9110 5.5", "/dir\r\nX-Evil: 1/", NULL, "Location: /dir%0D%0AX-Evil%3A%201/\r\n"},
    {"9110 5.5: line end in a query", "/", "a\r\nb", NULL},
};

START_TEST(locations)
{
    char memory[128];
    struct http_writer writer;
    http_writer_init(&writer, memory, sizeof(memory));
    struct http_text query = {NULL, 0};
    if (location_rows[_i].query != NULL)
        query = http_text_of(location_rows[_i].query);
    http_write_location(&writer, http_text_of(location_rows[_i].path),
                        location_rows[_i].query != NULL ? &query : NULL);
    ck_assert(writer.failed == (location_rows[_i].line == NULL));
    if (!writer.failed)
        ck_text_eq(((struct http_text){memory, (size_t)(writer.at - memory)}),
                   location_rows[_i].line);
}
END_TEST

START_TEST(odd_ones)
{
    char memory[256];
    struct http_writer writer;
    http_writer_init(&writer, memory, sizeof(memory));
    http_write_status(&writer, 599);
    http_write_date_field(&writer, HTTP_FIELD_LAST_MODIFIED, INT64_MAX); /* left out */
    http_write_content_range(&writer, NULL, 0);
    http_write_number_field(&writer, HTTP_FIELD_AGE, UINT64_MAX);
    http_write_allow(&writer, 0); /* RFC 9110 10.2.1: may be empty */
    ck_text_eq(((struct http_text){memory, (size_t)(writer.at - memory)}),
               "HTTP/1.1 599 \r\nContent-Range: bytes */0\r\nAge: 18446744073709551615\r\n"
               "Allow: \r\n");
    http_write_status(&writer, 1000);
    ck_assert(writer.failed);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("response");
    tcase_add_test(tcase, whole);
    tcase_add_test(tcase, cut);
    tcase_add_loop_test(tcase, values, 0, ROW_COUNT(value_rows));
    tcase_add_loop_test(tcase, locations, 0, ROW_COUNT(location_rows));
    tcase_add_test(tcase, odd_ones);
    return run_suite("response", tcase);
}
