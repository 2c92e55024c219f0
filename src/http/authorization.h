/* SPDX-License-Identifier: MIT */
#ifndef HTTP_AUTHORIZATION_H
#define HTTP_AUTHORIZATION_H

/* Credentials of the Basic scheme (RFC 7617): a name and a password. */

#include "http/text.h"

/* Longer ones are refused: no password that crypt(3) takes is. */
#define HTTP_CREDENTIALS_BYTES 768

struct http_credentials {
    struct http_text user;     /* never empty, without colons and control bytes */
    struct http_text password; /* may be empty; without control bytes */
};

/*
 * Takes the value of an Authorization field apart; the result lies in `memory`. False if it is of
 * another scheme, no base64 with its padding, or holds no name.
 */
bool http_basic_parse(struct http_text value, char memory[HTTP_CREDENTIALS_BYTES],
                      struct http_credentials *out);

#endif
