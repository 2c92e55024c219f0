/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_PAGE_TEXT_H
#define EVIXD_FILES_PAGE_TEXT_H

/*
 * Text of a page that grows, with every name escaped for where it stands. After a failed
 * allocation it takes nothing more, and `failed` is set: looked at once, at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_text {
    char *data; /* malloc(3)ed */
    size_t used, size;
    bool failed;
};

void page_text_fini(struct page_text *page);

/* Room for so many bytes more, behind those that are used; NULL without memory. */
char *page_reserve(struct page_text *page, size_t length);

void page_add(struct page_text *page, const char *text);
void page_add_bytes(struct page_text *page, const char *bytes, size_t length);

/* At most 255 bytes: longer ones are cut. */
__attribute__((format(printf, 2, 3))) void page_add_format(struct page_text *page,
                                                           const char *format, ...);

/* Any bytes as text of HTML, or within a string of JSON. What is no UTF-8 becomes U+FFFD; control
   bytes are shown as the pictures that Unicode has of them, or escaped. */
void page_add_html(struct page_text *page, const char *text, size_t length);
void page_add_json(struct page_text *page, const char *text, size_t length);

/* Bytes for people: "999 B", "1.0 KiB", "12 MiB". */
void page_add_size(struct page_text *page, uint64_t size);

#endif
