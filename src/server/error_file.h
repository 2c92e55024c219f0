/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ERROR_FILE_H
#define SERVER_ERROR_FILE_H

#include "server/exchange.h"

/* The file's path, or NULL: the built-in page is sent. */
const char *error_file_find(const struct route *route, int status);

/*
 * Answers an error with the file that the configuration has for it, now or later. `fields` are
 * copied, `reason` is constant. False, and nothing was done: there is none, the built-in page is to
 * be sent.
 */
bool error_file_answer(struct exchange *exchange, int status, const char *reason,
                       struct http_text fields);

#endif
