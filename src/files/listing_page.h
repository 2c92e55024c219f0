/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_LISTING_PAGE_H
#define EVIXD_FILES_LISTING_PAGE_H

/*
 * Writes listings: a page for people, JSON for programs. Names are bytes: what is no UTF-8 in them
 * is shown as U+FFFD, while links have every byte.
 */

#include <stdbool.h>
#include <stddef.h>

#include "files/directory.h"
#include "files/store.h"

/* Text that grows. After a failed allocation it takes nothing more and `failed` is set. */
struct page {
    char *data;
    size_t used, size;
    bool failed;
    store_encode_fn *encode_path;
};

void page_fini(struct page *page);

/* `path` is the directory's, decoded, with a slash at both ends. */
void page_head(struct page *page, enum listing_format format, const char *path, size_t length);
void page_row(struct page *page, enum listing_format format, const struct directory_row *row,
              bool first);
void page_tail(struct page *page, enum listing_format format, const struct directory_rows *rows);

#endif
