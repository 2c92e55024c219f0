/* SPDX-License-Identifier: MIT */
/*
 * Writes a request's head down for people and programs that debug what sent it.
 * It does not interpret it.
 * Called by handler_echo.c.
 */
#include "server/echo_head.h"

#include <stdlib.h>

#include "http/response.h"

/* A byte becomes \u00XX at most. */
#define JSON_BYTES_PER_BYTE 6

char *echo_head_message(const struct http_request *request, size_t *length)
{
    char *memory = malloc(request->head.length);

    if (memory == NULL)
        return NULL;
    memcpy(memory, request->head.data, request->head.length);
    *length = request->head.length;
    return memory;
}

/* Field values may hold any byte above 0x7f; as code points of Latin-1 they stay readable JSON. */
static void write_json_text(struct http_writer *writer, struct http_text text)
{
    static const char digits[] = "0123456789abcdef";

    http_write(writer, HTTP_TEXT("\""));
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];

        if (byte == '"' || byte == '\\') {
            char escape[] = {'\\', (char)byte};
            http_write(writer, (struct http_text){escape, 2});
        } else if (byte < 0x20 || byte >= 0x7f) {
            char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
            http_write(writer, (struct http_text){escape, 6});
        } else {
            http_write(writer, (struct http_text){text.data + i, 1});
        }
    }
    http_write(writer, HTTP_TEXT("\""));
}

static void write_json_fields(struct http_writer *writer, const struct http_request *request)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        http_write(writer, i == 0 ? HTTP_TEXT("\n    [") : HTTP_TEXT(",\n    ["));
        write_json_text(writer, request->fields[i].name);
        http_write(writer, HTTP_TEXT(", "));
        write_json_text(writer, request->fields[i].value);
        http_write(writer, HTTP_TEXT("]"));
    }
}

char *echo_head_json(const struct http_request *request, size_t *length)
{
    size_t capacity =
        256 + JSON_BYTES_PER_BYTE * request->head.length + 16 * (size_t)request->field_count;
    char *memory = malloc(capacity);
    struct http_writer writer;

    if (memory == NULL)
        return NULL;
    http_writer_init(&writer, memory, capacity);
    http_write(&writer, HTTP_TEXT("{\n  \"method\": "));
    write_json_text(&writer, request->method_text);
    http_write(&writer, HTTP_TEXT(",\n  \"target\": "));
    write_json_text(&writer, request->target);
    http_write(&writer, HTTP_TEXT(",\n  \"version\": "));
    http_write(&writer,
               request->minor_version == 0 ? HTTP_TEXT("\"HTTP/1.0\"") : HTTP_TEXT("\"HTTP/1.1\""));
    http_write(&writer, HTTP_TEXT(",\n  \"fields\": ["));
    write_json_fields(&writer, request);
    http_write(&writer, request->field_count != 0 ? HTTP_TEXT("\n  ]\n}\n") : HTTP_TEXT("]\n}\n"));
    *length = (size_t)(writer.at - memory);
    return memory;
}
