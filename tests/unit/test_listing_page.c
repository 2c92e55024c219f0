/* SPDX-License-Identifier: MIT */
/* The text of listings: escapes for each place, sizes, times, and JSON that is always JSON. */
#include "files_fixture.h"

#include "files/listing_page.h"

/* ---- a strict reader of JSON (RFC 8259): NULL if it is none, else what follows ---- */

static const char *json_value(const char *at, const char *end);

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) != NULL)
        at++;
    return at;
}

static bool is_continued(const char *at, const char *end, int count)
{
    for (int i = 1; i <= count; i++)
        if (at + i >= end || ((unsigned char)at[i] & 0xc0) != 0x80)
            return false;
    return true;
}

static const char *json_string(const char *at, const char *end)
{
    if (at >= end || *at++ != '"')
        return NULL;
    while (at < end && *at != '"') {
        unsigned char byte = (unsigned char)*at;
        int more = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : -1;

        if (byte < 0x20 || more < 0 || !is_continued(at, end, more))
            return NULL;
        if (byte == '\\') {
            at++;
            if (at >= end || strchr("\"\\/bfnrtu", *at) == NULL)
                return NULL;
            if (*at == 'u' && (end - at < 5 || strspn(at + 1, "0123456789abcdefABCDEF") < 4))
                return NULL;
        }
        at += 1 + more;
    }
    return at < end ? at + 1 : NULL;
}

