/* SPDX-License-Identifier: MIT */
/* Forms of the request target, and Host. */
#include "http_rows.h"

enum {
    ORIGIN = HTTP_TARGET_ORIGIN,
    ABSOLUTE = HTTP_TARGET_ABSOLUTE,
    AUTHORITY = HTTP_TARGET_AUTHORITY,
    ASTERISK = HTTP_TARGET_ASTERISK,
};

static const struct {
    const char *rfc;
    const char *line; /* method and target */
    const char *host; /* the field's value; NULL: none */
    int status;
    int form;
    const char *path;
    const char *query; /* NULL: none */
    const char *host_text;
    unsigned port;
} rows[] = {
    {"9112 3.2.1", "GET /", "a", 0, ORIGIN, "/", NULL, "a", 0},
    {"9112 3.2.1", "GET /a/b?c=d&e", "a:80", 0, ORIGIN, "/a/b", "c=d&e", "a", 80},
    {"9112 3.2.1: empty query", "GET /a?", "a", 0, ORIGIN, "/a", "", "a", 0},
    {"9112 3.2.1: question marks", "GET /?a?b", "a", 0, ORIGIN, "/", "a?b", "a", 0},
    {"9112 3.2.1: two slashes", "GET //b/c", "a", 0, ORIGIN, "//b/c", NULL, "a", 0},
    {"9112 3.2.1: a URI in the path", "GET /http://b/", "a", 0, ORIGIN, "/http://b/", NULL, "a", 0},
    {"9112 3.2.1: raw", "GET /%41%", "a", 0, ORIGIN, "/%41%", NULL, "a", 0},
    {"9112 3.2: no slash", "GET index.html", "a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: query only", "GET ?a", "a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: backslash", "GET \\a", "a", 400, 0, 0, 0, 0, 0},

    {"9112 3.2.2", "GET http://b/c?d", "b", 0, ABSOLUTE, "/c", "d", "b", 0},
    {"9112 3.2.2: wins over Host", "GET http://b:8080/c", "a:1", 0, ABSOLUTE, "/c", NULL, "b",
     8080},
    {"9112 3.2.2: scheme in any case", "GET HTTP://b/", "b", 0, ABSOLUTE, "/", NULL, "b", 0},
    {"9110 4.2.3: empty path", "GET http://b", "b", 0, ABSOLUTE, "/", NULL, "b", 0},
    {"9110 4.2.3: empty path, query", "GET http://b?c", "b", 0, ABSOLUTE, "/", "c", "b", 0},
    {"9112 3.2: Host still has to be valid", "GET http://b/", "a b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: Host still has to be there", "GET http://b/", NULL, 400, 0, 0, 0, 0, 0},
    {"9112 3.2: Host may be empty there", "GET http://b/", "", 0, ABSOLUTE, "/", NULL, "b", 0},
    {"9110 4.2.1: no host", "GET http:///a", "a", 400, 0, 0, 0, 0, 0},
    {"9110 4.2.1: port without host", "GET http://:80/a", "a", 400, 0, 0, 0, 0, 0},
    {"9110 4.2.4: user information", "GET http://u@b/", "b", 400, 0, 0, 0, 0, 0},
    {"9110 4.2.4: user and password", "GET http://u:p@b/", "b", 400, 0, 0, 0, 0, 0},
    {"9110 7.4: another scheme", "GET ftp://b/", "b", 400, 0, 0, 0, 0, 0},
    {"9110 7.4: secured elsewhere", "GET HTTPS://b/", "b", 421, 0, 0, 0, 0, 0},
    {"9112 3.2.2: one slash", "GET http:/b/", "b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.2: scheme only", "GET http:", "b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.2: port too large", "GET http://b:65536/", "b", 400, 0, 0, 0, 0, 0},

    {"9112 3.2.3", "CONNECT b:443", "b:443", 0, AUTHORITY, "", NULL, "b", 443},
    {"9112 3.2.3: IPv6", "CONNECT [::1]:443", "[::1]:443", 0, AUTHORITY, "", NULL, "[::1]", 443},
    {"9110 9.3.6: no port", "CONNECT b", "b", 400, 0, 0, 0, 0, 0},
    {"9110 9.3.6: empty port", "CONNECT b:", "b", 400, 0, 0, 0, 0, 0},
    {"9110 9.3.6: port 0", "CONNECT b:0", "b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.3: a path", "CONNECT /", "b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.3: absolute", "CONNECT http://b:443/", "b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.3: not for others", "GET b:443", "b", 400, 0, 0, 0, 0, 0},

    {"9112 3.2.4", "OPTIONS *", "a", 0, ASTERISK, "", NULL, "a", 0},
    {"9112 3.2.4: spelt absolute", "OPTIONS http://b:81", "b:81", 0, ASTERISK, "", NULL, "b", 81},
    {"9112 3.2.4: with a path it is not", "OPTIONS http://b/", "b", 0, ABSOLUTE, "/", NULL, "b", 0},
    {"9112 3.2.4: with a query it is not", "OPTIONS http://b?c", "b", 0, ABSOLUTE, "/", "c", "b",
     0},
    {"9112 3.2.4: of a path", "OPTIONS /none", "a", 0, ORIGIN, "/none", NULL, "a", 0},
    {"9112 3.2.4: not for others", "GET *", "a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2.4: nothing behind", "OPTIONS *a", "a", 400, 0, 0, 0, 0, 0},

    /* Host. */
    {"9112 3.2: missing", "GET /", NULL, 400, 0, 0, 0, 0, 0},
    {"9112 3.2: empty", "GET /", "", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: dots", "GET /", "..", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: a dot", "GET /", ".", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: slashes", "GET /", "a/../b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: empty label", "GET /", "a..b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: dot first", "GET /", ".a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: port only", "GET /", ":80", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: a dot at the end", "GET /", "a.b.", 0, ORIGIN, "/", NULL, "a.b.", 0},
    {"9112 3.2: empty port", "GET /", "a:", 0, ORIGIN, "/", NULL, "a", 0},
    {"9112 3.2: IPv4", "GET /", "127.0.0.1:8080", 0, ORIGIN, "/", NULL, "127.0.0.1", 8080},
    {"9112 3.2: IPv6", "GET /", "[::1]", 0, ORIGIN, "/", NULL, "[::1]", 0},
    {"9112 3.2: IPv6 and port", "GET /", "[2001:db8::1]:65535", 0, ORIGIN, "/", NULL,
     "[2001:db8::1]", 65535},
    {"3986 3.2.2: IPv4 in IPv6", "GET /", "[::ffff:1.2.3.4]", 0, ORIGIN, "/", NULL,
     "[::ffff:1.2.3.4]", 0},
    {"9112 3.2: case is kept", "GET /", "ExAmPle.ORG", 0, ORIGIN, "/", NULL, "ExAmPle.ORG", 0},
    {"3986 3.2.2: reg-name", "GET /", "a_b-c~1!$&'()*+;=", 0, ORIGIN, "/", NULL,
     "a_b-c~1!$&'()*+;=", 0},
    {"3986 3.2.2: escapes", "GET /", "a%41", 0, ORIGIN, "/", NULL, "a%41", 0},
    {"3986 3.2.2: malformed escape", "GET /", "a%4", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: malformed escape", "GET /", "a%zz", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: IPv6 without brackets", "GET /", "::1", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: empty brackets", "GET /", "[]", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: bracket left open", "GET /", "[::1", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: something behind", "GET /", "[::1]x", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: not an address", "GET /", "[a.b]", 400, 0, 0, 0, 0, 0},
    {"3986 3.2.2: too long an address", "GET /",
     "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]", 400, 0, 0, 0, 0, 0},
    {"6874: zones are for hosts themselves", "GET /", "[fe80::1%25eth0]", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: port is no number", "GET /", "a:http", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: port too large", "GET /", "a:65536", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: port with a sign", "GET /", "a:+80", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: two ports", "GET /", "a:80:80", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: user information", "GET /", "u@a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: a list", "GET /", "a, b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: scheme", "GET /", "http://a", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: backslash", "GET /", "a\\b", 400, 0, 0, 0, 0, 0},
    {"9112 3.2: above 0x7F", "GET /", "\xc3\xbc", 400, 0, 0, 0, 0, 0},
};

START_TEST(targets)
{
    char head[512];
    int length =
        snprintf(head, sizeof(head), "%s HTTP/1.1\r\n%s%s%s\r\n", rows[_i].line,
                 rows[_i].host != NULL ? "Host: " : "", rows[_i].host != NULL ? rows[_i].host : "",
                 rows[_i].host != NULL ? "\r\n" : "");
    struct parsed parsed;
    const struct http_request *request = &parsed.request;
    parse_bytes(&parsed, (struct http_text){head, (size_t)length});
    ck_assert_msg(parsed.status == rows[_i].status, "RFC %s: %d (%s)", rows[_i].rfc, parsed.status,
                  request->reason);
    if (parsed.status == 0) {
        ck_assert_int_eq(request->form, rows[_i].form);
        ck_text_eq(request->path, rows[_i].path);
        ck_assert(request->has_query == (rows[_i].query != NULL));
        ck_text_eq(request->query, rows[_i].query != NULL ? rows[_i].query : "");
        ck_text_eq(request->host, rows[_i].host_text);
        ck_assert_uint_eq(request->port, rows[_i].port);
    }
    free(parsed.head);
}
END_TEST

static const struct {
    const char *rfc;
    const char *head;
    int status;
} host_rows[] = {
    {"9112 3.2: HTTP/1.0 without", "GET / HTTP/1.0\r\n\r\n", 0},
    {"9112 3.2: HTTP/1.0 with an invalid one", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", 400},
    {"9112 3.2: two", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
    {"9112 3.2: the same twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
    {"9112 3.2: two in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400},
    {"9112 3.2.2: two with absolute-form", "GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
     400},
    {"9112 3.2: empty with *", "OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n", 0},
    {"9112 3.2: missing with *", "OPTIONS * HTTP/1.1\r\n\r\n", 400},
};

START_TEST(hosts)
{
    struct parsed parsed;
    parse_bytes(&parsed, http_text_of(host_rows[_i].head));
    ck_assert_msg(parsed.status == host_rows[_i].status, "RFC %s: %d (%s)", host_rows[_i].rfc,
                  parsed.status, parsed.request.reason);
    free(parsed.head);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("target");
    tcase_add_loop_test(tcase, targets, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, hosts, 0, ROW_COUNT(host_rows));
    return run_suite("target", tcase);
}
