/* SPDX-License-Identifier: MIT */
/*
 * Takes Basic credentials apart.
 * It does not know whether they are right: the server does.
 * Called by the guard of a location, and for the access log.
 */
#include "http/authorization.h"

static const struct http_text scheme = {"Basic ", 6};

/* RFC 4648 section 4; -1 for what is no digit. */
static int digit_of(char byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    if (byte == '+')
        return 62;
    return byte == '/' ? 63 : -1;
}

/* Without the padding, which must be what the length asks for. False if it is not. */
static bool take_padding(struct http_text *text)
{
    unsigned padding = 0;

    if (text->length == 0 || text->length % 4 != 0)
        return false;
    while (padding < 2 && text->data[text->length - 1 - padding] == '=')
        padding++;
    text->length -= padding;
    return true;
}

/* The length, or 0 if it is malformed: bits that stand for nothing must be zero. */
static size_t decode(struct http_text text, char *out, size_t capacity)
{
    unsigned bits = 0, value = 0;
    size_t length = 0;

    if (!take_padding(&text) || text.length / 4 * 3 + 2 > capacity)
        return 0;
    for (size_t i = 0; i < text.length; i++) {
        int digit = digit_of(text.data[i]);

        if (digit < 0)
            return 0;
        value = (value << 6 | (unsigned)digit) & 0xFFFF;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[length++] = (char)(value >> bits & 0xFF);
        }
    }
    return (value & ((1U << bits) - 1)) == 0 ? length : 0;
}

static bool has_control_bytes(struct http_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7F)
            return true;
    return false;
}

bool http_basic_parse(struct http_text value, char memory[HTTP_CREDENTIALS_BYTES],
                      struct http_credentials *out)
{
    struct http_text text = {memory, 0};

    if (value.length <= scheme.length ||
        !http_text_equal_nocase((struct http_text){value.data, scheme.length}, scheme))
        return false;
    value.data += scheme.length;
    value.length -= scheme.length;
    text.length = decode(http_text_trim(value), memory, HTTP_CREDENTIALS_BYTES);

    const char *colon = text.length != 0 ? memchr(memory, ':', text.length) : NULL;
    if (colon == NULL || colon == memory || has_control_bytes(text))
        return false;
    out->user = (struct http_text){memory, (size_t)(colon - memory)};
    out->password = (struct http_text){colon + 1, text.length - out->user.length - 1};
    return true;
}