static const char *json_members(const char *at, const char *end, char close, bool named)
{
    at = skip_space(at, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        if (named) {
            at = json_string(skip_space(at, end), end);
            at = at != NULL ? skip_space(at, end) : NULL;
            if (at == NULL || at >= end || *at++ != ':')
                return NULL;
        }
        at = json_value(at, end);
        at = at != NULL ? skip_space(at, end) : NULL;
        if (at == NULL || at >= end)
            return NULL;
        if (*at == close)
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static const char *json_value(const char *at, const char *end)
{
    size_t digits;

    at = skip_space(at, end);
    if (at >= end)
        return NULL;
    if (*at == '[')
        return json_members(at + 1, end, ']', false);
    if (*at == '{')
        return json_members(at + 1, end, '}', true);
    if (*at == '"')
        return json_string(at, end);
    if (end - at >= 4 && memcmp(at, "null", 4) == 0)
        return at + 4;
    digits = strspn(at, "0123456789");
    return digits > 0 && (digits == 1 || *at != '0') ? at + digits : NULL;
}

static bool is_json(const char *text, size_t length)
{
    const char *end = json_value(text, text + length);

    return end != NULL && skip_space(end, text + length) == text + length;
}

/* ---- pages ---- */

static struct directory_row row_of(const char *name, bool is_directory, uint64_t size,
                                   int64_t modified)
{
    return (struct directory_row){name, size, modified, (uint16_t)strlen(name), is_directory};
}

static char *write_page_as(const struct listing_options *options, struct directory_row *rows,
                           size_t count, bool cut)
{
    struct directory_rows all = {.rows = rows, .count = count, .cut = cut};
    struct listing_page page = {
        .options = options, .rows = &all, .encode_path = place_options(STORE_OFF).encode_path};
    struct page_text *text = &page.text;

    listing_page_head(&page);
    for (size_t i = 0; i < count; i++)
        listing_page_row(&page, i);
    listing_page_tail(&page);
    page_add_bytes(text, "", 1);
    ck_assert(!text->failed);
    if (options->format == LISTING_JSON)
        ck_assert_msg(is_json(text->data, text->used - 1), "no JSON: %s", text->data);
    return text->data;
}

static char *write_page(enum listing_format format, const char *path, struct directory_row *rows,
                        size_t count, bool cut)
{
    struct listing_options options = {.format = format, .path = path, .path_length = strlen(path)};

    return write_page_as(&options, rows, count, cut);
}

static void expect_in(enum listing_format format, struct directory_row row, const char *expected)
{
    char *page = write_page(format, "/d/", &row, 1, false);

    ck_assert_msg(strstr(page, expected) != NULL, "\"%s\" is not in %s", expected, page);
    free(page);
}

static const struct {
    const char *name, *html, *json, *href;
} names[] = {
    {"plain.txt", "plain.txt", "plain.txt", "plain.txt"},
    {"a b", "a b", "a b", "a%20b"},
    {"<script>", "&lt;script&gt;", "<script>", "%3Cscript%3E"},
    {"&amp;", "&amp;amp;", "&amp;", "%26amp%3B"},
    {"\"q'", "&quot;q&#39;", "\\\"q'", "%22q%27"},
    {"a\nb", "a&#x240a;b", "a\\u000ab", "a%0Ab"},
    {"back\\slash", "back\\slash", "back\\\\slash", "back%5Cslash"},
    {"\x7f", "&#x2421;", "\\u007f", "%7F"},
    {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac", "%C3%A4%E2%82%AC"},
    {"\xf0\x9f\x90\x98", "\xf0\x9f\x90\x98", "\xf0\x9f\x90\x98", "%F0%9F%90%98"},
    {"\xff", "\xef\xbf\xbd", "\\ufffd", "%FF"},
    {"\xc3", "\xef\xbf\xbd", "\\ufffd", "%C3"},
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\\ufffd\\ufffd", "%C0%AF"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\ufffd\\ufffd\\ufffd", "%ED%A0%80"},
    {"\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx",
     "\\ufffd\\ufffd\\ufffd\\ufffdx", "%F4%90%80%80x"},
    {"a:b", "a:b", "a:b", "a%3Ab"},
    {"100%", "100%", "100%", "100%25"},
    {"a?b#c", "a?b#c", "a?b#c", "a%3Fb%23c"},
};

START_TEST(escapes)
{
    char expected[512];

    snprintf(expected, sizeof(expected), "<a href=\"./%s\"><bdi>%s</bdi></a>", names[_i].href,
             names[_i].html);
    expect_in(LISTING_HTML, row_of(names[_i].name, false, 0, 0), expected);
    snprintf(expected, sizeof(expected), "<a href=\"./%s/\"><bdi>%s</bdi>/</a>", names[_i].href,
             names[_i].html);
    expect_in(LISTING_HTML, row_of(names[_i].name, true, 0, 0), expected);
    snprintf(expected, sizeof(expected), "{\"name\":\"%s\",\"href\":\"./%s\",\"type\":\"file\"",
             names[_i].json, names[_i].href);
    expect_in(LISTING_JSON, row_of(names[_i].name, false, 0, 0), expected);
}
END_TEST

/* All single bytes and many pairs: whatever a name is, JSON is JSON. */
START_TEST(any_bytes)
{
    for (unsigned first = 1; first < 256; first++) {
        for (unsigned second = 1; second < 256; second += 3) {
            char name[4] = {(char)first, (char)second, 'x', '\0'};
            struct directory_row row = row_of(name, false, 1, 1);

            free(write_page(LISTING_JSON, "/", &row, 1, false));
        }
    }
}
END_TEST

START_TEST(sizes)
{
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = {
        {0, ">0 B<"},
        {999, ">999 B<"},
        {1000, ">1.0 KiB<"},
        {1024, ">1.0 KiB<"},
        {1536, ">1.5 KiB<"},
        {10240, ">10 KiB<"},
        {1023 * 1024, ">1.0 MiB<"},
        {1048576, ">1.0 MiB<"},
        {UINT64_C(5) << 30, ">5.0 GiB<"},
        {UINT64_C(3) << 40, ">3.0 TiB<"},
        {UINT64_MAX, ">16 EiB<"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_in(LISTING_HTML, row_of("f", false, rows[i].size, 0), rows[i].text);
    /* an empty file is a file of size 0; a directory has no size */
    expect_in(LISTING_JSON, row_of("f", false, 0, 0), "\"type\":\"file\",\"size\":0,");
    expect_in(LISTING_JSON, row_of("d", true, 0, 0), "\"type\":\"directory\",\"modified\"");
    expect_in(LISTING_JSON, row_of("f", false, UINT64_MAX, 0), "\"size\":18446744073709551615,");
}
END_TEST

/* Times before 1970 and after 9999, in listings. */
START_TEST(times)
{
    expect_in(LISTING_HTML, row_of("f", false, 0, 784111777),
              "<td><time>1994-11-06 08:49</time></td>");
    expect_in(LISTING_JSON, row_of("f", false, 0, 784111777),
              "\"modified\":\"1994-11-06T08:49:37Z\"");
    expect_in(LISTING_HTML, row_of("f", false, 0, -1), "<td><time>1969-12-31 23:59</time></td>");
    expect_in(LISTING_HTML, row_of("f", false, 0, INT64_C(253402300799)),
              "<td><time>9999-12-31 23:59</time></td>");
    expect_in(LISTING_HTML, row_of("f", false, 0, INT64_C(253402300800)), "<td></td>");
    expect_in(LISTING_JSON, row_of("f", false, 0, INT64_C(253402300800)), "\"modified\":null}");
    expect_in(LISTING_JSON, row_of("f", false, 0, INT64_MIN), "\"modified\":null}");
    expect_in(LISTING_JSON, row_of("f", false, 0, INT64_MAX), "\"modified\":null}");
}
END_TEST

START_TEST(heads)
{
    struct directory_row row = row_of("f", false, 1, 1);
    char *page = write_page(LISTING_HTML, "/", &row, 1, false);

    ck_assert_ptr_nonnull(strstr(page, "<meta charset=\"utf-8\">"));
    ck_assert_ptr_nonnull(strstr(page, "<title>Index of /</title>"));
    ck_assert_ptr_null(strstr(page, "../"));
    ck_assert_ptr_null(strstr(page, "<script"));
    free(page);
    page = write_page(LISTING_HTML, "/a<b/c d/", &row, 1, false);
    ck_assert_ptr_nonnull(strstr(page, "<title>Index of /a&lt;b/c d/</title>"));
    ck_assert_ptr_nonnull(strstr(page, "<h1><a href=\"/\">/</a> <a href=\"../\"><bdi>a&lt;b</bdi>"
                                       "</a> / <bdi>c d</bdi> /</h1>"));
    ck_assert_ptr_nonnull(strstr(page, "<a href=\"../\">../</a>"));
    free(page);
}
END_TEST

/* Two thousand levels: no page of megabytes. */
START_TEST(deep_head)
{
    char path[4001], *page;

    for (size_t i = 0; i < 4000; i += 2)
        memcpy(path + i, "/d", 2);
    path[3999] = '/';
    path[3998] = 'd';
    path[4000] = '\0';
    page = write_page(LISTING_HTML, path, NULL, 0, false);
    ck_assert_uint_lt(strlen(page), 20000);
    ck_assert_ptr_nonnull(strstr(page, "<h1>&hellip; / "));
    free(page);
}
END_TEST

/* What is sorted by is said to machines and people, and its link turns the order round. */
START_TEST(columns)
{
    static const struct {
        enum listing_key key;
        bool descending;
        const char *said, *name, *size, *time;
    } rows[] = {
        {LISTING_BY_NAME, false, "<th scope=\"col\" aria-sort=\"ascending\"><a href=\"?sort=name",
         "\"?sort=name&amp;order=desc\"", "\"?sort=size\"", "\"?sort=time\""},
        {LISTING_BY_NAME, true, "<th scope=\"col\" aria-sort=\"descending\"><a href=\"./\"",
         "\"./\" rel", "\"?sort=size\"", "\"?sort=time\""},
        {LISTING_BY_SIZE, true,
         "<th scope=\"col\" aria-sort=\"descending\"><a href=\"?sort=size&amp;order=asc\"",
         "\"./\" rel", "\"?sort=size&amp;order=asc\"", "\"?sort=time\""},
        {LISTING_BY_TIME, false, "<th scope=\"col\" aria-sort=\"ascending\"><a href=\"?sort=time\"",
         "\"./\" rel", "\"?sort=size\"", "\"?sort=time\""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct directory_row row = row_of("f", false, 1, 1);
        struct listing_options options = {
            .key = rows[i].key, .descending = rows[i].descending, .path = "/", .path_length = 1};
        char *page = write_page_as(&options, &row, 1, false);

        ck_assert_msg(strstr(page, rows[i].said) != NULL, "%s\n%s", rows[i].said, page);
        ck_assert_ptr_nonnull(strstr(page, rows[i].name));
        ck_assert_ptr_nonnull(strstr(page, rows[i].size));
        ck_assert_ptr_nonnull(strstr(page, rows[i].time));
        ck_assert_ptr_null(strstr(strstr(page, "aria-sort=\"") + 1, "aria-sort=\""));
        free(page);
    }
}
END_TEST

START_TEST(summaries)
{
    struct directory_row rows[] = {row_of("d", true, 0, 0), row_of("a", false, 1024, 0),
                                   row_of("b", false, 1024, 0)};
    static const struct {
        size_t first, count;
        const char *text;
    } expected[] = {{0, 0, "<p>This folder is empty.</p>"},
                    {0, 1, "<p>1 folder</p>"},
                    {1, 1, "<p>1 file, 1.0 KiB</p>"},
                    {0, 3, "<p>1 folder, 2 files, 2.0 KiB</p>"}};

    for (size_t i = 0; i < COUNT(expected); i++) {
        char *page =
            write_page(LISTING_HTML, "/", rows + expected[i].first, expected[i].count, false);

        ck_assert_ptr_nonnull(strstr(page, expected[i].text));
        free(page);
    }
}
END_TEST

START_TEST(tails)
{
    struct directory_row rows[] = {row_of("a", true, 0, 0), row_of("b", false, 1, 1)};
    char *page;

    page = write_page(LISTING_JSON, "/", NULL, 0, false); /* */
    ck_assert_str_eq(page, "[\n]\n");
    free(page);
    page = write_page(LISTING_HTML, "/", NULL, 0, false);
    ck_assert_ptr_nonnull(strstr(page, "This folder is empty."));
    free(page);
    free(write_page(LISTING_JSON, "/", rows, 2, false));
    page = write_page(LISTING_JSON, "/", rows, 2, true);
    ck_assert_ptr_nonnull(strstr(page, "{\"type\":\"truncated\"}"));
    free(page);
    page = write_page(LISTING_HTML, "/", rows, 2, true);
    ck_assert_ptr_nonnull(strstr(page, "There are more; only these are listed"));
    free(page);
}
END_TEST

/* The reader above finds what is no JSON. */
START_TEST(reader)
{
    static const char good[] = "[ {\"a\":0, \"b\":null}, \"\xc3\xa4\\u00e4\" ] ";
    static const char *const bad[] = {"[",          "[1,]",          "{\"a\"}",   "[\"\x01\"]",
                                      "[\"\xff\"]", "[01]",          "[\"\\x\"]", "[]x",
                                      "",           "[\"\\u12g4\"]", "[\"\xc3\"]"};

    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!is_json(bad[i], strlen(bad[i])), "%s", bad[i]);
    ck_assert(is_json(good, strlen(good)));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("listing_page");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, escapes, 0, (int)COUNT(names));
    tcase_add_test(tcase, any_bytes);
    tcase_add_test(tcase, sizes);
    tcase_add_test(tcase, times);
    tcase_add_test(tcase, heads);
    tcase_add_test(tcase, deep_head);
    tcase_add_test(tcase, columns);
    tcase_add_test(tcase, summaries);
    tcase_add_test(tcase, tails);
    tcase_add_test(tcase, reader);
    return files_run("listing_page", tcase);
}
