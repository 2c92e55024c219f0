/* SPDX-License-Identifier: MIT */
/* Paths: decoding, dot segments, encoding. */
#include "http_rows.h"
#include "http/uri.h"

static const struct {
    const char *rfc;
    struct http_text raw;
    int status;
    const char *path;
} rows[] = {
    {"3986 3.3", BYTES("/"), 0, "/"},
    {"3986 3.3", BYTES("/a/b.html"), 0, "/a/b.html"},
    {"3986 3.3: slash at the end", BYTES("/a/b/"), 0, "/a/b/"},
    {"3986 2.1", BYTES("/%61%62"), 0, "/ab"},
    {"3986 2.1: either case", BYTES("/%c3%BC"), 0, "/\xc3\xbc"},
    {"3986 2.4: once only", BYTES("/%2541"), 0, "/%41"},
    {"3986 2.4: once only", BYTES("/%252e%252e/x"), 0, "/%2e%2e/x"},
    {"3986 3.3: plus is plus", BYTES("/a+b%20c%2Bd"), 0, "/a+b c+d"},
    {"3986 2.1: line feed", BYTES("/a%0Ab"), 0, "/a\nb"},
    {"3986 2.1: tab", BYTES("/tab%09x"), 0, "/tab\tx"},
    {"3986 2.1: backslash is a name's byte", BYTES("/a%5Cb"), 0, "/a\\b"},
    {"3986 3.3: backslash raw", BYTES("/a\\..\\b"), 0, "/a\\..\\b"},
    {"3986 2.1: NUL", BYTES("/%00"), 400, ""},
    {"3986 2.1: NUL", BYTES("/index.html%00.txt"), 400, ""},
    {"3986 2.1: raw NUL", BYTES("/a\0b"), 400, ""},
    {"3986 2.2: encoded slash", BYTES("/a%2Fb"), 404, ""},
    {"3986 2.2: encoded slash", BYTES("/a%2f..%2fc"), 404, ""},
    {"3986 2.2: encoded slash in a segment that goes", BYTES("/a%2Fb/../c"), 404, ""},
    {"3986 2.1: malformed behind an encoded slash", BYTES("/a%2Fb%zz"), 400, ""},
    {"3986 2.1: NUL behind an encoded slash", BYTES("/a%2Fb/%00"), 400, ""},
    {"3986 2.1: cut", BYTES("/%"), 400, ""},
    {"3986 2.1: cut", BYTES("/%4"), 400, ""},
    {"3986 2.1: not hexadecimal", BYTES("/%4g"), 400, ""},
    {"3986 2.1: not hexadecimal", BYTES("/%g4"), 400, ""},
    {"3986 2.1: a sign", BYTES("/%+4"), 400, ""},
    {"3986 2.1: cut by a slash", BYTES("/%4/x"), 400, ""},
    {"3986 2.1: two percents", BYTES("/%%41"), 400, ""},
    {"3986 3.3: no slash at the start", BYTES("a/b"), 400, ""},
    {"3986 3.3: empty", BYTES(""), 400, ""},
    {"3986 3.3: an encoded slash at the start", BYTES("%2Fa"), 400, ""},
    {"3986 5.2.4: single dots", BYTES("/./a/./b"), 0, "/a/b"},
    {"3986 5.2.4: dot at the end", BYTES("/a/."), 0, "/a/"},
    {"3986 5.2.4: parent", BYTES("/a/b/../c"), 0, "/a/c"},
    {"3986 5.2.4: parent at the end", BYTES("/a/b/.."), 0, "/a/"},
    {"3986 5.2.4: parent with slash", BYTES("/a/b/../"), 0, "/a/"},
    {"3986 5.2.4: the RFC's own", BYTES("/a/b/c/./../../g"), 0, "/a/g"},
    {"3986 5.2.4: to the root", BYTES("/a/.."), 0, "/"},
    {"3986 5.2.4: above the root", BYTES("/.."), 0, "/"},
    {"3986 5.2.4: above the root", BYTES("/../../etc/passwd"), 0, "/etc/passwd"},
    {"3986 5.2.4: down and above", BYTES("/a/../../b"), 0, "/b"},
    {"3986 6.2.2.2: encoded dots are dots", BYTES("/a/%2e%2E/b"), 0, "/b"},
    {"3986 6.2.2.2: one encoded", BYTES("/a/.%2e/b/%2e/c"), 0, "/b/c"},
    {"3986 5.2.4: two dots before", BYTES("/..x"), 0, "/..x"},
    {"3986 5.2.4: two dots behind", BYTES("/x.."), 0, "/x.."},
    {"3986 5.2.4: three dots", BYTES("/.../a"), 0, "/.../a"},
    {"3986 5.2.4: dots within", BYTES("/a..b/.c"), 0, "/a..b/.c"},
    {"3986 5.2.4: dot and encoded NUL", BYTES("/..%00/"), 400, ""},
    {"3986 4.2: leading slashes", BYTES("//evil.example"), 0, "/evil.example"},
    {"3986 4.2: leading slashes", BYTES("///x"), 0, "/x"},
    {"3986 4.2: backslash", BYTES("/\\evil.example"), 0, "/\\evil.example"},
    {"3986 3.3: inner empty segments", BYTES("/a//b///c"), 0, "/a/b/c"},
    {"3986 3.3: slashes only", BYTES("////"), 0, "/"},
    {"3986 5.2.4: empty segment has no parent of its own", BYTES("/a//../b"), 0, "/b"},
    {"3986 4.2: dots before slashes", BYTES("/..//evil.example/.."), 0, "/"},
    {"3986 3.3: all bytes above 0x7F", BYTES("/%80%ff"), 0, "/\x80\xff"},
};

