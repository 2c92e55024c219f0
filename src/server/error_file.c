/* SPDX-License-Identifier: MIT */
/*
 * Error pages of the site's own: a file's content, with the error's status and no metadata of the
 * file but its type. What goes wrong on the way ends with the built-in page, never in a circle.
 * Called by exchange.c.
 */
#include "server/error_file.h"

#include <stdlib.h>
#include <string.h>

#include "http/response.h"
#include "log/log.h"
#include "server/handler.h"
#include "server/worker_state.h"

#define WARN_INTERVAL_NS (60 * UINT64_C(1000000000))

const char *error_file_find(const struct route *route, int status)
{
    const struct config_location *location = route->location;

    for (size_t i = 0; i < location->error_page_count; i++)
        if (location->error_pages[i].status == (unsigned)status)
            return location->error_pages[i].file;
    return NULL;
}

/* The content of the file; false without memory. */
static bool attach(struct response *response, struct exchange *exchange,
                   struct representation *file)
{
    if (file->size == 0)
        return true;
    if (file->bytes == NULL)
        return body_from_file(&response->body, exchange->worker->store, file, 0, file->size) == 0;
    response->content = file;
    response->length = file->size;
    return true;
}

/*
 * Each time at level info, as for every answer; and once a minute at most where the operator looks,
 * since the site is not as it was meant to be.
 */
static void say_missing(const struct exchange *exchange, const struct representation *file,
                        int status)
{
    struct worker *worker = exchange->worker;
    uint64_t now_ns = evix_now_ns(worker->loop);
    enum log_level level = LOG_LEVEL_INFO;

    if (now_ns >= worker->next_error_page_ns) {
        worker->next_error_page_ns = now_ns + WARN_INTERVAL_NS;
        level = LOG_LEVEL_WARNING;
    }
    log_event(level, "%s: error_pages: %s, for status %d: %s; the built-in page is sent",
              exchange->host->config->source, error_file_find(exchange->route, status), status,
              file->kind == REPRESENTATION_ABSENT ? file->reason : "it is a directory");
}

static void answer(struct exchange *exchange, struct representation *file, int status,
                   const char *reason, struct http_text fields)
{
    struct response response = {.status = status, .reason = reason, .is_generated = true};
    size_t capacity = fields.length + file->media_type_length + 32;
    char *memory = file->kind == REPRESENTATION_FILE ? malloc(capacity) : NULL;
    struct http_writer writer;

    if (file->kind != REPRESENTATION_FILE)
        say_missing(exchange, file, status);
    if (memory == NULL || !attach(&response, exchange, file)) {
        free(memory);
        exchange_fail_plainly(exchange, status, reason, fields);
        return;
    }
    http_writer_init(&writer, memory, capacity);
    http_write(&writer, fields);
    http_write_field(&writer, HTTP_FIELD_CONTENT_TYPE,
                     (struct http_text){file->media_type, file->media_type_length});
    response.fields = (struct http_text){memory, (size_t)(writer.at - memory)};
    exchange_respond(exchange, &response);
    free(memory);
}

static void on_lookup(struct lookup *lookup)
{
    struct exchange *exchange = EVIX_CONTAINER_OF(lookup, struct exchange, state.error.lookup);
    struct error_state *state = &exchange->state.error;
    struct representation *found = lookup->result;
    char *fields = state->fields;

    answer(exchange, found, state->status, state->reason,
           (struct http_text){fields, state->fields_length});
    free(fields);
    representation_unref(&found);
}

static void cancel(struct exchange *exchange)
{
    lookup_cancel(&exchange->state.error.lookup);
    free(exchange->state.error.fields);
}

/* Who answers once the first handler has failed; nobody asks it for more. */
static const struct handler handler_error_file = {.name = "error_file", .cancel = cancel};

/* What the answer will need when the lookup is done. */
static bool keep(struct exchange *exchange, int status, const char *reason, struct http_text fields)
{
    struct error_state *state = &exchange->state.error;

    state->status = status;
    state->reason = reason;
    state->fields_length = fields.length;
    state->fields = malloc(fields.length + 1);
    if (state->fields != NULL && fields.length != 0)
        memcpy(state->fields, fields.data, fields.length);
    if (state->fields != NULL && exchange_defer(exchange))
        return true;
    free(state->fields);
    return false;
}

bool error_file_answer(struct exchange *exchange, int status, const char *reason,
                       struct http_text fields)
{
    struct worker *worker = exchange->worker;
    struct lookup *lookup = &exchange->state.error.lookup;
    const char *path = error_file_find(exchange->route, status);

    if (path == NULL)
        return false;
    exchange->wants_content = false;
    exchange->handler = &handler_error_file;
    worker_refresh_store(worker);
    if (lookup_start(lookup, worker->store, exchange->host->error_root, path, strlen(path),
                     on_lookup)) {
        struct representation *found = lookup->result;

        answer(exchange, found, status, reason, fields);
        representation_unref(&found);
        return true;
    }
    if (!keep(exchange, status, reason, fields)) {
        lookup_cancel(lookup);
        return false;
    }
    exchange->is_started = true;
    return true;
}
