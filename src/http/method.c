/* SPDX-License-Identifier: MIT */
/*
 * The table of request methods.
 * It does not say which resource allows which method: handlers do.
 * Called by the parser of heads, by response.c for Allow, and by handlers.
 */
#include "http/method.h"

#include <assert.h>

static const struct {
    struct http_text name;
    bool is_safe;
} methods[HTTP_METHOD_COUNT] = {
    [HTTP_METHOD_OTHER] = {HTTP_TEXT("OTHER"), false},
    [HTTP_METHOD_GET] = {HTTP_TEXT("GET"), true},
    [HTTP_METHOD_HEAD] = {HTTP_TEXT("HEAD"), true},
    [HTTP_METHOD_POST] = {HTTP_TEXT("POST"), false},
    [HTTP_METHOD_PUT] = {HTTP_TEXT("PUT"), false},
    [HTTP_METHOD_PATCH] = {HTTP_TEXT("PATCH"), false},
    [HTTP_METHOD_DELETE] = {HTTP_TEXT("DELETE"), false},
    [HTTP_METHOD_OPTIONS] = {HTTP_TEXT("OPTIONS"), true},
    [HTTP_METHOD_TRACE] = {HTTP_TEXT("TRACE"), true},
    [HTTP_METHOD_CONNECT] = {HTTP_TEXT("CONNECT"), false},
};

enum http_method http_method_find(struct http_text token)
{
    for (enum http_method i = HTTP_METHOD_GET; i < HTTP_METHOD_COUNT; i++) {
        if (http_text_equal(token, methods[i].name))
            return i;
    }
    return HTTP_METHOD_OTHER;
}

struct http_text http_method_name(enum http_method method)
{
    assert(method < HTTP_METHOD_COUNT);
    return methods[method].name;
}

bool http_method_is_safe(enum http_method method)
{
    assert(method < HTTP_METHOD_COUNT);
    return methods[method].is_safe;
}
