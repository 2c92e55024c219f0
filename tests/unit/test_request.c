/* SPDX-License-Identifier: MIT */
/* Access to fields, lists over repeated lines, the deep copy. */
#include "http_rows.h"

START_TEST(fields)
{
    struct parsed parsed;
    struct http_request *request = &parsed.request;
    parse_fields(&parsed, "GET", "Accept: a\r\nX: 1\r\naccept: b\r\nRange: bytes=0-1\r\n");
    ck_text_eq(*http_request_field(request, HTTP_FIELD_ACCEPT), "a");
    ck_assert(http_request_field_is_repeated(request, HTTP_FIELD_ACCEPT));
    ck_assert_ptr_null(http_request_field_single(request, HTTP_FIELD_ACCEPT));
    ck_text_eq(*http_request_field_single(request, HTTP_FIELD_RANGE), "bytes=0-1");
    ck_assert(!http_request_field_is_repeated(request, HTTP_FIELD_RANGE));
    ck_assert_ptr_null(http_request_field(request, HTTP_FIELD_COOKIE));
    ck_assert_ptr_null(http_request_field_single(request, HTTP_FIELD_COOKIE));
    ck_assert(!http_request_field_is_repeated(request, HTTP_FIELD_COOKIE));
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *lines;
    const char *members;
} list_rows[] = {
    {"9110 5.3: one line", "Accept: a, b\r\n", "a|b"},
    {"9110 5.3: lines in order", "Accept: a, b\r\nX: y\r\nAccept: c\r\n", "a|b|c"},
    {"9110 5.6.1: empty lines", "Accept:\r\nAccept: ,,\r\nAccept: a\r\nAccept: ,\r\n", "a"},
    {"9110 5.3: no line", "X: y\r\n", ""},
    {"9110 5.6.4: a quote ends with its line", "Accept: \"a, b\r\nAccept: c\r\n", "\"a, b|c"},
};

START_TEST(lists)
{
    struct parsed parsed;
    struct http_list list;
    struct http_text member;
    char joined[64] = "";
    parse_fields(&parsed, "GET", list_rows[_i].lines);
    http_list_start(&list, &parsed.request, HTTP_FIELD_ACCEPT);
    while (http_list_next(&list, &member)) {
        if (joined[0] != '\0')
            strcat(joined, "|");
        strncat(joined, member.data, member.length);
    }
    ck_assert_msg(strcmp(joined, list_rows[_i].members) == 0, "RFC %s: %s", list_rows[_i].rfc,
                  joined);
    ck_assert(http_request_lists(&parsed.request, HTTP_FIELD_ACCEPT, HTTP_TEXT("A")) ==
              (joined[0] == 'a'));
    free(parsed.head);
}
END_TEST

/* The copy stands alone: the original's bytes are gone before it is looked at. */
START_TEST(deep_copy)
{
    struct parsed parsed;
    parse_bytes(&parsed, HTTP_TEXT("\r\nPUT http://h:9?q HTTP/1.1\r\nHost: a\r\nAccept: b\r\n"
                                   "Accept: c\r\nContent-Length: 4\r\n\r\n"));
    ck_assert_int_eq(parsed.status, 0);
    struct http_request *copy = http_request_clone(&parsed.request);
    ck_assert_ptr_nonnull(copy);
    memset(parsed.head, '!', parsed.request.head.length + 2);
    free(parsed.head);
    memset(&parsed, '!', sizeof(parsed));

    ck_text_eq(copy->method_text, "PUT");
    ck_text_eq(copy->target, "http://h:9?q");
    ck_text_eq(copy->path, "/"); /* a constant: it was not in the head */
    ck_text_eq(copy->query, "q");
    ck_text_eq(copy->host, "h");
    ck_assert_uint_eq(copy->port, 9);
    ck_assert_uint_eq(copy->content_length, 4);
    ck_assert_uint_eq(copy->field_count, 4);
    ck_text_eq(copy->fields[2].name, "Accept");
    ck_text_eq(*http_request_field(copy, HTTP_FIELD_ACCEPT), "b");
    ck_assert(http_request_lists(copy, HTTP_FIELD_ACCEPT, HTTP_TEXT("c")));
    ck_assert_int_eq(copy->head.data[0], 'P');
    ck_assert_int_eq(copy->head.data[copy->head.length - 1], '\n');

    struct http_request *second = http_request_clone(copy);
    ck_assert_ptr_nonnull(second);
    free(copy);
    ck_text_eq(*http_request_field(second, HTTP_FIELD_HOST), "a");
    free(second);
}
END_TEST

START_TEST(copy_of_a_refused_one)
{
    struct parsed parsed;
    parse_bytes(&parsed, HTTP_TEXT("GET /a HTTP/1.32\r\n\r\n"));
    ck_assert_int_eq(parsed.status, 400);
    struct http_request *copy = http_request_clone(&parsed.request);
    ck_assert_ptr_nonnull(copy);
    free(parsed.head);
    ck_text_eq(copy->target, "/a");
    ck_assert_uint_eq(copy->host.length, 0);
    free(copy);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("request");
    tcase_add_test(tcase, fields);
    tcase_add_loop_test(tcase, lists, 0, ROW_COUNT(list_rows));
    tcase_add_test(tcase, deep_copy);
    tcase_add_test(tcase, copy_of_a_refused_one);
    return run_suite("request", tcase);
}
