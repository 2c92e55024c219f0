/* SPDX-License-Identifier: MIT */
/*
 * Answers with files: looks the path up, evaluates conditions and ranges, picks a body.
 * It opens and reads nothing itself: the store does, without holding the loop.
 * Called by exchange.c through the table.
 */
#include "server/handler.h"

#include <stdlib.h>

#include "http/condition.h"
#include "http/negotiate.h"
#include "http/range.h"
#include "http/response.h"
#include "server/worker_state.h"

/* Room for the fields of a 206 beside its validators. */
#define FIELD_BYTES 768

static struct http_validators validators_of(const struct representation *file)
{
    return (struct http_validators){
        .etag = {file->etag, file->etag_length},
        .has_modified = file->modified >= 0,
        .modified = file->modified,
    };
}

static void write_validators(struct http_writer *writer, const struct representation *file)
{
    if (file->etag != NULL)
        http_write_field(writer, HTTP_FIELD_ETAG,
                         (struct http_text){file->etag, file->etag_length});
    if (file->modified >= 0)
        http_write_date_field(writer, HTTP_FIELD_LAST_MODIFIED, file->modified);
}

/* RFC 9110 15.4.5: the fields that a 200 would have had and a cache needs. */
static void answer_not_modified(struct exchange *exchange, const struct representation *file)
{
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    write_validators(&writer, file);
    exchange_respond(exchange, &(struct response){
                                   .status = 304,
                                   .reason = "the client's copy is current",
                                   .fields = {memory, (size_t)(writer.at - memory)},
                               });
}

static void answer_unsatisfiable(struct exchange *exchange, const struct representation *file)
{
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_write_content_range(&writer, NULL, file->size);
    exchange_fail_with(exchange, 416, "no range lies within the file",
                       (struct http_text){memory, (size_t)(writer.at - memory)});
}

/* Gives the response the bytes in memory, or a body that reads the file. */
static bool attach_content(struct exchange *exchange, struct response *response,
                           struct representation *file, uint64_t offset, uint64_t length)
{
    if (length == 0)
        return true;
    if (file->bytes != NULL) {
        response->content = file;
        response->offset = offset;
        response->length = length;
        return true;
    }
    if (body_from_file(&response->body, exchange->worker->store, file, offset, length) == 0)
        return true;
    exchange_fail(exchange, 503, "no memory for the file's content");
    return false;
}

static void answer_whole(struct exchange *exchange, struct representation *file)
{
    struct response response = {
        .status = 200, .fields = {file->fields, file->fields_length}, .has_length = true};

    if (attach_content(exchange, &response, file, 0, file->size))
        exchange_respond(exchange, &response);
}

static void answer_range(struct exchange *exchange, struct representation *file,
                         const struct http_range *range)
{
    struct response response = {.status = 206};
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_write_field(&writer, HTTP_FIELD_CONTENT_TYPE,
                     (struct http_text){file->media_type, file->media_type_length});
    http_write_content_range(&writer, range, file->size);
    write_validators(&writer, file);
    http_write_field(&writer, HTTP_FIELD_ACCEPT_RANGES, HTTP_TEXT("bytes"));
    response.fields = (struct http_text){memory, (size_t)(writer.at - memory)};
    if (attach_content(exchange, &response, file, range->first, http_range_length(range)))
        exchange_respond(exchange, &response);
}

/*
 * RFC 9110 14.2: ranges are for GET, and may be ignored. Several ranges get the whole file, which
 * is as right as sending them in parts.
 */
static void answer_file(struct exchange *exchange, struct representation *file)
{
    const struct http_request *request = exchange->request;
    const struct http_text *ranges = http_request_field_single(request, HTTP_FIELD_RANGE);
    struct http_validators validators;
    struct http_range range;
    unsigned count;

    if (ranges == NULL || request->method != HTTP_METHOD_GET) {
        answer_whole(exchange, file);
        return;
    }
    validators = validators_of(file);
    if (!http_condition_allows_range(request, &validators, exchange->worker->clock.seconds)) {
        answer_whole(exchange, file);
        return;
    }
    switch (http_range_parse(*ranges, file->size, &range, 1, &count)) {
    case HTTP_RANGE_NONE:
        answer_whole(exchange, file);
        break;
    case HTTP_RANGE_SATISFIABLE:
        answer_range(exchange, file, &range);
        break;
    case HTTP_RANGE_UNSATISFIABLE:
        answer_unsatisfiable(exchange, file);
        break;
    }
}

