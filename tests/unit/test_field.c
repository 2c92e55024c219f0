/* SPDX-License-Identifier: MIT */
/* Known field names: each is found in any case, and nothing else is. */
#include "http_rows.h"

#include <ctype.h>

START_TEST(each_name)
{
    enum http_field_id id = (enum http_field_id)_i;
    struct http_text name = http_field_name(id);
    char changed[64];
    ck_assert_int_eq(http_field_find(name), id);
    for (size_t i = 0; i < name.length; i++)
        changed[i] = (char)(i % 2 ? toupper(name.data[i]) : tolower(name.data[i]));
    ck_assert_int_eq(http_field_find((struct http_text){changed, name.length}), id);
    /* One byte more, one less, another one within. */
    changed[name.length] = 'x';
    ck_assert_int_eq(http_field_find((struct http_text){changed, name.length + 1}),
                     HTTP_FIELD_OTHER);
    ck_assert_int_ne(http_field_find((struct http_text){changed, name.length - 1}), id);
    changed[name.length / 2] ^= 1;
    ck_assert_int_ne(http_field_find((struct http_text){changed, name.length}), id);
}
END_TEST

static const char *const unknown_rows[] = {
    "", "X", "Proxy-Connection", "Content-Length\t", "Content_Length", "Hast"};

START_TEST(unknown)
{
    ck_assert_int_eq(http_field_find(http_text_of(unknown_rows[_i])), HTTP_FIELD_OTHER);
}
END_TEST

START_TEST(long_name)
{
    char name[70000];
    memset(name, 'a', sizeof(name));
    ck_assert_int_eq(http_field_find((struct http_text){name, sizeof(name)}), HTTP_FIELD_OTHER);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("field");
    tcase_add_loop_test(tcase, each_name, HTTP_FIELD_OTHER + 1, HTTP_FIELD_COUNT);
    tcase_add_loop_test(tcase, unknown, 0, ROW_COUNT(unknown_rows));
    tcase_add_test(tcase, long_name);
    return run_suite("field", tcase);
}
