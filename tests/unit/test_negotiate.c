/* SPDX-License-Identifier: MIT */
/* Weights in Accept and Accept-Encoding. */
#include "http_rows.h"
#include "http/negotiate.h"

static const struct {
    const char *rfc;
    const char *fields;
    unsigned html, json;
    bool prefers_json;
} accept_rows[] = {
    {"9110 12.5.1: no field", "", 1000, 1000, false},
    {"9110 12.5.1", "Accept: application/json\r\n", 0, 1000, true},
    {"9110 12.5.1", "Accept: text/html\r\n", 1000, 0, false},
    {"9110 12.5.1: any case", "Accept: APPLICATION/Json\r\n", 0, 1000, true},
    {"9110 12.5.1: anything", "Accept: */*\r\n", 1000, 1000, false},
    {"9110 12.5.1: a tie", "Accept: application/json, text/html\r\n", 1000, 1000, false},
    {"9110 12.4.2: weights", "Accept: text/html;q=0.5, application/json;q=0.7\r\n", 500, 700, true},
    {"9110 12.4.2: Q, and white space", "Accept: text/html ; Q=0.5 , application/json\r\n", 500,
     1000, true},
    {"9110 12.5.1: the most specific decides",
     "Accept: */*;q=0.9, text/*;q=0.3, text/html;q=0.1\r\n", 100, 900, true},
    {"9110 12.5.1: in any order", "Accept: text/html;q=0.1, text/*;q=0.3, */*;q=0.9\r\n", 100, 900,
     true},
    {"9110 12.4.2: not acceptable", "Accept: text/html;q=0, */*\r\n", 0, 1000, true},
    {"9110 12.4.2: three digits", "Accept: text/html;q=0.123, application/json;q=0.124\r\n", 123,
     124, true},
    {"9110 12.4.2: one", "Accept: text/html;q=1.000, application/json;q=1.\r\n", 1000, 1000, false},
    {"9110 12.4.2: above one", "Accept: text/html;q=1.001, application/json\r\n", 0, 1000, true},
    {"9110 12.4.2: four digits", "Accept: text/html;q=0.1234, application/json;q=0.1\r\n", 0, 100,
     true},
    {"9110 12.4.2: minus", "Accept: text/html;q=-1, application/json;q=0.1\r\n", 0, 100, true},
    {"9110 12.4.2: empty", "Accept: text/html;q=, application/json;q=0.1\r\n", 0, 100, true},
    {"9110 12.5.1: parameters", "Accept: text/html;level=1, application/json;q=0.1\r\n", 0, 100,
     true},
    {"9110 8.3.2: charset, as clients append it",
     "Accept: application/json; charset=utf-8;q=0.9, text/html;Charset=\"utf-8\"\r\n", 1000, 900,
     false},
    {"9110 5.6.4: quoted comma", "Accept: a/b;x=\",text/html,\", application/json\r\n", 0, 1000,
     true},
    {"9110 5.3: lines", "Accept: text/html;q=0.2\r\nAccept: application/json\r\n", 200, 1000, true},
    {"9110 12.5.1: a browser",
     "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8\r\n", 1000,
     800, false},
    {"9110 12.5.1: nonsense", "Accept: text, /html, */html, text/html/x\r\n", 0, 0, false},
    {"9110 12.5.1: empty", "Accept:\r\n", 0, 0, false},
};

START_TEST(accept)
{
    struct parsed parsed;
    parse_fields(&parsed, "GET", accept_rows[_i].fields);
    unsigned html = http_accept_weight(&parsed.request, HTTP_TEXT("text"), HTTP_TEXT("html"));
    unsigned json =
        http_accept_weight(&parsed.request, HTTP_TEXT("application"), HTTP_TEXT("json"));
    ck_assert_msg(html == accept_rows[_i].html && json == accept_rows[_i].json,
                  "RFC %s: %s gave %u and %u", accept_rows[_i].rfc, accept_rows[_i].fields, html,
                  json);
    ck_assert(http_accept_prefers_json(&parsed.request) == accept_rows[_i].prefers_json);
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *fields;
    int gzip, br, identity;
} coding_rows[] = {
    {"9110 12.5.3: no field", "", 0, 0, 1000},
    {"9110 12.5.3: empty", "Accept-Encoding:\r\n", 0, 0, 1},
    {"9110 12.5.3", "Accept-Encoding: gzip\r\n", 1000, 0, 1},
    {"9110 12.5.3: a browser", "Accept-Encoding: gzip, deflate, br, zstd\r\n", 1000, 1000, 1},
    {"9110 12.5.3: any case", "Accept-Encoding: GZIP\r\n", 1000, 0, 1},
    {"9110 12.4.2: weights", "Accept-Encoding: gzip;q=0.5, br;q=0.8\r\n", 500, 800, 1},
    {"9110 12.5.3: star", "Accept-Encoding: *\r\n", 1000, 1000, 1},
    {"9110 12.5.3: star but one", "Accept-Encoding: *;q=0.5, gzip;q=0\r\n", 0, 500, 1},
    {"9110 12.5.3: identity refused", "Accept-Encoding: gzip, identity;q=0\r\n", 1000, 0, 0},
    {"9110 12.5.3: identity refused by star", "Accept-Encoding: br, *;q=0\r\n", 0, 1000, 0},
    {"9110 12.5.3: but named", "Accept-Encoding: identity;q=0.2, *;q=0\r\n", 0, 0, 200},
    {"9110 12.5.3: not acceptable", "Accept-Encoding: gzip;q=0.000\r\n", 0, 0, 1},
    {"9110 12.5.3: another's name", "Accept-Encoding: xgzip, gzipx\r\n", 0, 0, 1},
    {"9110 5.3: lines", "Accept-Encoding: br\r\nAccept-Encoding: gzip;q=0.1\r\n", 100, 1000, 1},
    {"9110 8.4.1.3: x-gzip", "Accept-Encoding: x-gzip;q=0.3\r\n", 300, 0, 1},
    {"9110 5.3: refused on a later line",
     "Accept-Encoding: gzip\r\nAccept-Encoding: identity;q=0\r\n", 1000, 0, 0},
    {"9110 12.4.2: malformed weight", "Accept-Encoding: gzip;q=x, br\r\n", 0, 1000, 1},
};

START_TEST(codings)
{
    struct parsed parsed;
    parse_fields(&parsed, "GET", coding_rows[_i].fields);
    const struct http_request *request = &parsed.request;
    const struct http_text names[] = {HTTP_TEXT("gzip"), HTTP_TEXT("br"), HTTP_TEXT("identity")};
    int weights[3];
    http_coding_weights(request, names, 3, weights);
    ck_assert_msg(weights[0] == coding_rows[_i].gzip && weights[1] == coding_rows[_i].br &&
                      weights[2] == coding_rows[_i].identity,
                  "RFC %s: %s gave %d, %d, %d", coding_rows[_i].rfc, coding_rows[_i].fields,
                  weights[0], weights[1], weights[2]);
    ck_assert_int_eq(http_identity_is_refused(request), coding_rows[_i].identity == 0);
    free(parsed.head);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("negotiate");
    tcase_add_loop_test(tcase, accept, 0, ROW_COUNT(accept_rows));
    tcase_add_loop_test(tcase, codings, 0, ROW_COUNT(coding_rows));
    return run_suite("negotiate", tcase);
}
