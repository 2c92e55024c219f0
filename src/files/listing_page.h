/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_LISTING_PAGE_H
#define EVIXD_FILES_LISTING_PAGE_H

/*
 * Writes listings: a page for people, JSON for programs. Names are bytes: what is no UTF-8 in them
 * is shown as U+FFFD, while links have every byte.
 */

#include "files/directory.h"
#include "files/listing.h"
#include "files/page_text.h"

struct listing_page {
    struct page_text text;
    const struct listing_options *options;
    const struct directory_rows *rows;
    store_encode_fn *encode_path;
};

void listing_page_head(struct listing_page *page);
void listing_page_row(struct listing_page *page, size_t index);
void listing_page_tail(struct listing_page *page);

#endif
