/* SPDX-License-Identifier: MIT */
/*
 * Text that grows, and bytes escaped for HTML and JSON.
 * It knows no page and sends nothing.
 * Called by listing_page.c, and by the server's status page.
 */

#include "files/page_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_text_fini(struct page_text *page)
{
    free(page->data);
    *page = (struct page_text){.data = NULL};
}

char *page_reserve(struct page_text *page, size_t length)
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

void page_add_bytes(struct page_text *page, const char *bytes, size_t length)
{
    char *to = page_reserve(page, length);

    if (to == NULL)
        return;
    memcpy(to, bytes, length);
    page->used += length;
}

void page_add(struct page_text *page, const char *text)
{
    page_add_bytes(page, text, strlen(text));
}

void page_add_format(struct page_text *page, const char *format, ...)
{
    char text[256];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    page_add_bytes(page, text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
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

static void add_html_byte(struct page_text *page, unsigned char byte)
{
    switch (byte) {
    case '&':
        page_add(page, "&amp;");
        return;
    case '<':
        page_add(page, "&lt;");
        return;
    case '>':
        page_add(page, "&gt;");
        return;
    case '"':
        page_add(page, "&quot;");
        return;
    case '\'':
        page_add(page, "&#39;");
        return;
    }
    if (byte < 0x20 || byte == 0x7f) /* Unicode has pictures of control bytes */
        page_add_format(page, "&#x%x;", byte == 0x7f ? 0x2421u : 0x2400u + byte);
    else
        page_add_bytes(page, (const char *)&byte, 1);
}

void page_add_html(struct page_text *page, const char *text, size_t length)
{
    while (length > 0) {
        size_t step = sequence_length(text, length);

        if (step == 1)
            add_html_byte(page, (unsigned char)*text);
        else if (step > 1)
            page_add_bytes(page, text, step);
        else
            page_add(page, "\xef\xbf\xbd");
        text += step > 0 ? step : 1;
        length -= step > 0 ? step : 1;
    }
}

void page_add_json(struct page_text *page, const char *text, size_t length)
{
    while (length > 0) {
        size_t step = sequence_length(text, length);
        unsigned char byte = (unsigned char)*text;

        if (step == 0)
            page_add(page, "\\ufffd");
        else if (byte < 0x20 || byte == 0x7f)
            page_add_format(page, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            page_add_format(page, "\\%c", byte);
        else
            page_add_bytes(page, text, step);
        text += step > 0 ? step : 1;
        length -= step > 0 ? step : 1;
    }
}

void page_add_size(struct page_text *page, uint64_t size)
{
    static const char units[] = "KMGTPE";
    double value = (double)size;
    unsigned unit = 0;

    if (size < 1000) {
        page_add_format(page, "%" PRIu64 " B", size);
        return;
    }
    for (value /= 1024; value >= 999.5 && units[unit + 1] != '\0'; unit++)
        value /= 1024;
    page_add_format(page, value < 9.95 ? "%.1f %ciB" : "%.0f %ciB", value, units[unit]);
}
