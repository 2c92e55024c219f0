/* SPDX-License-Identifier: MIT */
/*
 * Writes the head of a response, field by field, into memory that the caller lends.
 * It does not decide which fields a response has, nor send it.
 * Called by the server and by whoever prebuilds heads.
 */
#include "http/response.h"
#include "http/date.h"
#include "http/range.h"
#include "http/uri.h"

#include <assert.h>

static void fail(struct http_writer *writer)
{
    writer->failed = true;
    writer->end = writer->at;
}

/* Room for `length` more bytes, or NULL. */
static char *reserve(struct http_writer *writer, size_t length)
{
    assert(writer->at <= writer->end);
    if ((size_t)(writer->end - writer->at) < length) {
        fail(writer);
        return NULL;
    }
    return writer->at;
}

void http_write_number(struct http_writer *writer, uint64_t number)
{
    char digits[20];
    char *at = digits + sizeof(digits);
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    http_write(writer, (struct http_text){at, (size_t)(digits + sizeof(digits) - at)});
}

void http_write_status(struct http_writer *writer, int status)
{
    struct http_text line = http_status_line(status);
    if (line.length != 0) {
        http_write(writer, line);
        return;
    }
    if (status < 100 || status > 999) {
        fail(writer);
        return;
    }
    http_write(writer, HTTP_TEXT("HTTP/1.1 "));
    http_write_number(writer, (unsigned)status);
    http_write(writer, HTTP_TEXT(" \r\n"));
}

/* One that holds a line end would begin a field, or a response, of somebody else's making. */
static bool splits_head(struct http_text value)
{
    return value.length != 0 && (memchr(value.data, '\r', value.length) != NULL ||
                                 memchr(value.data, '\n', value.length) != NULL ||
                                 memchr(value.data, '\0', value.length) != NULL);
}

static void write_line(struct http_writer *writer, struct http_text name, struct http_text value)
{
    assert(name.length > 0);
    char *at = reserve(writer, name.length + value.length + 4);
    if (at == NULL)
        return;
    memcpy(at, name.data, name.length);
    at += name.length;
    *at++ = ':';
    *at++ = ' ';
    if (value.length != 0)
        memcpy(at, value.data, value.length);
    at += value.length;
    *at++ = '\r';
    *at++ = '\n';
    writer->at = at;
}

void http_write_field(struct http_writer *writer, enum http_field_id id, struct http_text value)
{
    if (splits_head(value))
        fail(writer);
    else
        write_line(writer, http_field_name(id), value);
}

static bool is_token(struct http_text name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (!http_byte_is(name.data[i], HTTP_BYTE_TOKEN))
            return false;
    }
    return name.length != 0;
}

void http_write_named_field(struct http_writer *writer, struct http_text name,
                            struct http_text value)
{
    if (!is_token(name) || splits_head(value))
        fail(writer);
    else
        write_line(writer, name, value);
}

static void begin_field(struct http_writer *writer, enum http_field_id id)
{
    http_write(writer, http_field_name(id));
    http_write(writer, HTTP_TEXT(": "));
}

static void end_field(struct http_writer *writer)
{
    http_write(writer, HTTP_TEXT("\r\n"));
}

void http_write_number_field(struct http_writer *writer, enum http_field_id id, uint64_t number)
{
    begin_field(writer, id);
    http_write_number(writer, number);
    end_field(writer);
}

void http_write_date_field(struct http_writer *writer, enum http_field_id id, int64_t time)
{
    char date[HTTP_DATE_LENGTH];
    if (http_date_format(time, date) == 0)
        write_line(writer, http_field_name(id), (struct http_text){date, sizeof(date)});
}

void http_write_content_range(struct http_writer *writer, const struct http_range *range,
                              uint64_t size)
{
    char value[HTTP_CONTENT_RANGE_BYTES];
    size_t length = range != NULL ? http_content_range(value, range, size)
                                  : http_content_range_unsatisfied(value, size);
    write_line(writer, http_field_name(HTTP_FIELD_CONTENT_RANGE),
               (struct http_text){value, length});
}

void http_write_allow(struct http_writer *writer, unsigned methods)
{
    bool first = true;
    begin_field(writer, HTTP_FIELD_ALLOW);
    for (enum http_method i = HTTP_METHOD_GET; i < HTTP_METHOD_COUNT; i++) {
        if ((methods & HTTP_METHOD_BIT(i)) == 0)
            continue;
        if (!first)
            http_write(writer, HTTP_TEXT(", "));
        http_write(writer, http_method_name(i));
        first = false;
    }
    end_field(writer);
}

void http_write_path(struct http_writer *writer, struct http_text path)
{
    char *at = reserve(writer, HTTP_PATH_ENCODED_BYTES(path.length));
    if (at != NULL)
        writer->at += http_path_encode(path, at);
}

void http_write_location(struct http_writer *writer, struct http_text path,
                         const struct http_text *raw_query)
{
    if (raw_query != NULL && splits_head(*raw_query)) {
        fail(writer);
        return;
    }
    begin_field(writer, HTTP_FIELD_LOCATION);
    http_write_path(writer, path);
    if (raw_query != NULL) {
        http_write(writer, HTTP_TEXT("?"));
        http_write(writer, *raw_query);
    }
    end_field(writer);
}

size_t http_write_head_end(struct http_writer *writer, const char *start)
{
    end_field(writer);
    return writer->failed ? 0 : (size_t)(writer->at - start);
}
