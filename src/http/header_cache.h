/* SPDX-License-Identifier: MIT */
#ifndef HTTP_HEADER_CACHE_H
#define HTTP_HEADER_CACHE_H

/*
 * Header sections (RFC 9110 6.3) that came before, with what they were read as. A client sends the
 * same fields with each of its requests, and so do all copies of a client: package managers,
 * mirrors, proxies, probes. What is the same byte for byte reads the same, so it is compared
 * instead of parsed. Sections are kept when they come for the second time, in a table of a fixed
 * size that is only touched as far as it is used.
 */

#include "http/request.h"

struct http_header_cache;

/* About 300 KiB of address space; freed with free(). NULL if there is no memory. */
struct http_header_cache *http_header_cache_new(void);

/*
 * Private to this room. `section` is what follows the request line, the empty line included, of a
 * request whose line is read already. Whether it is known: then the fields, host, port and
 * keep_alive of the request are set, and it has no content.
 */
bool http_header_cache_find(struct http_header_cache *cache, struct http_text section,
                            struct http_request *request);

/* Takes note of what a section was read as that was not found. */
void http_header_cache_note(struct http_header_cache *cache, struct http_text section,
                            const struct http_request *request);

#endif
