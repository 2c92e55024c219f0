/* SPDX-License-Identifier: MIT */
/* Status codes and their lines. */
#include "http_rows.h"
#include "http/status.h"

static const struct {
    const char *rfc;
    int status;
    const char *reason;
    bool is_bodiless;
} rows[] = {
    {"9110 15.2.1", 100, "Continue", true},
    {"9110 15.3.1", 200, "OK", false},
    {"9110 15.3.5", 204, "No Content", true},
    {"9110 15.3.7", 206, "Partial Content", false},
    {"9110 15.4.2", 301, "Moved Permanently", false},
    {"9110 15.4.5", 304, "Not Modified", true},
    {"9110 15.5.14", 413, "Content Too Large", false},
    {"9110 15.5.17", 416, "Range Not Satisfiable", false},
    {"6585 5", 431, "Request Header Fields Too Large", false},
    {"9110 15.6.6", 505, "HTTP Version Not Supported", false},
    {"4918 11.5", 507, "Insufficient Storage", false},
};

START_TEST(statuses)
{
    char line[80];
    snprintf(line, sizeof(line), "HTTP/1.1 %d %s\r\n", rows[_i].status, rows[_i].reason);
    ck_text_eq(http_status_line(rows[_i].status), line);
    ck_text_eq(http_status_reason(rows[_i].status), rows[_i].reason);
    ck_assert(http_status_is_bodiless(rows[_i].status) == rows[_i].is_bodiless);
}
END_TEST

START_TEST(unknown)
{
    static const int codes[] = {-1, 0, 99, 418, 508, 599, 1000};
    for (int i = 0; i < ROW_COUNT(codes); i++) {
        ck_assert_uint_eq(http_status_line(codes[i]).length, 0);
        ck_text_eq(http_status_reason(codes[i]), "Unknown");
    }
}
END_TEST

/* Each line of the table is one status line, whatever was typed there. */
START_TEST(well_formed)
{
    for (int status = 100; status < 600; status++) {
        struct http_text line = http_status_line(status);
        if (line.length == 0)
            continue;
        ck_assert_uint_gt(line.length, 16);
        ck_assert_ptr_eq(memchr(line.data, '\r', line.length), line.data + line.length - 2);
        ck_assert_int_eq(atoi(line.data + 9), status);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("status");
    tcase_add_loop_test(tcase, statuses, 0, ROW_COUNT(rows));
    tcase_add_test(tcase, unknown);
    tcase_add_test(tcase, well_formed);
    return run_suite("status", tcase);
}
