/* SPDX-License-Identifier: MIT */
/*
 * Answers with files and listings: looks the path up, and sees what was found.
 * It opens and reads nothing itself: the store does, without holding the loop. Conditions and
 * ranges are static_content.c's. Called by exchange.c through the table.
 */
#include "server/handler.h"

#include <stdlib.h>

#include "http/negotiate.h"
#include "http/response.h"
#include "server/error_file.h"
#include "server/static_content.h"
#include "server/worker_state.h"

static void found_directory(struct exchange *exchange, struct representation *directory)
{
    if (exchange->route->location->listing)
        listing_answer(exchange, directory);
    else
        exchange_fail(exchange, 403, "a directory without index file, and listing is off");
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

/* A name without an extension may be a page that an application's script makes. */
static bool may_be_page(const struct exchange *exchange)
{
    const char *name = exchange->path.data + exchange->path.length;

    while (name[-1] != '/')
        name--;
    return strchr(name, '.') == NULL;
}

/* Another client would get the fallback; the built-in page says of itself that Accept decides. */
static void fail_to_fall_back(struct exchange *exchange, const char *reason)
{
    bool is_own = error_file_find(exchange->route, 404) != NULL;

    exchange_fail_with(exchange, 404, reason,
                       is_own ? ROUTE_FALLBACK_VARIES : HTTP_TEXT("Vary: Sec-Fetch-Dest\r\n"));
}

static void find(struct exchange *exchange, const char *path, size_t length);

/* There is nothing by that name; perhaps there is by another. */
static void answer_absent(struct exchange *exchange, const struct representation *absent)
{
    const char *fallback = exchange->route->location->fallback;

    if (absent->status != 404) {
        exchange_fail(exchange, absent->status, absent->reason);
    } else if (route_has_folder(exchange->host, exchange->path.data, exchange->path.length)) {
        redirect_to_directory(exchange);
    } else if (fallback[0] == '\0') {
        exchange_fail(exchange, absent->status, absent->reason);
    } else if (!may_be_page(exchange)) {
        exchange_fail(exchange, 404, "no such file, and no fallback for a name with an extension");
    } else if (http_asks_for_document(exchange->request)) {
        exchange->is_fallback = true;
        find(exchange, fallback, strlen(fallback));
    } else {
        fail_to_fall_back(exchange, "no such file, and no fallback for what asks for no page");
    }
}

static const char *fallback_failure(const struct representation *found)
{
    if (found->kind != REPRESENTATION_ABSENT)
        return "no such file, and the fallback is a directory";
    return found->status == 404 ? "neither the file nor the fallback is there"
                                : "no such file, and the fallback can't be had";
}

static void answer(struct exchange *exchange, struct representation *found)
{
    if (exchange->is_fallback && found->kind != REPRESENTATION_FILE) {
        fail_to_fall_back(exchange, fallback_failure(found));
        return;
    }
    switch (found->kind) {
    case REPRESENTATION_FILE:
        static_answer_file(exchange, found);
        break;
    case REPRESENTATION_DIRECTORY:
        found_directory(exchange, found);
        break;
    case REPRESENTATION_REDIRECT:
        redirect_to_directory(exchange);
        break;
    case REPRESENTATION_ABSENT:
        answer_absent(exchange, found);
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

/*
 * Called only for a file that has siblings. Among those that weigh the same the smallest kind is
 * taken, and the file itself only if it weighs more than all: it is the largest.
 */
static enum coding choose_coding(struct lookup *lookup, unsigned available)
{
    const struct exchange *exchange = EVIX_CONTAINER_OF(lookup, struct exchange, state.lookup);
    struct http_text names[CODING_COUNT] = {HTTP_TEXT("identity")};
    enum coding best = CODING_NONE;
    int weights[CODING_COUNT];

    if (http_request_field(exchange->request, HTTP_FIELD_ACCEPT_ENCODING) == NULL)
        return CODING_NONE;
    for (enum coding i = CODING_NONE + 1; i < CODING_COUNT; i++)
        names[i] = http_text_of(coding_name(i));
    http_coding_weights(exchange->request, names, CODING_COUNT, weights);
    for (enum coding i = CODING_NONE + 1; i < CODING_COUNT; i++)
        if ((available & CODING_BIT(i)) != 0 && weights[i] != 0 &&
            (best == CODING_NONE ? weights[i] >= weights[best] : weights[i] > weights[best]))
            best = i;
    return best;
}

static void find(struct exchange *exchange, const char *path, size_t length)
{
    struct lookup_target target = {exchange->worker->store, exchange->route->root, path, length};
    struct lookup *lookup = &exchange->state.lookup;
    struct representation *found;

    if (!lookup_negotiate(lookup, &target, choose_coding, on_lookup)) {
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

static void start(struct exchange *exchange)
{
    worker_refresh_store(exchange->worker);
    find(exchange, exchange->path.data, exchange->path.length);
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
