/* SPDX-License-Identifier: MIT */
/*
 * Answers a location with a redirect: the matched prefix is replaced, the rest and the query kept.
 * It looks at no file.
 * Called by exchange.c through the table.
 */
#include "server/handler.h"

#include <stdlib.h>

#include "http/response.h"

static void start(struct exchange *exchange)
{
    const struct config_location *location = exchange->route->location;
    const struct http_request *request = exchange->request;
    struct http_text to = http_text_of(location->redirect_to);
    struct http_text rest = {exchange->path.data + location->path_length,
                             exchange->path.length - location->path_length};
    size_t capacity = to.length + HTTP_PATH_ENCODED_BYTES(rest.length) + request->query.length + 64;
    char *memory = malloc(capacity);
    struct http_writer writer;

    if (memory == NULL) {
        exchange_fail(exchange, 503, "no memory for a redirect");
        return;
    }
    http_writer_init(&writer, memory, capacity);
    http_write(&writer, HTTP_TEXT("Location: "));
    http_write(&writer, to);
    writer.at += http_path_encode(rest, writer.at);
    if (request->has_query) {
        http_write(&writer, HTTP_TEXT("?"));
        http_write(&writer, request->query);
    }
    http_write(&writer, HTTP_TEXT("\r\n"));
    exchange_respond(exchange, &(struct response){
                                   .status = (int)location->redirect_status,
                                   .reason = "the location is redirected",
                                   .fields = {memory, (size_t)(writer.at - memory)},
                                   .is_generated = true,
                               });
    free(memory);
}

const struct handler handler_redirect = {
    .name = "redirect",
    .methods = HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD) |
               HTTP_METHOD_BIT(HTTP_METHOD_POST) | HTTP_METHOD_BIT(HTTP_METHOD_PUT) |
               HTTP_METHOD_BIT(HTTP_METHOD_PATCH) | HTTP_METHOD_BIT(HTTP_METHOD_DELETE),
    .start = start,
};
