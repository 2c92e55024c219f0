/* SPDX-License-Identifier: MIT */
/*
 * Answers with the listing of a directory: picks form and order, waits until it was read, evaluates
 * conditions. It reads and writes no listing: the store does (files/listing.h).
 * Called by handler_static.c when it has found a directory.
 */
#include "server/handler.h"

#include <errno.h>

#include "files/listing.h"
#include "files/listing_style.h"
#include "files/refusal.h"
#include "http/condition.h"
#include "http/negotiate.h"
#include "http/response.h"
#include "server/worker_state.h"

#define FIELD_BYTES 512

/* ---- what is asked for ------------------------------------------------------------------- */

/* The value of a parameter of the query, or "". */
static struct http_text parameter(const struct http_request *request, struct http_text name)
{
    struct http_text rest = request->query;

    while (request->has_query && rest.length > 0) {
        const char *end = memchr(rest.data, '&', rest.length);
        size_t length = end != NULL ? (size_t)(end - rest.data) : rest.length;

        if (length > name.length && rest.data[name.length] == '=' &&
            memcmp(rest.data, name.data, name.length) == 0)
            return (struct http_text){rest.data + name.length + 1, length - name.length - 1};
        length += end != NULL;
        rest.data += length;
        rest.length -= length;
    }
    return (struct http_text){0};
}

/* What is not understood is as if it were not there: a link from elsewhere still works. */
static struct listing_options options_of(const struct exchange *exchange)
{
    const struct http_request *request = exchange->request;
    struct http_text sort = parameter(request, HTTP_TEXT("sort"));
    struct http_text order = parameter(request, HTTP_TEXT("order"));
    struct listing_options options = {
        .format = http_accept_prefers_json(request) ? LISTING_JSON : LISTING_HTML,
        .path = exchange->path.data,
        .path_length = exchange->path.length,
    };

    if (http_text_equal(sort, HTTP_TEXT("size")))
        options.key = LISTING_BY_SIZE;
    else if (http_text_equal(sort, HTTP_TEXT("time")))
        options.key = LISTING_BY_TIME;
    /* The largest and the latest are what is looked for. */
    options.descending = options.key != LISTING_BY_NAME;
    if (http_text_equal(order, HTTP_TEXT("asc")))
        options.descending = false;
    else if (http_text_equal(order, HTTP_TEXT("desc")))
        options.descending = true;
    return options;
}

/* ---- answers ----------------------------------------------------------------------------- */

static void fail(struct exchange *exchange, int error)
{
    struct refusal refusal = refusal_of(error);

    if (error == -EBUSY)
        exchange_fail_with(exchange, 503, "as many listings are being sent as memory is for",
                           HTTP_TEXT("Retry-After: 5\r\n"));
    else if (error == -ENOENT)
        exchange_fail(exchange, 404, "the directory has been deleted");
    else
        exchange_fail(exchange, refusal.status, refusal.reason);
}

static struct http_text write_fields(char memory[FIELD_BYTES], const char *etag, bool is_json,
                                     bool has_content)
{
    struct http_writer writer;

    http_writer_init(&writer, memory, FIELD_BYTES);
    if (has_content && is_json)
        http_write(&writer, HTTP_TEXT("Content-Type: application/json\r\n"));
    else if (has_content)
        http_write(&writer, HTTP_TEXT("Content-Type: text/html; charset=utf-8\r\n" PAGE_POLICY(
                                LISTING_STYLE_HASH)));
    http_write_field(&writer, HTTP_FIELD_ETAG, http_text_of(etag));
    http_write(&writer, HTTP_TEXT("Vary: Accept\r\n"));
    return (struct http_text){memory, (size_t)(writer.at - memory)};
}

static void answer(struct exchange *exchange, struct listing *listing)
{
    bool is_json = options_of(exchange).format == LISTING_JSON;
    char etag[LISTING_ETAG_BYTES], memory[FIELD_BYTES];
    struct http_validators validators;
    struct response response = {.status = 200};

    listing_etag(listing, etag);
    validators = (struct http_validators){.etag = http_text_of(etag)};
    clock_update(&exchange->worker->clock);
    switch (
        http_condition_evaluate(exchange->request, &validators, exchange->worker->clock.seconds)) {
    case HTTP_CONDITION_PROCEED:
        response.body = listing_body(listing);
        break;
    case HTTP_CONDITION_NOT_MODIFIED:
        response.status = 304;
        response.reason = "the client's copy is current";
        break;
    case HTTP_CONDITION_FAILED:
        listing_free(listing);
        exchange_fail(exchange, 412, "a precondition does not hold");
        return;
    }
    response.fields = write_fields(memory, etag, is_json, response.status == 200);
    if (response.body == NULL)
        listing_free(listing);
    exchange_respond(exchange, &response);
}

static void on_read(struct listing *listing, int error, void *data)
{
    struct exchange *exchange = data;

    if (error == 0) {
        answer(exchange, listing);
        return;
    }
    listing_free(listing);
    fail(exchange, error);
}

static void cancel(struct exchange *exchange)
{
    listing_cancel(exchange->state.listing);
}

/* Takes over from the static handler; nobody starts it. */
static const struct handler handler_listing = {.name = "listing", .cancel = cancel};

void listing_answer(struct exchange *exchange, struct representation *directory)
{
    struct listing_options options;
    struct listing *listing;
    int error;

    if (!exchange_defer(exchange)) {
        fail(exchange, -ENOMEM);
        return;
    }
    options = options_of(exchange);
    error =
        listing_start(&listing, exchange->worker->store, directory, &options, on_read, exchange);
    if (error < 0) {
        fail(exchange, error);
        return;
    }
    exchange->handler = &handler_listing;
    exchange->state.listing = listing;
    exchange->is_started = true;
}
