/* SPDX-License-Identifier: MIT */
/*
 * Compares, trims and splits slices of bytes, and knows the byte classes of the grammar.
 * It does not know what the slices mean, nor own them.
 * Called by every file of this room, and by handlers that read fields.
 */
#include "http/text.h"

#include <errno.h>

/* Shorthands for the table below only. */
#define TGT HTTP_BYTE_TARGET
#define VAL HTTP_BYTE_VALUE
#define ETG HTTP_BYTE_ETAG
#define TOK HTTP_BYTE_TOKEN
#define HST HTTP_BYTE_HOST
#define VIS (TGT | VAL | ETG)                        /* visible, otherwise nothing special */
#define ALN (VIS | TOK | HST | HTTP_BYTE_UNRESERVED) /* letters, digits, and `-._~` */
#define TKH (VIS | TOK | HST)                        /* tchar and sub-delim */

const uint8_t http_byte_classes[256] = {
    ['\t'] = VAL,
    [' '] = VAL,
    ['!'] = TKH,
    ['"'] = TGT | VAL,
    ['#'] = TOK | VAL | ETG,
    ['$'] = TKH,
    ['%'] = VIS | TOK,
    ['&'] = TKH,
    ['\''] = TKH,
    ['('] = VIS | HST,
    [')'] = VIS | HST,
    ['*'] = TKH,
    ['+'] = TKH,
    [','] = VIS | HST,
    ['-'] = ALN,
    ['.'] = ALN,
    ['/'] = VIS,
    ['0' ... '9'] = ALN,
    [':'] = VIS,
    [';'] = VIS | HST,
    ['<'] = VIS,
    ['='] = VIS | HST,
    ['>'] = VIS,
    ['?'] = VIS,
    ['@'] = VIS,
    ['A' ... 'Z'] = ALN,
    ['['] = VIS,
    ['\\'] = VIS,
    [']'] = VIS,
    ['^'] = VIS | TOK,
    ['_'] = ALN,
    ['`'] = VIS | TOK,
    ['a' ... 'z'] = ALN,
    ['{'] = VIS,
    ['|'] = VIS | TOK,
    ['}'] = VIS,
    ['~'] = ALN,
    [0x80 ... 0xff] = VAL | ETG,
};

bool http_text_equal_nocase(struct http_text a, struct http_text b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++) {
        unsigned char difference = (unsigned char)(a.data[i] ^ b.data[i]);
        unsigned char lower = (unsigned char)(a.data[i] | 0x20);
        if (difference != 0 && (difference != 0x20 || lower < 'a' || lower > 'z'))
            return false;
    }
    return true;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

struct http_text http_text_trim(struct http_text text)
{
    while (text.length > 0 && is_space(text.data[0])) {
        text.data++;
        text.length--;
    }
    while (text.length > 0 && is_space(text.data[text.length - 1]))
        text.length--;
    return text;
}

/* The length up to `separator` outside quoted strings, or the whole. */
static size_t length_until(struct http_text text, char separator)
{
    bool quoted = false;
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        if (quoted && byte == '\\')
            i++; /* quoted-pair: the next byte stands for itself */
        else if (byte == '"')
            quoted = !quoted;
        else if (!quoted && byte == separator)
            return i;
    }
    return text.length;
}

/* Takes what stands before the separator off `*rest`, the separator too. */
static struct http_text take(struct http_text *rest, char separator)
{
    struct http_text taken = {rest->data, length_until(*rest, separator)};
    size_t used = taken.length < rest->length ? taken.length + 1 : taken.length;
    rest->data += used;
    rest->length -= used;
    return http_text_trim(taken);
}

bool http_text_next_member(struct http_text *rest, struct http_text *member)
{
    while (rest->length > 0) {
        *member = take(rest, ',');
        if (member->length > 0)
            return true;
    }
    return false;
}

bool http_text_next_parameter(struct http_text *rest, struct http_text *parameter)
{
    if (rest->length == 0)
        return false;
    *parameter = take(rest, ';');
    return true;
}

int http_text_to_number(struct http_text text, uint64_t *out)
{
    uint64_t number = 0;
    bool overflow = false;
    if (text.length == 0)
        return -EINVAL;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -EINVAL;
        overflow |= __builtin_mul_overflow(number, 10, &number);
        overflow |= __builtin_add_overflow(number, (uint64_t)(text.data[i] - '0'), &number);
    }
    if (overflow)
        return -ERANGE;
    *out = number;
    return 0;
}

int http_byte_hex(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    char lower = (char)(byte | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
