/* SPDX-License-Identifier: MIT */
/*
 * The text of listings, HTML and JSON, with every name escaped for where it stands.
 * It reads no directory and sends nothing. Called by listing.c, a few rows at a time.
 */

#include "files/listing_page.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "files/listing_style.h"

/* Of the years 1 and 9999: what lies beyond has no date that all can read. */
#define FIRST_SECOND (-62135596800)
#define LAST_SECOND  253402300799
#define CRUMBS_MAX   16

/* Escaped so that it is fit for an attribute and a JSON string as it is. */
static void add_link(struct listing_page *page, const char *name, size_t length)
{
    char *to = page_reserve(&page->text, 3 * length);

    if (to != NULL)
        page->text.used += page->encode_path(name, length, to);
    assert(page->text.used <= page->text.size);
}

/* ---- the head ---------------------------------------------------------------------------- */

/* The way up, each step a link; of a very long one only the end. */
static void add_crumbs(struct page_text *text, const char *path, size_t length)
{
    size_t starts[CRUMBS_MAX], count = 0;

    for (size_t i = length; i > 1 && count < CRUMBS_MAX; i--)
        if (path[i - 2] == '/')
            starts[count++] = i - 1;
    if (length == 1) {
        page_add(text, "/");
        return;
    }
    /* starts[count - 1] is the first that is shown; starts[0] this directory. */
    page_add(text, starts[count - 1] == 1 ? "<a href=\"/\">/</a> " : "&hellip; / ");
    while (count-- > 0) {
        const char *name = path + starts[count];
        size_t size = strcspn(name, "/");

        if (count > 0) {
            page_add(text, "<a href=\"");
            for (size_t up = 0; up < count; up++)
                page_add(text, "../");
            page_add(text, "\">");
        }
        page_add(text, "<bdi>");
        page_add_html(text, name, size);
        page_add(text, count > 0 ? "</bdi></a> / " : "</bdi> /");
    }
}

static void add_number_of(struct page_text *text, size_t count, const char *one, const char *many)
{
    page_add_format(text, "%zu %s", count, count == 1 ? one : many);
}

static void add_summary(struct page_text *text, const struct directory_rows *rows)
{
    size_t folders = 0;
    uint64_t bytes = 0;

    if (rows->count == 0) {
        page_add(text, "<p>This folder is empty.</p>\n");
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        folders += rows->rows[i].is_directory;
        bytes += rows->rows[i].size;
    }
    page_add(text, "<p>");
    if (folders > 0)
        add_number_of(text, folders, "folder", "folders");
    if (folders > 0 && folders < rows->count)
        page_add(text, ", ");
    if (folders < rows->count) {
        add_number_of(text, rows->count - folders, "file", "files");
        page_add(text, ", ");
        page_add_size(text, bytes);
    }
    if (rows->cut)
        page_add(text, ". There are more; only these are listed");
    page_add(text, "</p>\n");
}

/* A link that sorts by this column, or turns the order round if it is sorted by it. Names begin at
   the smallest, sizes and times at the largest; what a bare address gives needs no query. */
static void add_column(struct listing_page *page, enum listing_key key, const char *title)
{
    static const char *const queries[][2] = {
        [LISTING_BY_NAME] = {"./", "?sort=name&amp;order=desc"},
        [LISTING_BY_SIZE] = {"?sort=size&amp;order=asc", "?sort=size"},
        [LISTING_BY_TIME] = {"?sort=time&amp;order=asc", "?sort=time"},
    };
    const struct listing_options *options = page->options;
    bool is_sorted = options->key == key;
    bool descending = is_sorted ? !options->descending : key != LISTING_BY_NAME;

    page_add(&page->text, "<th scope=\"col\"");
    if (is_sorted)
        page_add_format(&page->text, " aria-sort=\"%s\"",
                        options->descending ? "descending" : "ascending");
    page_add_format(&page->text, "><a href=\"%s\" rel=\"nofollow\">%s</a></th>",
                    queries[key][descending], title);
}

