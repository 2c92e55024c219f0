/* SPDX-License-Identifier: MIT */
/*
 * Decodes the path of a request target into a name below a root, and encodes such a name again.
 * It does not touch files: what the name means there is not known here.
 * Called by routing, by redirects and by listings.
 */
#include "http/uri.h"

#include <assert.h>

static const char hex_digits[16] = "0123456789ABCDEF";

/* What a decoded segment turned out to be. */
enum segment {
    SEGMENT_NAME,
    SEGMENT_NOTHING, /* empty or "." */
    SEGMENT_PARENT,
};

static enum segment classify(const char *segment, size_t length)
{
    if (length == 0 || (length == 1 && segment[0] == '.'))
        return SEGMENT_NOTHING;
    if (length == 2 && segment[0] == '.' && segment[1] == '.')
        return SEGMENT_PARENT;
    return SEGMENT_NAME;
}

/*
 * Copies the bytes that stand for themselves and separate nothing, which are most. Returns how many
 * there were.
 */
static size_t copy_plain(struct http_text raw, char *out)
{
    size_t count = 0;
    while (count < raw.length && http_byte_is(raw.data[count], HTTP_BYTE_UNRESERVED)) {
        out[count] = raw.data[count];
        count++;
    }
    return count;
}

/*
 * One byte of a segment, decoded, or the status that refuses the path, negated. An encoded slash
 * cannot become a slash: it would be a separator to everything behind us (RFC 3986 2.2).
 */
static int decode_byte(struct http_text raw, size_t *at)
{
    if (raw.data[*at] != '%')
        return (unsigned char)raw.data[(*at)++] ?: -400;
    if (raw.length - *at < 3)
        return -400;
    int high = http_byte_hex(raw.data[*at + 1]);
    int low = http_byte_hex(raw.data[*at + 2]);
    if (high < 0 || low < 0)
        return -400;
    *at += 3;
    int byte = high << 4 | low;
    if (byte == '/')
        return -404;
    return byte != 0 ? byte : -400;
}

/* Decodes up to the next slash. 0, or the status; a 404 does not stop it: a later 400 wins. */
static int decode_segment(struct http_text raw, size_t *at, char *out, size_t *length)
{
    int status = 0;
    size_t plain = copy_plain((struct http_text){raw.data + *at, raw.length - *at}, out + *length);
    *at += plain;
    *length += plain;
    while (*at < raw.length && raw.data[*at] != '/') {
        int byte = decode_byte(raw, at);
        if (byte == -400)
            return 400;
        if (byte == -404)
            status = 404;
        out[(*length)++] = (char)(byte < 0 ? '/' : byte);
    }
    return status;
}

/* The length of what is left of "/a/b/" when its last name goes; "/" stays. */
static size_t parent_of(const char *out, size_t length)
{
    assert(length >= 1 && out[length - 1] == '/');
    if (length == 1)
        return 1;
    do {
        length--;
    } while (out[length - 1] != '/');
    return length;
}

int http_path_decode(struct http_text raw, char *out, size_t capacity, struct http_path *path)
{
    size_t at = 0, length = 0;
    bool in_name = false;
    int status = 0;
    if (raw.length == 0 || raw.data[0] != '/')
        return 400;
    if (capacity <= raw.length)
        return 414;

    /* `out` ends in a slash whenever a segment begins, and never grows beyond what was read. */
    while (at < raw.length) {
        if (in_name || length == 0)
            out[length++] = '/';
        at++; /* the slash */
        size_t start = length;
        int result = decode_segment(raw, &at, out, &length);
        if (result == 400)
            return 400;
        if (result != 0)
            status = result;
        enum segment kind = classify(out + start, length - start);
        in_name = kind == SEGMENT_NAME;
        if (!in_name)
            length = kind == SEGMENT_PARENT ? parent_of(out, start) : start;
    }
    assert(length >= 1 && length <= raw.length && out[0] == '/');
    out[length] = '\0';
    *path = (struct http_path){out, length, !in_name};
    return status;
}

static size_t encode(struct http_text text, char *out, bool keeps_slashes)
{
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (http_byte_is((char)byte, HTTP_BYTE_UNRESERVED) || (keeps_slashes && byte == '/')) {
            out[length++] = (char)byte;
        } else {
            out[length++] = '%';
            out[length++] = hex_digits[byte >> 4];
            out[length++] = hex_digits[byte & 15];
        }
    }
    return length;
}

size_t http_path_encode(struct http_text path, char *out)
{
    while (path.length > 1 && path.data[0] == '/' && path.data[1] == '/') {
        path.data++;
        path.length--;
    }
    return encode(path, out, true);
}

size_t http_name_encode(struct http_text name, char *out)
{
    return encode(name, out, false);
}
