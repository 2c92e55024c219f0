/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ERROR_PAGE_H
#define SERVER_ERROR_PAGE_H

/* The small page that goes with an error: what happened, in words. */

#include "http/text.h"

#define ERROR_PAGE_BYTES       1024
#define ERROR_PAGE_FIELD_BYTES 512

/* The page, written to `memory`. */
struct http_text error_page_content(int status, char memory[ERROR_PAGE_BYTES]);

/* The page's fields, and `more` (lines with their CRLF) before them. */
struct http_text error_page_fields(struct http_text more, char memory[ERROR_PAGE_FIELD_BYTES]);

#endif