static void add_html_head(struct listing_page *page)
{
    struct page_text *text = &page->text;
    const struct listing_options *options = page->options;

    page_add(text, PAGE_HEAD "<title>Index of ");
    page_add_html(text, options->path, options->path_length);
    page_add(text, "</title>\n<style>" LISTING_STYLE "</style>\n</head>\n<body>\n<h1>");
    add_crumbs(text, options->path, options->path_length);
    page_add(text, "</h1>\n");
    add_summary(text, page->rows);
    page_add(text, "<table>\n<thead><tr>");
    add_column(page, LISTING_BY_NAME, "Name");
    add_column(page, LISTING_BY_SIZE, "Size");
    add_column(page, LISTING_BY_TIME, "Modified <i>(UTC)</i>");
    page_add(text, "</tr></thead>\n<tbody>\n");
    if (options->path_length > 1)
        page_add(text, "<tr class=\"d\"><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
}

void listing_page_head(struct listing_page *page)
{
    if (page->options->format == LISTING_JSON)
        page_add(&page->text, "[");
    else
        add_html_head(page);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* False for times that no calendar of ours has. */
static bool split_time(int64_t seconds, struct tm *out)
{
    time_t time = seconds;

    return seconds >= FIRST_SECOND && seconds <= LAST_SECOND && gmtime_r(&time, out) != NULL;
}

static void add_html_time(struct page_text *text, int64_t seconds)
{
    struct tm parts;

    if (split_time(seconds, &parts))
        page_add_format(text, "<time>%04d-%02d-%02d %02d:%02d</time>", parts.tm_year + 1900,
                        parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min);
}

static void add_json_time(struct page_text *text, int64_t seconds)
{
    struct tm parts;

    if (split_time(seconds, &parts))
        page_add_format(text, "\"%04d-%02d-%02dT%02d:%02d:%02dZ\"", parts.tm_year + 1900,
                        parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    else
        page_add(text, "null");
}

static void add_html_row(struct listing_page *page, const struct directory_row *row)
{
    struct page_text *text = &page->text;
    const char *slash = row->is_directory ? "/" : "";

    /* "./" keeps a name with a colon from being taken for a scheme. */
    page_add(text, row->is_directory ? "<tr class=\"d\"><td><a href=\"./" : "<tr><td><a href=\"./");
    add_link(page, row->name, row->length);
    page_add(text, slash);
    page_add(text, "\"><bdi>");
    page_add_html(text, row->name, row->length);
    page_add(text, "</bdi>");
    page_add(text, slash);
    page_add(text, "</a></td><td");
    if (!row->is_directory && row->size >= 1000)
        page_add_format(text, " title=\"%" PRIu64 " bytes\"", row->size);
    page_add(text, ">");
    if (!row->is_directory)
        page_add_size(text, row->size);
    page_add(text, "</td><td>");
    add_html_time(text, row->modified);
    page_add(text, "</td></tr>\n");
}

static void add_json_row(struct listing_page *page, const struct directory_row *row)
{
    struct page_text *text = &page->text;

    page_add(text, "{\"name\":\"");
    page_add_json(text, row->name, row->length);
    page_add(text, "\",\"href\":\"./");
    add_link(page, row->name, row->length);
    page_add(text, row->is_directory ? "/\",\"type\":\"directory\"" : "\",\"type\":\"file\"");
    if (!row->is_directory)
        page_add_format(text, ",\"size\":%" PRIu64, row->size);
    page_add(text, ",\"modified\":");
    add_json_time(text, row->modified);
    page_add(text, "}");
}

void listing_page_row(struct listing_page *page, size_t index)
{
    const struct directory_row *row = &page->rows->rows[index];

    if (page->options->format == LISTING_HTML) {
        add_html_row(page, row);
        return;
    }
    page_add(&page->text, index == 0 ? "\n" : ",\n");
    add_json_row(page, row);
}

void listing_page_tail(struct listing_page *page)
{
    if (page->options->format == LISTING_JSON) {
        if (page->rows->cut)
            page_add(&page->text, ",\n{\"type\":\"truncated\"}");
        page_add(&page->text, "\n]\n");
        return;
    }
    page_add(&page->text, "</tbody>\n</table>\n</body>\n</html>\n");
}
