/* SPDX-License-Identifier: MIT */
/* What frames the content, whether the connection goes on, expectations. */
#include "http_rows.h"

enum { NONE = HTTP_BODY_NONE, LENGTH = HTTP_BODY_LENGTH, CHUNKED = HTTP_BODY_CHUNKED };

static const struct {
    const char *rfc;
    const char *fields;
    int status;
    int body;
    uint64_t length;
} body_rows[] = {
    {"9112 6.3 item 7: neither", "", 0, NONE, 0},
    {"9112 6.3 item 6", "Content-Length: 4\r\n", 0, LENGTH, 4},
    {"9112 6.3 item 6: zero", "Content-Length: 0\r\n", 0, NONE, 0},
    {"9110 8.6: leading zeros", "Content-Length: 0004\r\n", 0, LENGTH, 4},
    {"9110 8.6: white space around", "Content-Length: \t4  \r\n", 0, LENGTH, 4},
    {"9110 5.6.3: a tab behind, refused", "Content-Length: 4\t\r\n", 400, 0, 0},
    {"9110 5.6.3: a tab behind, refused", "Content-Length: 4 \t \r\n", 400, 0, 0},
    {"9110 8.6: 64 bits", "Content-Length: 18446744073709551615\r\n", 0, LENGTH, UINT64_MAX},
    {"9110 8.6: beyond 64 bits", "Content-Length: 18446744073709551616\r\n", 400, 0, 0},
    {"9110 8.6: beyond 64 bits", "Content-Length: 99999999999999999999999\r\n", 400, 0, 0},
    {"9112 6.3: empty", "Content-Length:\r\n", 400, 0, 0},
    {"9112 6.3: blank", "Content-Length: \t\r\n", 400, 0, 0},
    {"9110 8.6: plus", "Content-Length: +4\r\n", 400, 0, 0},
    {"9110 8.6: minus", "Content-Length: -4\r\n", 400, 0, 0},
    {"9110 8.6: hexadecimal", "Content-Length: 0x4\r\n", 400, 0, 0},
    {"9110 8.6: fraction", "Content-Length: 4.0\r\n", 400, 0, 0},
    {"9110 8.6: two numbers", "Content-Length: 4 4\r\n", 400, 0, 0},
    {"9110 8.6: underscore", "Content-Length: 4_0\r\n", 400, 0, 0},
    {"9110 8.6: equal list, refused", "Content-Length: 4, 4\r\n", 400, 0, 0},
    {"9112 6.3 item 5: differing list", "Content-Length: 4, 5\r\n", 400, 0, 0},
    {"9110 8.6: comma at the end", "Content-Length: 4,\r\n", 400, 0, 0},
    {"9112 6.3 item 5: differing lines", "Content-Length: 4\r\nContent-Length: 5\r\n", 400, 0, 0},
    {"9110 8.6: equal lines, refused", "Content-Length: 4\r\ncontent-length: 4\r\n", 400, 0, 0},

    {"9112 6.1", "Transfer-Encoding: chunked\r\n", 0, CHUNKED, 0},
    {"9112 7: any case", "Transfer-Encoding: ChunKed\r\n", 0, CHUNKED, 0},
    {"9110 5.6.3: white space", "Transfer-Encoding:\t chunked\t \r\n", 0, CHUNKED, 0},
    {"9112 6.1: with a length", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", 400, 0, 0},
    {"9112 6.1: the other order", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", 400, 0, 0},
    {"9112 6.1: not even a zero", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", 400, 0, 0},
    {"9112 6.3 item 4: not last", "Transfer-Encoding: chunked, identity\r\n", 400, 0, 0},
    {"9112 6.3 item 4: not that", "Transfer-Encoding: xchunked\r\n", 400, 0, 0},
    {"9112 6.3 item 4: not that", "Transfer-Encoding: chunkedx\r\n", 400, 0, 0},
    {"9112 6.3 item 4: identity", "Transfer-Encoding: identity\r\n", 400, 0, 0},
    {"9112 6.3 item 4: gzip only", "Transfer-Encoding: gzip\r\n", 400, 0, 0},
    {"9112 6.3 item 4: empty", "Transfer-Encoding:\r\n", 400, 0, 0},
    {"9112 6.3 item 4: quoted", "Transfer-Encoding: \"chunked\"\r\n", 400, 0, 0},
    {"9110 5.6.1: empty members, refused", "Transfer-Encoding: ,chunked\r\n", 400, 0, 0},
    {"9110 5.6.1: empty members, refused", "Transfer-Encoding: chunked,\r\n", 400, 0, 0},
    {"9112 7: parameter", "Transfer-Encoding: chunked;q=1\r\n", 400, 0, 0},
    {"9112 6.1: semicolon", "Transfer-Encoding: chunked;\r\n", 400, 0, 0},
    {"9112 6.1: twice in a line", "Transfer-Encoding: chunked, chunked\r\n", 400, 0, 0},
    {"9112 6.1: twice in lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
     400, 0, 0},
    {"9112 6.1: codings in two lines", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
     400, 0, 0},
    {"9112 6.1: unknown coding under chunked", "Transfer-Encoding: gzip, chunked\r\n", 501, CHUNKED,
     0},
    {"9112 6.1: inner vertical tab cannot be",
     "Transfer-Encoding: \x0b"
     "chunked\r\n",
     400, 0, 0},
    {"9112 5.1: another field by its dash", "Transfer_Encoding: chunked\r\n", 0, NONE, 0},
};

START_TEST(bodies)
{
    char head[512];
    int length =
        snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nHost: a\r\n%s\r\n", body_rows[_i].fields);
    struct parsed parsed;
    parse_bytes(&parsed, (struct http_text){head, (size_t)length});
    ck_assert_msg(parsed.status == body_rows[_i].status, "RFC %s: %d (%s)", body_rows[_i].rfc,
                  parsed.status, parsed.request.reason);
    if (parsed.status != 400) {
        ck_assert_int_eq(parsed.request.body, body_rows[_i].body);
        ck_assert_uint_eq(parsed.request.content_length, body_rows[_i].length);
    } else {
        ck_assert(!parsed.request.keep_alive);
    }
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *head;
    int status;
    bool keep_alive;
} connection_rows[] = {
    {"9112 9.3: HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, true},
    {"9112 9.3: close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 0, false},
    {"9110 7.6.1: any case", "GET / HTTP/1.1\r\nHost: a\r\nconnection: CLOSE\r\n\r\n", 0, false},
    {"9110 7.6.1: list", "GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, close\r\n\r\n", 0, false},
    {"9110 5.3: lines", "GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nConnection: close\r\n\r\n",
     0, false},
    {"9110 7.6.1: not that", "GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", 0, true},
    {"9110 5.6.1", "GET / HTTP/1.1\r\nHost: a\r\nConnection: TE,,Keep-Alive\r\n\r\n", 0, true},
    {"9110 5.6.1", "GET / HTTP/1.1\r\nHost: a\r\nConnection: ,,,\r\n\r\n", 0, true},
    {"9110 5.6.1: HTTP/1.0", "GET / HTTP/1.0\r\nConnection: TE,,Keep-Alive\r\n\r\n", 0, true},
    {"9112 9.3: HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 0, false},
    {"9112 9.3: HTTP/1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0, true},
    {"9112 9.3: close wins", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", 0, false},
    {"9112 9.3: close wins", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, keep-alive\r\n\r\n",
     0, false},
    {"9110 2.5: HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 0, true},
    {"9112 C.2.2: another field", "GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n", 0,
     true},
    {"9110 9.3.6: CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 0, false},
    {"9112 6.1: transfer coding in HTTP/1.0",
     "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", 400, false},
    {"9110 15.6.2: after 501 it goes on", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501, true},
    {"9112 6.1: not after an unknown coding",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, false},
    {"9110 7.8: an upgrade is not followed",
     "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 0, true},
    {"9112 6.3: GET may have content", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", 0,
     true},
};

START_TEST(connections)
{
    struct parsed parsed;
    parse_bytes(&parsed, http_text_of(connection_rows[_i].head));
    ck_assert_msg(parsed.status == connection_rows[_i].status, "RFC %s: %d (%s)",
                  connection_rows[_i].rfc, parsed.status, parsed.request.reason);
    ck_assert_msg(parsed.request.keep_alive == connection_rows[_i].keep_alive, "RFC %s",
                  connection_rows[_i].rfc);
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *fields;
    unsigned minor;
    int status;
    bool expect_continue;
} expect_rows[] = {
    {"9110 10.1.1", "Content-Length: 4\r\nExpect: 100-continue\r\n", 1, 0, true},
    {"9110 10.1.1: any case", "Content-Length: 4\r\nExpect: 100-Continue\r\n", 1, 0, true},
    {"9110 10.1.1: chunked", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", 1, 0, true},
    {"9110 10.1.1: no content", "Expect: 100-continue\r\n", 1, 0, false},
    {"9110 10.1.1: no content", "Content-Length: 0\r\nExpect: 100-continue\r\n", 1, 0, false},
    {"9110 10.1.1: HTTP/1.0", "Content-Length: 4\r\nExpect: 100-continue\r\n", 0, 0, false},
    {"9110 10.1.1: unknown", "Content-Length: 4\r\nExpect: tea\r\n", 1, 417, false},
    {"9110 10.1.1: one unknown", "Content-Length: 4\r\nExpect: 100-continue, tea\r\n", 1, 417,
     true},
    {"9110 10.1.1: with a value", "Content-Length: 4\r\nExpect: 100-continue=1\r\n", 1, 417, false},
    {"9110 10.1.1: unknown in HTTP/1.0", "Content-Length: 4\r\nExpect: tea\r\n", 0, 0, false},
    {"9110 5.6.1: empty", "Content-Length: 4\r\nExpect:\r\n", 1, 0, false},
};

START_TEST(expectations)
{
    char head[512];
    int length = snprintf(head, sizeof(head), "POST / HTTP/1.%u\r\nHost: a\r\n%s\r\n",
                          expect_rows[_i].minor, expect_rows[_i].fields);
    struct parsed parsed;
    parse_bytes(&parsed, (struct http_text){head, (size_t)length});
    ck_assert_msg(parsed.status == expect_rows[_i].status, "RFC %s: %d (%s)", expect_rows[_i].rfc,
                  parsed.status, parsed.request.reason);
    if (parsed.status == 0)
        ck_assert_msg(parsed.request.expect_continue == expect_rows[_i].expect_continue, "RFC %s",
                      expect_rows[_i].rfc);
    ck_assert_msg(parsed.status != 417 || parsed.request.body == HTTP_BODY_LENGTH,
                  "a 417 still knows what frames the content");
    free(parsed.head);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("framing");
    tcase_add_loop_test(tcase, bodies, 0, ROW_COUNT(body_rows));
    tcase_add_loop_test(tcase, connections, 0, ROW_COUNT(connection_rows));
    tcase_add_loop_test(tcase, expectations, 0, ROW_COUNT(expect_rows));
    return run_suite("framing", tcase);
}
