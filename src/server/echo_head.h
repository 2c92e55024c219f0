/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ECHO_HEAD_H
#define SERVER_ECHO_HEAD_H

/* A request's head as content: the bytes as they came, or as JSON. */

#include "http/request.h"

/* malloc(3)ed; NULL if there is no memory. */
char *echo_head_message(const struct http_request *request, size_t *length);
char *echo_head_json(const struct http_request *request, size_t *length);

#endif
