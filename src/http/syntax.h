/* SPDX-License-Identifier: MIT */
#ifndef HTTP_SYNTAX_H
#define HTTP_SYNTAX_H

/*
 * Private to this room: the first half of the guard around llhttp. It holds each byte of a head
 * against the grammar of RFC 9112 2 to 5, so that no version of llhttp and no mode of it decides
 * what passes.
 */

#include "http/request.h"

/*
 * Checks the request line of `out->head`, sets method, target and version, and `*section` to what
 * follows it. 0, or the status with `out->reason` set.
 */
int http_syntax_check_line(const struct http_limits *limits, struct http_request *out,
                           struct http_text *section);

/* Checks the header section, its empty line included, and counts the field lines. The same. */
int http_syntax_check_section(const struct http_limits *limits, struct http_text section,
                              struct http_request *out, unsigned *field_lines);

#endif
