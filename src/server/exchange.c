/* SPDX-License-Identifier: MIT */
/*
 * A request finds its handler, and a handler's answer finds its way out.
 * It does not parse, send, or know of connections: those are the carrier's.
 * Called by http1.c and by the handlers.
 */
#include "server/exchange.h"

#include <assert.h>
#include <stdlib.h>

#include "http/response.h"
#include "log/log.h"
#include "server/error_file.h"
#include "server/error_page.h"
#include "server/guard.h"
#include "server/handler.h"
#include "server/worker_state.h"

/* What a resource without a better answer allows: `OPTIONS *`, CONNECT. */
#define METHODS_EVERYWHERE                                                                         \
    (HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD) |                        \
     HTTP_METHOD_BIT(HTTP_METHOD_OPTIONS))

#define ALLOW_BYTES 128

static struct http_text write_allow(char memory[ALLOW_BYTES], unsigned methods)
{
    struct http_writer writer;

    http_writer_init(&writer, memory, ALLOW_BYTES);
    http_write_allow(&writer, methods);
    return (struct http_text){memory, (size_t)(writer.at - memory)};
}

static void answer_options(struct exchange *exchange, unsigned methods)
{
    char memory[ALLOW_BYTES];

    exchange_respond(exchange, &(struct response){.status = 204,
                                                  .fields = write_allow(memory, methods),
                                                  .is_generated = true});
}

static void refuse_method(struct exchange *exchange, unsigned methods)
{
    char memory[ALLOW_BYTES];

    exchange_fail_with(exchange, 405, "the resource does not know the method",
                       write_allow(memory, methods));
}

static bool has_path(const struct http_request *request)
{
    return request->form != HTTP_TARGET_ASTERISK && request->form != HTTP_TARGET_AUTHORITY;
}

/* What can be answered without looking at any resource. True if it was. */
static bool answer_without_path(struct exchange *exchange)
{
    const struct http_request *request = exchange->request;

    if (request->form == HTTP_TARGET_ASTERISK)
        answer_options(exchange, METHODS_EVERYWHERE);
    else if (request->form == HTTP_TARGET_AUTHORITY)
        refuse_method(exchange, METHODS_EVERYWHERE);
    return !has_path(request);
}

static const char *path_failure(int status)
{
    return status == 404 ? "an encoded slash is part of no name"
                         : "the path has a NUL or a malformed escape";
}

/* 0, or the status of a path that is none: its errors are those of the host. */
static int find_route(struct exchange *exchange, char *path_memory, size_t path_capacity)
{
    struct http_path *path = &exchange->path;
    int status = http_path_decode(exchange->request->path, path_memory, path_capacity, path);

    exchange->route = status == 0 ? route_find(exchange->host, path->data, path->length)
                                  : route_find(exchange->host, "/", 1);
    return status;
}

void exchange_start(struct exchange *exchange, char *path_memory, size_t path_capacity)
{
    int status;

    exchange->host = route_find_host(&exchange->worker->routes, exchange->request->host);
    if (answer_without_path(exchange))
        return;
    status = find_route(exchange, path_memory, path_capacity);
    if (status != 0) {
        exchange_fail(exchange, status, path_failure(status));
        return;
    }
    if (!exchange->route->is_guarded || guard_admit(exchange))
        exchange_handle(exchange);
}

void exchange_refuse(struct exchange *exchange, char *path_memory, size_t path_capacity, int status,
                     const char *reason)
{
    exchange->host = route_find_host(&exchange->worker->routes, exchange->request->host);
    if (has_path(exchange->request))
        (void)find_route(exchange, path_memory, path_capacity);
    exchange_fail(exchange, status, reason);
}

void exchange_handle(struct exchange *exchange)
{
    const struct http_request *request = exchange->request;

    exchange->handler = exchange->route->handler;
    unsigned methods = exchange->handler->methods;
    if ((methods & HTTP_METHOD_BIT(request->method)) != 0) {
        exchange->is_started = true;
        exchange->handler->start(exchange);
    } else if (request->method == HTTP_METHOD_OPTIONS) {
        answer_options(exchange, methods | HTTP_METHOD_BIT(HTTP_METHOD_OPTIONS));
    } else {
        refuse_method(exchange, methods | HTTP_METHOD_BIT(HTTP_METHOD_OPTIONS));
    }
}

void exchange_handle_late(struct exchange *exchange)
{
    exchange->responder->handle(exchange);
}

