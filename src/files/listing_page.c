/* SPDX-License-Identifier: MIT */
/*
 * The text of listings, HTML and JSON, with every name escaped for where it stands.
 * It reads no directory and sends nothing. Called by listing.c, a few rows at a time.
 */

#include <config.h>

#include "files/listing_page.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAST_SECOND 253402300799 /* of the year 9999 */
#define CRUMBS_MAX  16

static const char head_start[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n" /* or browsers ask for one that is not there */
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>";

static const char head_style[] =
    "</title>\n<style>\n"
    ":root{--text:#1d2430;--faint:#5c6675;--line:#e3e7ed;--link:#0b57c2;--row:#f4f7fb;"
    "--page:#fff}\n"
    "@media (prefers-color-scheme:dark){:root{--text:#dfe4ec;--faint:#98a2b3;--line:#2b3340;"
    "--link:#8ab8ff;--row:#1b222d;--page:#12171f}}\n"
    "body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 3rem;color:var(--text);"
    "background:var(--page);font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{margin:0 0 1rem;font-size:1.25rem;font-weight:600;overflow-wrap:anywhere}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    "table{width:100%;border-collapse:collapse}\n"
    "th,td{padding:.35rem .5rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:baseline}\n"
    "th{font-size:.85rem;font-weight:600;color:var(--faint)}\n"
    "tbody tr:hover{background:var(--row)}\n"
    "td:first-child{overflow-wrap:anywhere}td:first-child a{display:block}\n"
    "th+th,td+td{white-space:nowrap;color:var(--faint);font-variant-numeric:tabular-nums}\n"
    "th:nth-child(2),td:nth-child(2){text-align:right}\n"
    "p{color:var(--faint)}\n"
    "@media (max-width:34rem){th:nth-child(3),td:nth-child(3){display:none}}\n"
    "</style>\n</head>\n<body>\n<h1>";

void page_fini(struct page *page)
{
    free(page->data);
    *page = (struct page){.data = NULL};
}

/* Room for so many bytes more, or NULL. */
static char *reserve(struct page *page, size_t length)
{
    size_t size = page->size == 0 ? 4096 : page->size;
    char *data;

    if (page->failed)
        return NULL;
    while (size - page->used < length)
        size *= 2;
    if (size != page->size) {
        data = realloc(page->data, size);
        if (data == NULL) {
            page->failed = true;
            return NULL;
        }
        page->data = data;
        page->size = size;
    }
    return page->data + page->used;
}

static void add_bytes(struct page *page, const char *bytes, size_t length)
{
    char *to = reserve(page, length);

    if (to == NULL)
        return;
    memcpy(to, bytes, length);
    page->used += length;
}

static void add(struct page *page, const char *text)
{
    add_bytes(page, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void add_format(struct page *page, const char *format,
                                                             ...)
{
    char text[128];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    add_bytes(page, text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

/* The length of the well-formed UTF-8 sequence at the start (RFC 3629), or 0. */
static size_t sequence_length(const char *text, size_t left)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = byte[0] < 0x80   ? 1
                    : byte[0] < 0xc2 ? 0
                    : byte[0] < 0xe0 ? 2
                    : byte[0] < 0xf0 ? 3
                    : byte[0] < 0xf5 ? 4
                                     : 0;

    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what is beyond U+10FFFF. */
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f))
        return 0;
    return length;
}

static void add_html_byte(struct page *page, unsigned char byte)
{
    switch (byte) {
    case '&':
        add(page, "&amp;");
        return;
    case '<':
        add(page, "&lt;");
        return;
    case '>':
        add(page, "&gt;");
        return;
    case '"':
        add(page, "&quot;");
        return;
    case '\'':
        add(page, "&#39;");
        return;
    }
    if (byte < 0x20 || byte == 0x7f) /* Unicode has pictures of control bytes */
        add_format(page, "&#x%x;", byte == 0x7f ? 0x2421u : 0x2400u + byte);
    else
        add_bytes(page, (const char *)&byte, 1);
}

static void add_html(struct page *page, const char *text, size_t length)
{
    while (length > 0) {
        size_t step = sequence_length(text, length);

        if (step == 1)
            add_html_byte(page, (unsigned char)*text);
        else if (step > 1)
            add_bytes(page, text, step);
        else
            add(page, "\xef\xbf\xbd");
        text += step > 0 ? step : 1;
        length -= step > 0 ? step : 1;
    }
}

static void add_json(struct page *page, const char *text, size_t length)
{
    while (length > 0) {
        size_t step = sequence_length(text, length);
        unsigned char byte = (unsigned char)*text;

        if (step == 0)
            add(page, "\\ufffd");
        else if (byte < 0x20 || byte == 0x7f)
            add_format(page, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            add_format(page, "\\%c", byte);
        else
            add_bytes(page, text, step);
        text += step > 0 ? step : 1;
        length -= step > 0 ? step : 1;
    }
}

/* Escaped so that it is fit for an attribute and a JSON string as it is. */
static void add_link(struct page *page, const char *name, size_t length)
{
    char *to = reserve(page, 3 * length);

    if (to != NULL)
        page->used += page->encode_path(name, length, to);
    assert(page->used <= page->size);
}

/* The way up, each step a link; of a very long one only the end. */
static void add_crumbs(struct page *page, const char *path, size_t length)
{
    size_t starts[CRUMBS_MAX], count = 0;

    for (size_t i = length; i > 1 && count < CRUMBS_MAX; i--)
        if (path[i - 2] == '/')
            starts[count++] = i - 1;
    if (length == 1) {
        add(page, "/");
        return;
    }
    /* starts[count - 1] is the first that is shown; starts[0] this directory. */
    if (starts[count - 1] == 1) {
        add(page, "<a href=\"/\">/</a> ");
    } else {
        add(page, "&hellip; / ");
    }
    while (count-- > 0) {
        const char *name = path + starts[count];
        size_t size = strcspn(name, "/");

        if (count > 0) {
            add(page, "<a href=\"");
            for (size_t up = 0; up < count; up++)
                add(page, "../");
            add(page, "\">");
        }
        add(page, "<bdi>");
        add_html(page, name, size);
        add(page, count > 0 ? "</bdi></a> / " : "</bdi> /");
    }
}

void page_head(struct page *page, enum listing_format format, const char *path, size_t length)
{
    if (format == LISTING_JSON) {
        add(page, "[");
        return;
    }
    add(page, head_start);
    add_html(page, path, length);
    add(page, head_style);
    add_crumbs(page, path, length);
    add(page, "</h1>\n<table>\n<thead><tr><th>Name</th><th>Size</th><th>Modified (UTC)</th></tr>"
              "</thead>\n<tbody>\n");
    if (length > 1)
        add(page, "<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
}

static void add_size(struct page *page, uint64_t size)
{
    static const char units[] = "KMGTPE";
    double value = (double)size;
    unsigned unit = 0;

    if (size < 1000) {
        add_format(page, "%" PRIu64 " B", size);
        return;
    }
    for (value /= 1024; value >= 999.5 && units[unit + 1] != '\0'; unit++)
        value /= 1024;
    add_format(page, value < 9.95 ? "%.1f %ciB" : "%.0f %ciB", value, units[unit]);
}

/* Nothing for times that no calendar of ours has. */
static void add_time(struct page *page, int64_t seconds, enum listing_format format)
{
    char text[32];
    time_t time = seconds;
    struct tm parts;

    if (seconds < -62135596800 || seconds > LAST_SECOND || gmtime_r(&time, &parts) == NULL)
        return;
    if (format == LISTING_JSON)
        add_bytes(page, text, strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &parts));
    else
        add_bytes(page, text, strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts));
}

static void add_html_row(struct page *page, const struct directory_row *row)
{
    const char *slash = row->is_directory ? "/" : "";

    /* "./" keeps a name with a colon from being taken for a scheme. */
    add(page, "<tr><td><a href=\"./");
    add_link(page, row->name, row->length);
    add(page, slash);
    add(page, "\"><bdi>");
    add_html(page, row->name, row->length);
    add(page, "</bdi>");
    add(page, slash);
    add(page, "</a></td><td>");
    if (!row->is_directory)
        add_size(page, row->size);
    add(page, "</td><td>");
    add_time(page, row->modified, LISTING_HTML);
    add(page, "</td></tr>\n");
}

static void add_json_row(struct page *page, const struct directory_row *row, bool first)
{
    add(page, first ? "\n" : ",\n");
    add(page, "{\"name\":\"");
    add_json(page, row->name, row->length);
    add(page, "\",\"href\":\"./");
    add_link(page, row->name, row->length);
    add(page, row->is_directory ? "/\",\"type\":\"directory\"" : "\",\"type\":\"file\"");
    if (!row->is_directory)
        add_format(page, ",\"size\":%" PRIu64, row->size);
    add(page, ",\"modified\":");
    if (row->modified < -62135596800 || row->modified > LAST_SECOND) {
        add(page, "null}");
        return;
    }
    add_time(page, row->modified, LISTING_JSON);
    add(page, "}");
}

void page_row(struct page *page, enum listing_format format, const struct directory_row *row,
              bool first)
{
    if (format == LISTING_JSON)
        add_json_row(page, row, first);
    else
        add_html_row(page, row);
}

void page_tail(struct page *page, enum listing_format format, const struct directory_rows *rows)
{
    if (format == LISTING_JSON) {
        if (rows->cut)
            add(page, ",\n{\"type\":\"truncated\"}");
        add(page, "\n]\n");
        return;
    }
    add(page, "</tbody>\n</table>\n");
    if (rows->cut)
        add_format(page, "<p>There are more; only %zu are listed.</p>\n", rows->count);
    else if (rows->count == 0)
        add(page, "<p>This directory is empty.</p>\n");
    add(page, "</body>\n</html>\n");
}
