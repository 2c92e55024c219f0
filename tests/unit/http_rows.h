/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_HTTP_ROWS_H
#define TESTS_UNIT_HTTP_ROWS_H

/*
 * What the tests of src/http share: rows of tables that run one by one, text compared with both
 * sides printed, and heads that lie in memory of exactly their size, so that AddressSanitizer sees
 * a read beyond them.
 */

#include "http/head.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_COUNT(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

/* Bytes with their length, for rows that hold a NUL. */
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

#define ck_text_eq(text, string)                                                                   \
    ck_assert_msg((text).length == strlen(string) &&                                               \
                      memcmp((text).data != NULL ? (text).data : "", string, strlen(string)) == 0, \
                  "%s is \"%.*s\", not \"%s\"", #text, (int)(text).length, (text).data, string)

static inline int run_suite(const char *name, TCase *tcase)
{
    Suite *suite = suite_create(name);
    tcase_set_timeout(tcase, 20);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A request parsed from its own copy of a head. */
struct parsed {
    struct http_request request;
    struct http_field fields[100];
    char *head;
    int status;
};

static inline void parse_bytes(struct parsed *parsed, struct http_text bytes)
{
    static const struct http_limits limits = {8192, 32768, 100};
    parsed->head = malloc(bytes.length);
    ck_assert_ptr_nonnull(parsed->head);
    memcpy(parsed->head, bytes.data, bytes.length);
    http_request_init(&parsed->request, parsed->fields, 100);
    parsed->status = http_head_parse(parsed->head, bytes.length, &limits, NULL, &parsed->request);
}

/* A GET in HTTP/1.1 with these lines, each with its CRLF. */
static inline void parse_fields(struct parsed *parsed, const char *method, const char *lines)
{
    char head[4096];
    int length = snprintf(head, sizeof(head), "%s / HTTP/1.1\r\nHost: a\r\n%s\r\n", method, lines);
    parse_bytes(parsed, (struct http_text){head, (size_t)length});
    ck_assert_msg(parsed->status == 0, "%d for \"%s\": %s", parsed->status, lines,
                  parsed->request.reason);
}

#endif
