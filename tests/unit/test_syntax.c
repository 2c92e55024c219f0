/* SPDX-License-Identifier: MIT */
/* What no head may look like, whatever llhttp thinks of it; and what one may. */
#include "http_rows.h"

#define HOST "Host: a\r\n"

static const struct {
    const char *rfc;
    struct http_text head;
    int status;
} rows[] = {
    {"9112 3: well", BYTES("GET / HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"9112 2.2: one empty line before", BYTES("\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"9112 2.2: four", BYTES("\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"9112 2.2: five", BYTES("\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.2: LF alone before", BYTES("\nGET / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.2: space before", BYTES(" GET / HTTP/1.1\r\n" HOST "\r\n"), 400},

    /* Line ends. */
    {"9112 2.2: LF after the request line", BYTES("GET / HTTP/1.1\n" HOST "\r\n"), 400},
    {"9112 2.2: LF after a field", BYTES("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400},
    {"9112 2.2: LF as the empty line", BYTES("GET / HTTP/1.1\r\n" HOST "\n"), 400},
    {"9112 2.2: LF everywhere", BYTES("GET / HTTP/1.1\nHost: a\n\n"), 400},
    {"9112 2.2: CR in the target", BYTES("GET /\rx HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.2: CR in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"), 400},
    {"9112 2.2: CR before CRLF", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\r\r\n\r\n"), 400},
    {"9112 2.2: CR in a name", BYTES("GET / HTTP/1.1\r\n" HOST "X\ry: a\r\n\r\n"), 400},
    {"9112 2.2: CR before the name", BYTES("GET / HTTP/1.1\r\n" HOST "\rX: a\r\n\r\n"), 400},
    {"9112 2.2: CR after the version", BYTES("GET / HTTP/1.1\r\r\n" HOST "\r\n"), 400},

    /* Request line. */
    {"9112 3: two spaces after the method", BYTES("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: two spaces after the target", BYTES("GET /  HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: tab", BYTES("GET\t/ HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: tab", BYTES("GET /\tHTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: space at the end", BYTES("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400},
    {"9112 3: vertical tab", BYTES("GET\v/ HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: form feed in the target", BYTES("GET /\f HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: space in the target", BYTES("GET /a b HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3: HTTP/0.9", BYTES("GET /\r\n\r\n"), 400},
    {"9112 3: HTTP/0.9 with fields", BYTES("GET /\r\n" HOST "\r\n"), 400},
    {"9112 3: HTTP/0.9 with a space", BYTES("GET / \r\n\r\n"), 400},
    {"9112 3: method only", BYTES("GET\r\n\r\n"), 400},
    {"9112 3: method and space", BYTES("GET \r\n\r\n"), 400},
    {"9112 3: no target", BYTES("GET HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9110 9.1: brackets in the method", BYTES("GE(T / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9110 9.1: NUL in the method", BYTES("G\0T / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9110 9.1: above 0x7F in the method", BYTES("G\xc3T / HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9110 9.1: empty method", BYTES("/ HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3.2: NUL in the target", BYTES("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3.2: above 0x7F in the target", BYTES("GET /\xc3\xbc HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3.2: DEL in the target", BYTES("GET /\x7f HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3.2: fragment", BYTES("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400},
    {"9112 3.2: visible ASCII else", BYTES("GET /\"<>\\^`{|}[]' HTTP/1.1\r\n" HOST "\r\n"), 0},
    {"9112 2.2: a TLS hello", BYTES("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"), 400},

    /* Version. */
    {"9110 2.5: higher minor", BYTES("GET / HTTP/1.2\r\n" HOST "\r\n"), 0},
    {"9110 2.5: higher minor", BYTES("GET / HTTP/1.9\r\n" HOST "\r\n"), 0},
    {"9110 15.6.6", BYTES("GET / HTTP/2.0\r\n" HOST "\r\n"), 505},
    {"9110 15.6.6", BYTES("GET / HTTP/0.9\r\n" HOST "\r\n"), 505},
    {"9110 15.6.6", BYTES("GET / HTTP/3.0\r\n" HOST "\r\n"), 505},
    {"9110 15.6.6: preface of HTTP/2", BYTES("PRI * HTTP/2.0\r\n\r\n"), 505},
    {"9112 2.3: two digits", BYTES("GET / HTTP/1.32\r\n" HOST "\r\n"), 400},
    {"9112 2.3: overflow", BYTES("GET / HTTP/4294967297.1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: by case", BYTES("GET / http/1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: another name", BYTES("GET / ICE/1.0\r\n" HOST "\r\n"), 400},
    {"9112 2.3: another name", BYTES("GET / HTTPS/1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: no minor", BYTES("GET / HTTP/1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: no minor", BYTES("GET / HTTP/1.\r\n" HOST "\r\n"), 400},
    {"9112 2.3: sign", BYTES("GET / HTTP/+1.1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: comma", BYTES("GET / HTTP/1,1\r\n" HOST "\r\n"), 400},
    {"9112 2.3: something behind", BYTES("GET / HTTP/1.1x\r\n" HOST "\r\n"), 400},
    {"9112 2.3: letters", BYTES("GET / HTTP/a.b\r\n" HOST "\r\n"), 400},

    /* Field lines. */
    {"9112 5.1: space before the colon", BYTES("GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n"), 400},
    {"9112 5.1: tab before the colon", BYTES("GET / HTTP/1.1\r\n" HOST "X\t: a\r\n\r\n"), 400},
    {"9112 5.1: of a framing field", BYTES("POST / HTTP/1.1\r\n" HOST "Content-Length : 4\r\n\r\n"),
     400},
    {"9112 5: empty name", BYTES("GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n"), 400},
    {"9112 5: no colon", BYTES("GET / HTTP/1.1\r\n" HOST "Content-Length 10\r\n\r\n"), 400},
    {"9112 5: no colon at all", BYTES("GET / HTTP/1.1\r\n" HOST "X\r\n\r\n"), 400},
    {"9112 5: space in a name", BYTES("GET / HTTP/1.1\r\n" HOST "X Y: a\r\n\r\n"), 400},
    {"9112 5: bracket in a name", BYTES("GET / HTTP/1.1\r\n" HOST "X(: a\r\n\r\n"), 400},
    {"9112 5: quote in a name", BYTES("GET / HTTP/1.1\r\n" HOST "\"X\": a\r\n\r\n"), 400},
    {"9112 5: NUL in a name", BYTES("GET / HTTP/1.1\r\n" HOST "X\0Y: a\r\n\r\n"), 400},
    {"9112 5: above 0x7F in a name", BYTES("GET / HTTP/1.1\r\n" HOST "X\xfc: a\r\n\r\n"), 400},
    {"9110 5.6.2: every tchar in a name",
     BYTES("GET / HTTP/1.1\r\n" HOST "!#$%&'*+-.^_`|~09azAZ: a\r\n\r\n"), 0},
    {"9112 5.2: folded by a space", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"), 400},
    {"9112 5.2: folded by a tab", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n"), 400},
    {"9112 5.2: folded Host", BYTES("GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n"), 400},
    {"9112 2.2: space before the first field", BYTES("GET / HTTP/1.1\r\n " HOST "\r\n"), 400},
    {"9112 2.2: tab before the first field", BYTES("GET / HTTP/1.1\r\n\t" HOST "\r\n"), 400},
    {"9112 5.2: a line of one space", BYTES("GET / HTTP/1.1\r\n" HOST " \r\n\r\n"), 400},
    {"9110 5.5: NUL in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400},
    {"9110 5.5: escape in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: \x1b[0m\r\n\r\n"), 400},
    {"9110 5.5: backspace in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\b\r\n\r\n"), 400},
    {"9110 5.5: vertical tab in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\vb\r\n\r\n"), 400},
    {"9110 5.5: DEL in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: \x7f\r\n\r\n"), 400},
    {"9110 5.5: tab in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: a\tb\r\n\r\n"), 0},
    {"9110 5.5: above 0x7F in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X: \xc3\xbc\xff\r\n\r\n"),
     0},
    {"9110 5.5: empty value", BYTES("GET / HTTP/1.1\r\n" HOST "X:\r\nY: \r\nZ:\t\r\n\r\n"), 0},
    {"9112 5: no space after the colon", BYTES("GET / HTTP/1.1\r\nHost:a\r\n\r\n"), 0},
    {"9112 5: colons in a value", BYTES("GET / HTTP/1.1\r\n" HOST "X:::a:\r\n\r\n"), 0},

    /* Methods. */
    {"9110 15.6.2", BYTES("M-SEARCH / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 15.6.2", BYTES("BREW / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 15.6.2: M-SEARCH as it is sent", BYTES("M-SEARCH * HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: by case", BYTES("get / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: known to llhttp only", BYTES("PROPFIND / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: of RTSP", BYTES("DESCRIBE / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: of Icecast", BYTES("SOURCE / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: prefix of one", BYTES("GE / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: of HTTP/2's preface", BYTES("PRI / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 9.1: odd token", BYTES("!#$%&'*+-.^_`|~ / HTTP/1.1\r\n" HOST "\r\n"), 501},
    {"9110 15.6.2: but malformed first", BYTES("BREW / HTTP/1.1\r\n" HOST "X : a\r\n\r\n"), 400},
    {"9110 15.6.2: but malformed first", BYTES("BREW / HTTP/1.1\r\n\r\n"), 400},
};

START_TEST(syntax)
{
    struct parsed parsed;
    parse_bytes(&parsed, rows[_i].head);
    ck_assert_msg(parsed.status == rows[_i].status, "RFC %s: %d, not %d (%s)", rows[_i].rfc,
                  parsed.status, rows[_i].status, parsed.request.reason);
    ck_assert_msg((parsed.request.reason != NULL) == (parsed.status != 0),
                  "a refusal has a reason, and nothing else has");
    /* Where it is taken for a head, that is as long as it is; an early end is for refused ones. */
    size_t scanned = 0;
    size_t end = http_head_end(parsed.head, rows[_i].head.length, &scanned);
    if (rows[_i].status != 400)
        ck_assert_uint_eq(end, rows[_i].head.length);
    free(parsed.head);
}
END_TEST

/* For the log: as much as could be read. */
static const struct {
    struct http_text head;
    const char *method, *target;
    bool has_version;
} known_rows[] = {
    {BYTES("GET /a HTTP/1.1\r\nHost : a\r\n\r\n"), "GET", "/a", true},
    {BYTES("BREW /a HTTP/1.1\r\nHost: a\r\n\r\n"), "BREW", "/a", true},
    {BYTES("GET /a HTTP/2.0\r\n\r\n"), "GET", "/a", true},
    {BYTES("GET /a HTTP/1.32\r\n\r\n"), "GET", "/a", false},
    {BYTES("GET /a\x01z HTTP/1.1\r\n\r\n"), "GET", "/a\x01z", false},
    {BYTES("GET /a\r\n\r\n"), "GET", "/a", false},
    {BYTES("GET\r\n\r\n"), "GET", "", false},
    {BYTES("(\r\n\r\n"), "", "", false},
};

START_TEST(known_on_failure)
{
    struct parsed parsed;
    parse_bytes(&parsed, known_rows[_i].head);
    ck_assert_int_ne(parsed.status, 0);
    ck_text_eq(parsed.request.method_text, known_rows[_i].method);
    ck_text_eq(parsed.request.target, known_rows[_i].target);
    ck_assert(parsed.request.has_version == known_rows[_i].has_version);
    free(parsed.head);
}
END_TEST

/* Each single byte of a good head replaced by each other byte: never a crash, and what passes has
 * only bytes that may be where they are. */
START_TEST(one_byte_off)
{
    static const char good[] = "GET /a?b HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n\r\n";
    char head[sizeof(good)];
    for (size_t at = 0; at < sizeof(good) - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            struct parsed parsed;
            memcpy(head, good, sizeof(good));
            head[at] = (char)byte;
            parse_bytes(&parsed, (struct http_text){head, sizeof(good) - 1});
            if (parsed.status == 0)
                ck_assert_msg((byte >= ' ' && byte != 0x7f) || byte == '\t' || head[at] == good[at],
                              "0x%02x passes at %zu", byte, at);
            if (good[at] == '\r' || good[at] == '\n')
                ck_assert_msg(parsed.status == 400 || head[at] == good[at],
                              "0x%02x for a line end at %zu", byte, at);
            free(parsed.head);
        }
    }
}
END_TEST

/* A control byte anywhere in a long value, whatever stands beside it. */
START_TEST(controls_anywhere)
{
    static const char start[] = "GET / HTTP/1.1\r\nHost: a\r\nX: ", end[] = "\r\n\r\n";
    static const char fillers[] = {' ', '~', '\t', (char)0x80, (char)0xff};
    enum { VALUE = 20, START = sizeof(start) - 1, END = sizeof(end) - 1 };
    char head[START + VALUE + END];
    memcpy(head, start, START);
    memcpy(head + START + VALUE, end, END);
    for (size_t at = 1; at < VALUE - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            struct parsed parsed;
            memset(head + START, fillers[(at + (size_t)byte) % sizeof(fillers)], VALUE);
            head[START] = head[START + VALUE - 1] = 'x';
            head[START + at] = (char)byte;
            parse_bytes(&parsed, (struct http_text){head, sizeof(head)});
            bool passes = byte == '\t' || (byte >= ' ' && byte != 0x7f);
            ck_assert_msg(parsed.status == (passes ? 0 : 400), "RFC 9110 5.5: 0x%02x at %zu: %d",
                          byte, at, parsed.status);
            free(parsed.head);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("syntax");
    tcase_add_loop_test(tcase, syntax, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, known_on_failure, 0, ROW_COUNT(known_rows));
    tcase_add_test(tcase, one_byte_off);
    tcase_add_test(tcase, controls_anywhere);
    return run_suite("syntax", tcase);
}
