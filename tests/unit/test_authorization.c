/* SPDX-License-Identifier: MIT */
/*
 * Tests what is taken for Basic credentials (RFC 7617, with the base64 of RFC 4648), and what a
 * client that guesses at the parser's weak spots gets.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "http/authorization.h"

static const struct {
    const char *rfc, *value, *user, *password; /* user NULL: refused */
} rows[] = {
    {"7617 2", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
    {"7617 2.1: UTF-8", "Basic dGVzdDoxMjPCow==", "test", "123\xC2\xA3"},
    {"9110 11.1: any case", "bASIC QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
    {"9110 11.4: 1*SP", "Basic   YTpi", "a", "b"},
    {"7617 2: colons are the password's", "Basic YTpiOmM6", "a", "b:c:"},
    {"7617 2: no password", "Basic YTo=", "a", ""},
    {"bytes above 0x7F", "Basic 5Dr8", "\xE4", "\xFC"},
    {"7617 2: no name", "Basic OmI=", NULL, NULL},
    {"7617 2: no colon", "Basic YWI=", NULL, NULL},
    {"7617 2: only a colon", "Basic Og==", NULL, NULL},
    {"7617 2: control bytes", "Basic YQpiOmM=", NULL, NULL},
    {"7617 2: a NUL", "Basic YTpiAGM=", NULL, NULL},
    {"7617 2: DEL", "Basic YTp/", NULL, NULL},
    {"4648 3.2: padding left out", "Basic YTo", NULL, NULL},
    {"4648 3.2: too much padding", "Basic YTpi====", NULL, NULL},
    {"4648 3.2: padding alone", "Basic ====", NULL, NULL},
    {"4648 3.2: three of it", "Basic Y===", NULL, NULL},
    {"4648 3.3: padding within", "Basic YT==YTpi", NULL, NULL},
    {"4648 3.3: a sign of another alphabet", "Basic YTp-", NULL, NULL},
    {"4648 3.3: a space within", "Basic YT pi", NULL, NULL},
    {"4648 3.5: bits that stand for nothing", "Basic YTp=", NULL, NULL},
    {"4648 3.5: more of them", "Basic YTR=", NULL, NULL},
    {"nothing behind the scheme", "Basic ", NULL, NULL},
    {"the scheme alone", "Basic", NULL, NULL},
    {"nothing", "", NULL, NULL},
    {"another scheme", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", NULL, NULL},
    {"a scheme that begins so", "BasicX QWxhZGRpbjpvcGVuIHNlc2FtZQ==", NULL, NULL},
    {"parameters", "Basic a=\"b\"", NULL, NULL},
    {"a comma and another", "Basic YTpi, Basic YTpj", NULL, NULL},
};

START_TEST(test_rows)
{
    char memory[HTTP_CREDENTIALS_BYTES];
    struct http_credentials credentials;
    bool taken = http_basic_parse(http_text_of(rows[_i].value), memory, &credentials);

    ck_assert_msg(taken == (rows[_i].user != NULL), "RFC %s: %s", rows[_i].rfc, rows[_i].value);
    if (!taken)
        return;
    ck_assert(http_text_equal(credentials.user, http_text_of(rows[_i].user)));
    ck_assert(http_text_equal(credentials.password, http_text_of(rows[_i].password)));
    /* a colon between, and nothing else: auth.c takes them as one text */
    ck_assert_ptr_eq(credentials.user.data + credentials.user.length + 1,
                     credentials.password.data);
}
END_TEST

/* Up to the memory that there is, and not a byte beyond. */
START_TEST(test_length)
{
    char value[8192], memory[HTTP_CREDENTIALS_BYTES + 8];
    struct http_credentials credentials;
    bool taken = true;

    for (size_t groups = 1; groups < 2000; groups++) {
        bool before = taken;

        memcpy(value, "Basic YTpi", 10);
        for (size_t i = 1; i < groups; i++)
            memcpy(value + 6 + 4 * i, "YWJj", 4);
        memset(memory, '!', sizeof(memory));
        taken = http_basic_parse((struct http_text){value, 6 + 4 * groups}, memory, &credentials);
        ck_assert_msg(before || !taken, "taken again at %zu", groups);
        ck_assert_mem_eq(memory + HTTP_CREDENTIALS_BYTES, "!!!!!!!!", 8);
        if (taken)
            ck_assert_uint_eq(credentials.password.length, 3 * groups - 2);
    }
    ck_assert(!taken);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http/authorization");
    TCase *basic = tcase_create("basic");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(basic, test_rows, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(basic, test_length);
    suite_add_tcase(suite, basic);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
