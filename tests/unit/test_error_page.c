/* SPDX-License-Identifier: MIT */
/* Error pages: each status in each form, made once; what the client's Accept leads to. */
#include "server/error_page.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/head.h"
#include "http/status.h"

static struct error_pages pages;

static bool holds(struct http_text text, struct http_text part)
{
    return memmem(text.data, text.length, part.data, part.length) != NULL;
}

/* All that there are, and some that there are not: it fits, says number and name, and is whole. */
START_TEST(every_status)
{
    for (int status = 300; status < 600; status++) {
        char number[8];

        snprintf(number, sizeof(number), "%d", status);
        for (enum error_form form = 0; form < ERROR_FORMS; form++) {
            struct error_page page = error_page_find(&pages, status, form);

            ck_assert(holds(page.content, http_text_of(number)));
            ck_assert(holds(page.content, http_status_reason(status)));
            ck_assert(page.content.data[page.content.length - 1] == '\n');
            ck_assert(holds(page.fields, HTTP_TEXT("Content-Type: ")));
            ck_assert(page.fields.data[page.fields.length - 1] == '\n');
            ck_assert(holds(page.content, HTTP_TEXT("</html>\n")) == (form == ERROR_HTML));
        }
    }
    error_pages_fini(&pages);
}
END_TEST

START_TEST(made_once)
{
    struct error_page first = error_page_find(&pages, 404, ERROR_HTML);
    struct error_page json = error_page_find(&pages, 404, ERROR_JSON);
    struct error_page second = error_page_find(&pages, 404, ERROR_HTML);

    ck_assert_ptr_eq(first.content.data, second.content.data);
    ck_assert_ptr_ne(first.content.data, json.content.data);
    error_pages_fini(&pages);
}
END_TEST

static const struct {
    const char *accept;
    enum error_form form;
} rows[] = {
    {NULL, ERROR_TEXT},
    {"*/*", ERROR_TEXT},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ERROR_HTML},
    {"image/avif,image/webp,*/*;q=0.8", ERROR_TEXT},
    {"text/html", ERROR_HTML},
    {"application/xhtml+xml, */*;q=0.1", ERROR_HTML},
    {"application/json", ERROR_JSON},
    {"application/json, text/html", ERROR_HTML},
    {"application/json, */*;q=0.5", ERROR_JSON},
    {"application/json;q=0.5, text/html;q=0.4", ERROR_JSON},
    {"text/plain", ERROR_TEXT},
    {"text/plain, application/json;q=0.1", ERROR_JSON},
    {"image/png", ERROR_TEXT},
    {"text/html;q=0", ERROR_TEXT},
    {"", ERROR_TEXT},
    {"*/*\r\nAccept: text/html", ERROR_HTML}, /* lines are one list (RFC 9110 5.3) */
    {"*/*\r\nAccept: application/json, text/html;q=0.5", ERROR_JSON},
    {"*/*\r\nAccept: image/png", ERROR_TEXT},
};

START_TEST(forms)
{
    static const struct http_limits limits = {
        .target_bytes = 100, .head_bytes = 1000, .fields = 10};
    struct http_field fields[10];
    struct http_request request;
    char head[512];
    int length = rows[_i].accept == NULL
                     ? snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                     : snprintf(head, sizeof(head),
                                "GET / HTTP/1.1\r\nHost: a\r\nAccept: %s\r\n\r\n", rows[_i].accept);

    http_request_init(&request, fields, 10);
    ck_assert_int_eq(http_head_parse(head, (size_t)length, &limits, NULL, &request), 0);
    ck_assert_int_eq(error_page_form(&request), rows[_i].form);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error_page");
    TCase *tests = tcase_create("error_page");

    tcase_add_test(tests, every_status);
    tcase_add_test(tests, made_once);
    tcase_add_loop_test(tests, forms, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
