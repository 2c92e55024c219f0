/* SPDX-License-Identifier: MIT */
/* Methods and their table. */
#include "http_rows.h"

static const struct {
    const char *rfc;
    const char *token;
    enum http_method method;
    bool is_safe;
} rows[] = {
    {"9110 9.3.1", "GET", HTTP_METHOD_GET, true},
    {"9110 9.3.2", "HEAD", HTTP_METHOD_HEAD, true},
    {"9110 9.3.3", "POST", HTTP_METHOD_POST, false},
    {"9110 9.3.4", "PUT", HTTP_METHOD_PUT, false},
    {"9110 9.3.5", "DELETE", HTTP_METHOD_DELETE, false},
    {"9110 9.3.6", "CONNECT", HTTP_METHOD_CONNECT, false},
    {"9110 9.3.7", "OPTIONS", HTTP_METHOD_OPTIONS, true},
    {"9110 9.3.8", "TRACE", HTTP_METHOD_TRACE, true},
    {"5789 2", "PATCH", HTTP_METHOD_PATCH, false},
    {"9110 9.1: by case", "get", HTTP_METHOD_OTHER, false},
    {"9110 9.1: the whole token", "GETX", HTTP_METHOD_OTHER, false},
    {"9110 9.1: the whole token", "GE", HTTP_METHOD_OTHER, false},
    {"9110 9.1: others exist", "M-SEARCH", HTTP_METHOD_OTHER, false},
    {"9110 9.1: our word for others is none", "OTHER", HTTP_METHOD_OTHER, false},
    {"9110 9.1", "", HTTP_METHOD_OTHER, false},
};

START_TEST(methods)
{
    enum http_method method = http_method_find(http_text_of(rows[_i].token));
    ck_assert_msg(method == rows[_i].method, "RFC %s: %s", rows[_i].rfc, rows[_i].token);
    ck_assert_msg(http_method_is_safe(method) == rows[_i].is_safe, "RFC 9110 9.2.1: %s",
                  rows[_i].token);
    if (method != HTTP_METHOD_OTHER)
        ck_text_eq(http_method_name(method), rows[_i].token);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("method");
    tcase_add_loop_test(tcase, methods, 0, ROW_COUNT(rows));
    return run_suite("method", tcase);
}
