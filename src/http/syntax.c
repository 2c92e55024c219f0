/* SPDX-License-Identifier: MIT */
/*
 * Holds the bytes of a head against the grammar: line ends, request line, field lines.
 * It does not extract fields (llhttp does) nor judge what they mean (target.c, framing.c).
 * Called by head.c, before llhttp sees the head.
 */
#include "http/syntax.h"

#include <assert.h>

/* What is left of the head; the guard's cursor. */
struct cursor {
    const char *at;
    const char *end;
};

static int refuse(struct http_request *out, int status, const char *reason)
{
    out->reason = reason;
    return status;
}

/* Why the byte at the cursor may not be there: the same words wherever it is met. */
static int refuse_byte(struct http_request *out, const struct cursor *cursor, const char *otherwise)
{
    if (cursor->at == cursor->end)
        return refuse(out, 400, "the head ends within a line");
    switch (*cursor->at) {
    case '\0':
        return refuse(out, 400, "NUL in the head");
    case '\n':
        return refuse(out, 400, "LF without CR in the head");
    case '\r':
        if (cursor->end - cursor->at < 2 || cursor->at[1] != '\n')
            return refuse(out, 400, "CR without LF in the head");
        break;
    }
    return refuse(out, 400, otherwise);
}

/* Takes the bytes of a class, possibly none. */
static struct http_text take_class(struct cursor *cursor, unsigned classes)
{
    const char *start = cursor->at;
    const char *at = start;
    while (at < cursor->end && http_byte_is(*at, classes))
        at++;
    cursor->at = at;
    return (struct http_text){start, (size_t)(at - start)};
}

/*
 * Whether one of eight bytes is a control byte or DEL: a subtraction borrows through a byte's top
 * bit if the byte was smaller, and bytes above 0x7F are left out by the complement.
 */
static bool has_control(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t word, del;
    memcpy(&word, at, sizeof(word));
    del = word ^ (ones * 0x7f);
    return ((((word - ones * ' ') & ~word) | ((del - ones) & ~del)) & tops) != 0;
}

/* Values are most of a head: eight bytes at a time, which saves a tenth of a browser's head. */
static void take_value(struct cursor *cursor)
{
    while (cursor->end - cursor->at >= 8 && !has_control(cursor->at))
        cursor->at += 8;
    take_class(cursor, HTTP_BYTE_VALUE); /* the rest, or all behind a tab */
}

static bool take_crlf(struct cursor *cursor)
{
    if (cursor->end - cursor->at < 2 || cursor->at[0] != '\r' || cursor->at[1] != '\n')
        return false;
    cursor->at += 2;
    return true;
}

static bool take_byte(struct cursor *cursor, char byte)
{
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

/* Up to the next white space or line end, whatever it holds: what the log shows as the target. */
static struct http_text rough_target(struct cursor cursor, const char *start)
{
    while (cursor.at < cursor.end && *cursor.at != ' ' && *cursor.at != '\r' && *cursor.at != '\n')
        cursor.at++;
    return (struct http_text){start, (size_t)(cursor.at - start)};
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/*
 * "HTTP/" DIGIT "." DIGIT (RFC 9112 2.3), by case. Another major version is refused as such; a
 * higher minor one of ours is treated as the highest that we know (RFC 9110 2.5).
 */
static int check_version(struct cursor *cursor, struct http_request *out)
{
    enum { LENGTH = sizeof("HTTP/1.1") - 1 };
    const char *at = cursor->at;
    if (cursor->end - at < LENGTH || memcmp(at, "HTTP/", 5) != 0 || !is_digit(at[5]) ||
        at[6] != '.' || !is_digit(at[7]))
        return refuse_byte(out, cursor, "malformed protocol version");
    cursor->at += LENGTH;
    if (!take_crlf(cursor))
        return refuse_byte(out, cursor, "something follows the protocol version");
    out->has_version = true;
    if (at[5] != '1')
        return refuse(out, 505, "protocol version is not HTTP/1.x");
    out->minor_version = at[7] != '0';
    return 0;
}

static int check_request_line(struct cursor *cursor, const struct http_limits *limits,
                              struct http_request *out)
{
    struct http_text method = take_class(cursor, HTTP_BYTE_TOKEN);
    if (method.length == 0)
        return refuse_byte(out, cursor, "the request line does not begin with a method");
    out->method_text = method;
    out->method = http_method_find(method);
    if (!take_byte(cursor, ' '))
        return refuse_byte(out, cursor, "malformed method");
    struct http_text target = take_class(cursor, HTTP_BYTE_TARGET);
    out->target = rough_target(*cursor, target.data);
    if (target.length > limits->target_bytes)
        return refuse(out, 414, "the target is longer than the limit");
    if (take_crlf(cursor))
        return refuse(out, 400, "the request line has no protocol version (HTTP/0.9)");
    if (!take_byte(cursor, ' '))
        return refuse_byte(out, cursor, "byte that may not be in a target");
    if (target.length == 0)
        return refuse(out, 400, "more than one space in the request line");
    if (cursor->at < cursor->end && *cursor->at == ' ')
        return refuse(out, 400, "more than one space in the request line");
    return check_version(cursor, out);
}

static int check_field_line(struct cursor *cursor, struct http_request *out)
{
    if (take_class(cursor, HTTP_BYTE_TOKEN).length == 0) {
        if (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
            return refuse(out, 400, "a field line begins with white space (obsolete folding)");
        return refuse_byte(out, cursor, "empty or malformed field name");
    }
    if (!take_byte(cursor, ':')) {
        if (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
            return refuse(out, 400, "white space before the colon of a field");
        return refuse_byte(out, cursor, "malformed field name, or a line without a colon");
    }
    take_value(cursor);
    if (!take_crlf(cursor))
        return refuse_byte(out, cursor, "control byte in a field value");
    return 0;
}

int http_syntax_check_line(const struct http_limits *limits, struct http_request *out,
                           struct http_text *section)
{
    struct cursor cursor = {out->head.data, out->head.data + out->head.length};
    int status = check_request_line(&cursor, limits, out);
    *section = (struct http_text){cursor.at, (size_t)(cursor.end - cursor.at)};
    return status;
}

int http_syntax_check_section(const struct http_limits *limits, struct http_text section,
                              struct http_request *out, unsigned *field_lines)
{
    struct cursor cursor = {section.data, section.data + section.length};
    unsigned most = limits->fields < out->field_capacity ? limits->fields : out->field_capacity;
    unsigned count = 0;
    while (!take_crlf(&cursor)) {
        int status = check_field_line(&cursor, out);
        if (status != 0)
            return status;
        if (++count > most)
            return refuse(out, 431, "more fields than the limit");
    }
    assert(cursor.at <= cursor.end && count <= out->field_capacity);
    if (cursor.at != cursor.end)
        return refuse(out, 400, "bytes after the end of the head");
    *field_lines = count;
    return 0;
}
