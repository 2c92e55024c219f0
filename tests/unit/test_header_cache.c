/* SPDX-License-Identifier: MIT */
/* Header sections that came before: read the same, and told apart from all that only look it. */
#include "http_rows.h"

#define TIMES 4 /* the second is kept, the third is found */

static struct http_header_cache *cache;

static void set_up(void)
{
    cache = http_header_cache_new();
    ck_assert_ptr_nonnull(cache);
}

static void tear_down(void)
{
    free(cache);
}

static void parse_cached(struct parsed *parsed, struct http_text bytes)
{
    static const struct http_limits limits = {8192, 32768, 100};
    parsed->head = malloc(bytes.length);
    ck_assert_ptr_nonnull(parsed->head);
    memcpy(parsed->head, bytes.data, bytes.length);
    http_request_init(&parsed->request, parsed->fields, 100);
    parsed->status = http_head_parse(parsed->head, bytes.length, &limits, cache, &parsed->request);
}

/* Where a slice lies in its head, whichever copy of it that is. */
static size_t place(struct http_text text, const struct parsed *parsed)
{
    return text.length == 0 ? 0 : (size_t)(text.data - parsed->head);
}

static void check_text(struct http_text a, const struct parsed *of_a, struct http_text b,
                       const struct parsed *of_b)
{
    ck_assert_uint_eq(a.length, b.length);
    ck_assert_uint_eq(place(a, of_a), place(b, of_b));
}

static void check_equal(const struct parsed *a, const struct parsed *b)
{
    const struct http_request *x = &a->request, *y = &b->request;
    ck_assert_int_eq(a->status, b->status);
    ck_assert_int_eq(x->method, y->method);
    ck_assert_int_eq(x->form, y->form);
    ck_assert_int_eq(x->body, y->body);
    ck_assert_int_eq(x->minor_version, y->minor_version);
    ck_assert_int_eq(x->keep_alive, y->keep_alive);
    ck_assert_int_eq(x->expect_continue, y->expect_continue);
    ck_assert_int_eq(x->has_content_length, y->has_content_length);
    ck_assert_uint_eq(x->content_length, y->content_length);
    ck_assert_uint_eq(x->port, y->port);
    ck_assert_ptr_eq(x->reason, y->reason);
    check_text(x->target, a, y->target, b);
    check_text(x->path, a, y->path, b);
    check_text(x->query, a, y->query, b);
    check_text(x->host, a, y->host, b);
    ck_assert_uint_eq(x->field_count, y->field_count);
    for (unsigned i = 0; i < x->field_count; i++) {
        check_text(x->fields[i].name, a, y->fields[i].name, b);
        check_text(x->fields[i].value, a, y->fields[i].value, b);
        ck_assert_uint_eq(x->fields[i].id, y->fields[i].id);
        ck_assert_uint_eq(x->fields[i].next, y->fields[i].next);
    }
    for (unsigned id = 0; id < HTTP_FIELD_COUNT; id++)
        ck_assert_uint_eq(x->known[id], y->known[id]);
}

static bool is_kept(struct http_text head)
{
    struct http_request request;
    struct http_field fields[100];
    const char *section = memchr(head.data, '\n', head.length);
    http_request_init(&request, fields, 100);
    request.method = HTTP_METHOD_GET;
    request.minor_version = 1;
    request.target = HTTP_TEXT("/");
    section++;
    return http_header_cache_find(
        cache, (struct http_text){section, head.length - (size_t)(section - head.data)}, &request);
}

#define HOST "Host: example.org:8080\r\n"
#define BROWSER                                                                                    \
    HOST "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,*/*;q=0.8\r\n"          \
         "Accept-Language: de\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n"
#define TEN "A: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n"
#define BYTES_OF_TEXT                                                                              \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
#define KILOBYTE                                                                                   \
    "L: " BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT      \
        BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT BYTES_OF_TEXT "\r\n"

