/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ERROR_PAGE_H
#define SERVER_ERROR_PAGE_H

/*
 * The small page that goes with an error: what happened, in words; as HTML, plain text or JSON.
 * Each is made when it is first needed and then only copied. They show nothing of the request.
 */

#include "http/request.h"

enum error_form { ERROR_HTML, ERROR_TEXT, ERROR_JSON, ERROR_FORMS };

/* Statuses with words of their own, and one for all others. */
#define ERROR_STATUSES 21

struct error_page {
    struct http_text fields; /* lines with their CRLF, but for the length */
    struct http_text content;
};

/* Those that were made; all zero at first. */
struct error_pages {
    struct error_page pages[ERROR_STATUSES][ERROR_FORMS];
    struct error_page other; /* of the last status that has no words of its own */
};

/*
 * HTML for who names it, as browsers do; JSON for who likes it more; plain text for all others:
 * programs that take anything, and scripts, styles and images that are missing.
 */
enum error_form error_page_form(const struct http_request *request);

/* The page, which stays until another status without words of its own is asked for. Without memory
   it is empty. */
struct error_page error_page_find(struct error_pages *pages, int status, enum error_form form);

void error_pages_fini(struct error_pages *pages);

#endif