/* Whether the request has conditions at all: most have none. */
static bool has_conditions(const struct http_request *request)
{
    return http_request_field(request, HTTP_FIELD_IF_NONE_MATCH) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_MODIFIED_SINCE) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_MATCH) != NULL ||
           http_request_field(request, HTTP_FIELD_IF_UNMODIFIED_SINCE) != NULL;
}

static void found_file(struct exchange *exchange, struct representation *file)
{
    struct http_validators validators;

    clock_update(&exchange->worker->clock);
    if (!has_conditions(exchange->request)) {
        answer_file(exchange, file);
        return;
    }
    validators = validators_of(file);
    switch (
        http_condition_evaluate(exchange->request, &validators, exchange->worker->clock.seconds)) {
    case HTTP_CONDITION_PROCEED:
        answer_file(exchange, file);
        break;
    case HTTP_CONDITION_NOT_MODIFIED:
        answer_not_modified(exchange, file);
        break;
    case HTTP_CONDITION_FAILED:
        exchange_fail(exchange, 412, "a precondition does not hold");
        break;
    }
}

static void found_directory(struct exchange *exchange, struct representation *directory)
{
    bool is_json = http_accept_prefers_json(exchange->request);
    struct response response = {.status = 200};

    if (!exchange->route->location->listing) {
        exchange_fail(exchange, 403, "a directory without index file, and listing is off");
        return;
    }
    response.fields = is_json ? HTTP_TEXT("Content-Type: application/json\r\nVary: Accept\r\n")
                              : HTTP_TEXT("Content-Type: text/html; charset=utf-8\r\n"
                                          "Vary: Accept\r\n");
    if (body_from_listing(&response.body, exchange->worker->store, directory, exchange->path.data,
                          exchange->path.length, is_json ? LISTING_JSON : LISTING_HTML) != 0) {
        exchange_fail(exchange, 503, "no memory for a listing");
        return;
    }
    exchange_respond(exchange, &response);
}

/* A directory that was named without its slash: relative links need it. */
static void redirect_to_directory(struct exchange *exchange)
{
    const struct http_request *request = exchange->request;
    size_t length = exchange->path.length;
    size_t capacity = HTTP_PATH_ENCODED_BYTES(length) + request->query.length + 64;
    char *memory = malloc(capacity + length + 1);
    struct http_writer writer;

    if (memory == NULL) {
        exchange_fail(exchange, 503, "no memory for a redirect");
        return;
    }
    char *path = memory + capacity;
    memcpy(path, exchange->path.data, length);
    path[length] = '/';
    http_writer_init(&writer, memory, capacity);
    http_write_location(&writer, (struct http_text){path, length + 1},
                        request->has_query ? &request->query : NULL);
    exchange_respond(exchange, &(struct response){
                                   .status = 301,
                                   .reason = "a directory, named without a slash at its end",
                                   .fields = {memory, (size_t)(writer.at - memory)},
                                   .is_generated = true,
                               });
    free(memory);
}

static void answer(struct exchange *exchange, struct representation *found)
{
    switch (found->kind) {
    case REPRESENTATION_FILE:
        found_file(exchange, found);
        break;
    case REPRESENTATION_DIRECTORY:
        found_directory(exchange, found);
        break;
    case REPRESENTATION_REDIRECT:
        redirect_to_directory(exchange);
        break;
    case REPRESENTATION_ABSENT:
        exchange_fail(exchange, found->status, found->reason);
        break;
    }
}

static void on_lookup(struct lookup *lookup)
{
    struct exchange *exchange = EVIX_CONTAINER_OF(lookup, struct exchange, state.lookup);
    struct representation *found = lookup->result;

    answer(exchange, found);
    representation_unref(&found);
}

static void start(struct exchange *exchange)
{
    struct worker *worker = exchange->worker;
    struct lookup *lookup = &exchange->state.lookup;
    struct representation *found;

    worker_refresh_store(worker);
    if (!lookup_start(lookup, worker->store, exchange->route->root, exchange->path.data,
                      exchange->path.length, on_lookup)) {
        if (!exchange_defer(exchange)) {
            lookup_cancel(lookup);
            exchange_fail(exchange, 503, "no memory for a request that waits for the disk");
        }
        return;
    }
    found = lookup->result;
    answer(exchange, found);
    representation_unref(&found);
}

static void cancel(struct exchange *exchange)
{
    lookup_cancel(&exchange->state.lookup);
}

const struct handler handler_static = {
    .name = "static",
    .methods = HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD),
    .start = start,
    .cancel = cancel,
};