/* As much of a target as leaves room in a line for the reason, however it has to be escaped. */
static int shown_length(struct http_text target)
{
    size_t room = LOG_LINE_BYTES / 2, length = 0;

    for (; length < target.length; length++) {
        unsigned char byte = (unsigned char)target.data[length];
        size_t width = byte >= 0x20 && byte < 0x7F && byte != '\\' ? 1 : 4;

        if (width > room)
            break;
        room -= width;
    }
    return (int)length;
}

/* At level info, one line says why an answer is no success. */
static void say_why(const struct exchange *exchange, const struct response *response)
{
    const struct http_request *request = exchange->request;
    char client[WORKER_CLIENT_BYTES];

    int length = shown_length(request->target);

    log_write(LOG_LEVEL_INFO, "%s \"%.*s %.*s%s\" %d: %s%s%s", worker_client(exchange, client),
              request->method_text.length < 32 ? (int)request->method_text.length : 32,
              request->method_text.data != NULL ? request->method_text.data : "", length,
              request->target.data != NULL ? request->target.data : "",
              (size_t)length < request->target.length ? "..." : "", response->status,
              response->reason != NULL ? response->reason : "as asked",
              exchange->route != NULL ? ", location " : "",
              exchange->route != NULL ? exchange->route->location->path : "");
}

static void note_limit(struct counters_slot *slot, int status)
{
    uint64_t *counts = slot->data.counts;

    if (status == 413)
        counters_add(&counts[COUNTER_LIMIT_BODY], 1);
    else if (status == 414)
        counters_add(&counts[COUNTER_LIMIT_TARGET], 1);
    else if (status == 431)
        counters_add(&counts[COUNTER_LIMIT_HEAD], 1);
}

static void note_request(const struct exchange *exchange)
{
    struct counters_slot *slot = exchange->worker->slot;
    unsigned status = exchange->status;

    counters_add(&slot->data.requests[exchange->request->method][status / 100], 1);
    if (status >= 400)
        note_limit(slot, (int)status);
}

void exchange_respond(struct exchange *exchange, const struct response *response)
{
    assert(exchange->status == 0);
    exchange->is_started = false;
    exchange->status = (uint16_t)response->status;
    exchange->reason = response->reason;
    note_request(exchange);
    if (response->status >= 300 && log_enabled(LOG_LEVEL_INFO))
        say_why(exchange, response);
    exchange->responder->respond(exchange, response);
}

void exchange_fail(struct exchange *exchange, int status, const char *reason)
{
    exchange_fail_with(exchange, status, reason, (struct http_text){0});
}

void exchange_fail_with(struct exchange *exchange, int status, const char *reason,
                        struct http_text fields)
{
    if (exchange->route == NULL || !error_file_answer(exchange, status, reason, fields))
        exchange_fail_plainly(exchange, status, reason, fields);
}

void exchange_fail_plainly(struct exchange *exchange, int status, const char *reason,
                           struct http_text fields)
{
    struct error_page page =
        error_page_find(&exchange->worker->error_pages, status, error_page_form(exchange->request));

    exchange_respond(exchange, &(struct response){
                                   .status = status,
                                   .reason = reason,
                                   .fields = fields,
                                   .text_fields = page.fields,
                                   .text = page.content,
                                   .is_generated = true,
                               });
}

/* Without memory for the path nothing was copied: a second call tries again. */
bool exchange_defer(struct exchange *exchange)
{
    if (exchange->request_copy != NULL)
        return true;
    if (exchange->path.data != NULL) {
        exchange->path_copy = malloc(exchange->path.length + 1);
        if (exchange->path_copy == NULL)
            return false;
        memcpy(exchange->path_copy, exchange->path.data, exchange->path.length + 1);
    }
    exchange->request_copy = http_request_clone(exchange->request);
    if (exchange->request_copy == NULL) {
        free(exchange->path_copy);
        exchange->path_copy = NULL;
        return false;
    }
    exchange->request = exchange->request_copy;
    if (exchange->path_copy != NULL)
        exchange->path.data = exchange->path_copy;
    return true;
}

void exchange_resume(struct exchange *exchange)
{
    exchange->responder->resume(exchange);
}

void exchange_cancel(struct exchange *exchange)
{
    if (exchange->is_started) {
        exchange->is_started = false;
        exchange->handler->cancel(exchange);
    }
}

void exchange_release(struct exchange *exchange)
{
    assert(!exchange->is_started);
    if (exchange->body != NULL)
        body_release(exchange->body);
    exchange->body = NULL;
    if (exchange->content != NULL)
        representation_unref(&exchange->content);
    free(exchange->request_copy);
    free(exchange->path_copy);
    free(exchange->head_copy);
    exchange->request_copy = NULL;
    exchange->path_copy = NULL;
    exchange->head_copy = NULL;
}