START_TEST(decode)
{
    size_t length = rows[_i].raw.length;
    char *raw = malloc(length + 1), *out = malloc(length + 1);
    struct http_path path;
    memcpy(raw, rows[_i].raw.data, length);
    int status = http_path_decode((struct http_text){raw, length}, out, length + 1, &path);
    ck_assert_msg(status == rows[_i].status, "RFC %s: %s gave %d", rows[_i].rfc, rows[_i].raw.data,
                  status);
    if (status == 0) {
        ck_text_eq(path, rows[_i].path);
        ck_assert_int_eq(path.data[path.length], '\0');
        ck_assert(path.has_slash_at_end == (path.data[path.length - 1] == '/'));
    }
    if (length > 0 && rows[_i].raw.data[0] == '/')
        ck_assert_int_eq(http_path_decode((struct http_text){raw, length}, out, length, &path),
                         414);
    free(raw);
    free(out);
}
END_TEST

static const struct {
    const char *rfc;
    const char *path;
    const char *as_path;
    const char *as_name;
} encode_rows[] = {
    {"3986 2.3", "/aZ09-._~", "/aZ09-._~", "%2FaZ09-._~"},
    {"3986 2.1", "/a b", "/a%20b", "%2Fa%20b"},
    {"3986 2.1", "/100%.txt", "/100%25.txt", "%2F100%25.txt"},
    {"3986 2.2", "/a?b#c", "/a%3Fb%23c", "%2Fa%3Fb%23c"},
    {"3986 2.2", "/a+b", "/a%2Bb", "%2Fa%2Bb"},
    {"9110 5.5: line ends", "/dir\r\nX-Evil: 1", "/dir%0D%0AX-Evil%3A%201",
     "%2Fdir%0D%0AX-Evil%3A%201"},
    {"3986 4.2: never another host", "//evil.example", "/evil.example", "%2F%2Fevil.example"},
    {"3986 4.2: never another host", "/\\evil.example", "/%5Cevil.example", "%2F%5Cevil.example"},
    {"3986 4.2: no scheme", "javascript:x", "javascript%3Ax", "javascript%3Ax"},
    {"3986 2.1: bytes above 0x7F", "/\xc3\xbc", "/%C3%BC", "%2F%C3%BC"},
    {"html: nothing that needs escaping there", "/<\"'>&", "/%3C%22%27%3E%26",
     "%2F%3C%22%27%3E%26"},
    {"3986 3.3: empty", "", "", ""},
    {"3986 3.3: root", "/", "/", "%2F"},
};

START_TEST(encode)
{
    char out[256];
    struct http_text path = http_text_of(encode_rows[_i].path);
    size_t length = http_path_encode(path, out);
    ck_text_eq(((struct http_text){out, length}), encode_rows[_i].as_path);
    length = http_name_encode(path, out);
    ck_text_eq(((struct http_text){out, length}), encode_rows[_i].as_name);
}
END_TEST

/* What was encoded decodes to itself, for a name of each byte but NUL and slash. */
START_TEST(round_trip)
{
    char name[] = "/x?", encoded[16], decoded[16];
    struct http_path path;
    for (int byte = 1; byte < 256; byte++) {
        if (byte == '/')
            continue;
        name[2] = (char)byte;
        size_t length = http_path_encode(http_text_of(name), encoded);
        ck_assert_int_eq(
            http_path_decode((struct http_text){encoded, length}, decoded, sizeof(decoded), &path),
            0);
        ck_text_eq(path, name);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("uri");
    tcase_add_loop_test(tcase, decode, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, encode, 0, ROW_COUNT(encode_rows));
    tcase_add_test(tcase, round_trip);
    return run_suite("uri", tcase);
}