static const struct {
    const char *head;
    bool is_kept;
} rows[] = {
    {"GET / HTTP/1.1\r\n" HOST "\r\n", true},
    {"GET /a?b HTTP/1.1\r\n" BROWSER "\r\n", true},
    {"HEAD / HTTP/1.1\r\n" HOST "\r\n", true},
    {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", true},
    {"GET / HTTP/1.1\r\n" HOST "Accept: a\r\nX:\r\nAccept: \t b \r\nAccept: c\r\n\r\n", true},
    {"GET / HTTP/1.1\r\n" HOST TEN TEN "\r\n", true},
    {"GET / HTTP/1.1\r\n" HOST TEN TEN TEN "\r\n", false},
    {"GET / HTTP/1.1\r\n" HOST KILOBYTE "\r\n", false},
    {"GET / HTTP/1.0\r\n\r\n", false},
    {"GET / HTTP/1.0\r\n" HOST "\r\n", false},
    {"POST / HTTP/1.1\r\n" HOST "\r\n", false},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", false},
    {"GET http://other.example/ HTTP/1.1\r\n" HOST "\r\n", false},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n", false},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", false},
    {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", false},
    {"GET / HTTP/1.1\r\n" HOST "Expect: what\r\n\r\n", false},
    {"GET / HTTP/1.1\r\n\r\n", false},
    {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", false},
    {"GET / HTTP/2.0\r\n" HOST "\r\n", false},
};

START_TEST(reads_the_same)
{
    struct http_text head = http_text_of(rows[_i].head);
    struct parsed plain;
    parse_bytes(&plain, head);
    for (int i = 0; i < TIMES; i++) {
        struct parsed cached;
        parse_cached(&cached, head);
        check_equal(&cached, &plain);
        free(cached.head);
    }
    ck_assert_int_eq(is_kept(head), rows[_i].is_kept);
    free(plain.head);
}
END_TEST

/* A section that is known, with another request line before it or another byte in it. */
static const char *const lookalikes[] = {
    "GET / HTTP/1.0\r\n" HOST "\r\n",
    "GET http://other.example/ HTTP/1.1\r\n" HOST "\r\n",
    "GET * HTTP/1.1\r\n" HOST "\r\n",
    "OPTIONS * HTTP/1.1\r\n" HOST "\r\n",
    "POST / HTTP/1.1\r\n" HOST "\r\n",
    "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n",
    "NONE / HTTP/1.1\r\n" HOST "\r\n",
    "GET /a/longer/path?with=query HTTP/1.1\r\n" HOST "\r\n",
    "HEAD / HTTP/1.1\r\n" HOST "\r\n",
    "GET / HTTP/1.1\r\nHost: example.org:8081\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: example.org:808\r\n\r\n",
    "GET / HTTP/1.1\r\n" HOST "A: b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: example.org:8080\r\n\n",
    "GET / HTTP/1.1\r\nHost:\texample.org:8080\r\n\r\n",
    "GET  / HTTP/1.1\r\n" HOST "\r\n",
    "\r\nGET / HTTP/1.1\r\n" HOST "\r\n",
};

START_TEST(tells_apart)
{
    struct http_text known = HTTP_TEXT("GET / HTTP/1.1\r\n" HOST "\r\n");
    struct http_text head = http_text_of(lookalikes[_i]);
    struct parsed plain, cached;
    for (int i = 0; i < TIMES; i++) {
        parse_cached(&cached, known);
        ck_assert_int_eq(cached.status, 0);
        free(cached.head);
    }
    ck_assert(is_kept(known));
    parse_bytes(&plain, head);
    parse_cached(&cached, head);
    check_equal(&cached, &plain);
    free(plain.head);
    free(cached.head);
}
END_TEST

/* HTTP/1.0 may come without Host, HTTP/1.1 may not (RFC 9112 3.2), with the same empty section. */
START_TEST(versions)
{
    struct parsed parsed;
    for (int i = 0; i < TIMES; i++) {
        parse_cached(&parsed, HTTP_TEXT("GET / HTTP/1.0\r\n\r\n"));
        ck_assert_int_eq(parsed.status, 0);
        ck_assert(!parsed.request.keep_alive);
        free(parsed.head);
    }
    parse_cached(&parsed, HTTP_TEXT("GET / HTTP/1.1\r\n\r\n"));
    ck_assert_int_eq(parsed.status, 400);
    free(parsed.head);
}
END_TEST

/* Once is not enough: most sections never come again, and would drive out those that do. */
START_TEST(kept_the_second_time)
{
    struct http_text head = HTTP_TEXT("GET / HTTP/1.1\r\n" HOST "\r\n");
    struct parsed parsed;
    for (int i = 0; i < 2; i++) {
        ck_assert(!is_kept(head));
        parse_cached(&parsed, head);
        free(parsed.head);
    }
    ck_assert(is_kept(head));
}
END_TEST

/* More sections than there is room for: whatever is found is right. */
START_TEST(many)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2000; i++) {
            char head[128];
            int length = snprintf(head, sizeof(head),
                                  "GET / HTTP/1.1\r\nHost: h%d\r\nX: %d\r\n\r\n", i, i * 7);
            struct http_text bytes = {head, (size_t)length};
            struct parsed plain, cached;
            parse_bytes(&plain, bytes);
            parse_cached(&cached, bytes);
            check_equal(&cached, &plain);
            free(plain.head);
            free(cached.head);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("header cache");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, reads_the_same, 0, ROW_COUNT(rows));
    tcase_add_loop_test(tcase, tells_apart, 0, ROW_COUNT(lookalikes));
    tcase_add_test(tcase, versions);
    tcase_add_test(tcase, kept_the_second_time);
    tcase_add_test(tcase, many);
    return run_suite("header_cache", tcase);
}
