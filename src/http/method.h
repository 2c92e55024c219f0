/* SPDX-License-Identifier: MIT */
#ifndef HTTP_METHOD_H
#define HTTP_METHOD_H

/* Request methods (RFC 9110 9, RFC 5789). The table in method.c is the truth. */

#include "http/text.h"

enum http_method {
    HTTP_METHOD_OTHER, /* a well-formed token that we do not know: 501 */
    HTTP_METHOD_GET,
    HTTP_METHOD_HEAD,
    HTTP_METHOD_POST,
    HTTP_METHOD_PUT,
    HTTP_METHOD_PATCH,
    HTTP_METHOD_DELETE,
    HTTP_METHOD_OPTIONS,
    HTTP_METHOD_TRACE,
    HTTP_METHOD_CONNECT,
    HTTP_METHOD_COUNT
};

/* Methods compare by case (RFC 9110 9.1): `get` is another method. */
enum http_method http_method_find(struct http_text token);

/* "GET" and so on; "OTHER" for HTTP_METHOD_OTHER. */
struct http_text http_method_name(enum http_method method);

/* Asks for no change of state (RFC 9110 9.2.1). */
bool http_method_is_safe(enum http_method method);

/* A set of methods, for routing and Allow. */
#define HTTP_METHOD_BIT(method) (1u << (method))

#endif
