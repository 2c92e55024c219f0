/* SPDX-License-Identifier: MIT */
/*
 * HTTP/1.1 on a connection, receiving side: bytes become requests and their content.
 * It does not receive or wait: connection.c does; responses leave by http1_response.c.
 * Called by connection.c.
 */
#include "server/connection.h"
#include "server/http1.h"

#include <assert.h>
#include <stdlib.h>

#include "log/log.h"
#include "server/handler.h"
#include "server/http1_response.h"
#include "server/poison.h"
#include "server/worker_state.h"

/* Content that nobody wants is read and dropped up to this; beyond it the connection ends. */
#define SKIP_BYTES 65536

/* As many idle exchanges are kept; more than these were needed while many clients had to wait. */
#define POOL_KEEPS 128

#define EXPECTATION_MET "HTTP/1.1 100 Continue\r\n\r\n"

/* ---- exchanges --------------------------------------------------------------------------- */

static struct exchange *unpool(struct worker *worker)
{
    struct exchange *exchange = worker->free_exchanges;

    ASAN_UNPOISON_MEMORY_REGION(exchange, sizeof(*exchange));
    worker->free_exchanges = exchange->next;
    worker->free_exchange_count--;
    return exchange;
}

static struct exchange *exchange_get(struct connection *connection)
{
    struct worker *worker = connection->worker;
    struct exchange *exchange =
        worker->free_exchanges != NULL ? unpool(worker) : malloc(sizeof(*exchange));

    if (exchange == NULL)
        return NULL;
    memset(exchange, 0, sizeof(*exchange));
    exchange->worker = worker;
    exchange->carrier = connection;
    exchange->responder = &http1_responder;
    exchange->request = &worker->request;
    exchange->started_ns = evix_now_ns(worker->loop);
    return exchange;
}

void http1_exchange_put(struct exchange *exchange)
{
    struct worker *worker = exchange->worker;

    exchange_release(exchange);
    if (worker->free_exchange_count == POOL_KEEPS) {
        free(exchange);
        return;
    }
    exchange->next = worker->free_exchanges;
    worker->free_exchanges = exchange;
    worker->free_exchange_count++;
    ASAN_POISON_MEMORY_REGION(exchange, sizeof(*exchange));
}

void http1_pool_fini(struct worker *worker)
{
    while (worker->free_exchanges != NULL)
        free(unpool(worker));
}

/* Once the request is here and the response queued, the next request may come. */
static void settle_exchange(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;

    if (exchange == NULL || !exchange->is_answered || !exchange->is_received || exchange->has_piece)
        return;
    connection->exchange = NULL;
    if (exchange->close)
        connection->is_last = true;
    if (exchange->is_sent)
        http1_exchange_put(exchange);
}

/* ---- heads ------------------------------------------------------------------------------- */

/* No byte after this request can be trusted to begin another one. */
static void refuse_rest(struct connection *connection, struct exchange *exchange)
{
    exchange->close = true;
    exchange->is_received = true;
    connection->is_refused = true;
}

/*
 * The chunks that came with their head, looked at before anything is answered: a handler that wants
 * no content answers at once, and what is malformed shall have no 200. The decoder is a copy, since
 * the chunks are given to the handler after that.
 */
static int check_chunks(const struct exchange *exchange, struct http_text content,
                        const char **reason)
{
    uint64_t most = exchange->worker->config->limits.body_bytes;
    enum http_chunked_outcome outcome = HTTP_CHUNKED_DATA;
    struct http_chunked chunked = exchange->chunked;
    struct http_text piece;
    size_t consumed;

    while (content.length != 0 && outcome == HTTP_CHUNKED_DATA) {
        outcome = http_chunked_decode(&chunked, content.data, content.length, &consumed, &piece);
        if (outcome == HTTP_CHUNKED_BAD) {
            *reason = chunked.reason;
            return chunked.status;
        }
        if (http_chunked_announced(&chunked) > most)
            return 413;
        content.data += consumed;
        content.length -= consumed;
    }
    return 0;
}

/*
 * How the request's content arrives, and whether it may at all, by what has come of it (`content`,
 * and whatever follows it). 0 or the status to answer, with its reason.
 */
static int frame_content(struct exchange *exchange, struct http_text content, const char **reason)
{
    const struct http_request *request = exchange->request;

    *reason = "the content is longer than limits.body";
    switch (request->body) {
    case HTTP_BODY_NONE:
        exchange->is_received = true;
        break;
    case HTTP_BODY_LENGTH:
        exchange->content_framing = CONTENT_COUNTED;
        exchange->content_remaining = request->content_length;
        if (request->content_length > exchange->worker->config->limits.body_bytes)
            return 413;
        break;
    case HTTP_BODY_CHUNKED:
        exchange->content_framing = CONTENT_CHUNKED;
        http_chunked_init(&exchange->chunked);
        return check_chunks(exchange, content, reason);
    }
    return 0;
}

/* A handler wants the content: the client that waits for a word is given it (RFC 9110 10.1.1). */
static void meet_expectation(struct exchange *exchange, bool content_has_begun)
{
    if (exchange->wants_content && exchange->request->expect_continue && !content_has_begun)
        http1_respond_interim(exchange, EXPECTATION_MET, sizeof(EXPECTATION_MET) - 1);
}

void http1_handle(struct exchange *exchange)
{
    struct connection *connection = exchange->carrier;
    bool was_running = connection->is_running;

    connection->is_running = true; /* so that the exchange is there until the end */
    exchange_handle(exchange);
    if (!connection->is_closing)
        meet_expectation(exchange, connection->input_length != 0);
    connection->is_running = was_running;
    connection_proceed(connection);
}

static void begin(struct connection *connection, struct exchange *exchange, int status,
                  struct http_text content)
{
    struct worker *worker = connection->worker;
    const struct http_request *request = exchange->request;
    const char *reason = request->reason != NULL ? request->reason : "malformed request";
    bool is_understood = status == 0 || status == 417 || status == 501;

    exchange->number = connection->request_count++;
    exchange->is_head = request->method == HTTP_METHOD_HEAD;
    if (status == 0) {
        exchange->close = connection->is_waived = !request->keep_alive;
        status = frame_content(exchange, content, &reason);
    } else if (is_understood && request->keep_alive) {
        const char *ignored;

        (void)frame_content(exchange, (struct http_text){0}, &ignored);
        exchange_refuse(exchange, worker->path_memory, worker->path_capacity, status, reason);
        return;
    }
    if (status != 0) {
        refuse_rest(connection, exchange);
        if (is_understood) /* decided last of all */
            exchange_refuse(exchange, worker->path_memory, worker->path_capacity, status, reason);
        else
            exchange_fail(exchange, status, reason);
        return;
    }
    exchange_start(exchange, worker->path_memory, worker->path_capacity);
    if (!connection->is_closing)
        meet_expectation(exchange, content.length != 0);
}

static size_t take_head(struct connection *connection, const char *data, size_t length)
{
    struct worker *worker = connection->worker;
    size_t scanned = connection->scanned;
    size_t head = http_head_end(data, length, &scanned);
    int status = 0;

    connection->scanned = (uint32_t)scanned;
    if (head == 0) {
        status = http_head_overflow(data, length, &worker->http_limits);
        if (status == 0)
            return 0;
        head = length;
    }
    connection->scanned = 0;

    struct exchange *exchange = exchange_get(connection);
    if (exchange == NULL) {
        log_event(LOG_LEVEL_ERROR, "no memory for a request: connection closed");
        connection->is_refused = true;
        return length;
    }
    connection->exchange = exchange;
    int parsed =
        http_head_parse(data, head, &worker->http_limits, worker->header_cache, &worker->request);
    if (status != 0)
        worker->request.reason = "the head is longer than limits allow";
    begin(connection, exchange, status != 0 ? status : parsed,
          (struct http_text){data + head, length - head});
    return head;
}

void http1_give_up(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;

    connection->is_refused = true;
    if (exchange != NULL && !exchange->is_received) {
        refuse_rest(connection, exchange);
        if (!exchange->is_answered)
            http1_cut_short(exchange);
    }
}

/* Part of the answer is on its way, and the rest would be made of what does not come. */
static void cut_slow_content(struct exchange *exchange)
{
    char client[WORKER_CLIENT_BYTES];

    log_event(LOG_LEVEL_INFO, "%s sends its content too slowly: cut off",
              worker_client(exchange, client));
    exchange->reason = "the client sends its content too slowly";
    http1_cut_short(exchange);
}

void http1_time_out(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;

    if (exchange == NULL && connection->input_length == 0) {
        connection_abort(connection);
        return;
    }
    if (exchange != NULL && exchange->status != 0) {
        /* It is answered, or being answered with what it sent so far: the rest is given up. */
        refuse_rest(connection, exchange);
        if (exchange->wants_content && !exchange->is_answered)
            cut_slow_content(exchange);
        connection_proceed(connection);
        return;
    }
    if (exchange == NULL) {
        exchange = exchange_get(connection);
        if (exchange == NULL) {
            http1_give_up(connection);
            connection_proceed(connection);
            return;
        }
        connection->exchange = exchange;
        (void)http_head_parse(connection->input + connection->input_start, connection->input_length,
                              &connection->worker->http_limits, NULL, &connection->worker->request);
    }
    exchange_cancel(exchange);
    refuse_rest(connection, exchange);
    exchange_fail(exchange, 408, "the request did not arrive in time");
}

/* ---- content ----------------------------------------------------------------------------- */

bool http1_awaits_content(const struct connection *connection)
{
    const struct exchange *exchange = connection->exchange;

    return exchange != NULL && !exchange->is_received;
}

static void content_received(struct exchange *exchange)
{
    exchange->is_received = true;
    if (exchange->wants_content)
        exchange->handler->content_end(exchange);
}

/* The content breaks the rules, or is more than is accepted. */
static void refuse_content(struct connection *connection, struct exchange *exchange, int status,
                           const char *reason)
{
    refuse_rest(connection, exchange);
    if (exchange->status == 0) {
        exchange_cancel(exchange);
        exchange_fail(exchange, status, reason);
    } else if (exchange->wants_content && !exchange->is_answered) {
        /* Part of the answer is on its way, and the rest would be made of what is refused. */
        char client[WORKER_CLIENT_BYTES];

        log_event(LOG_LEVEL_INFO, "%s: the response ends early: %s",
                  worker_client(exchange, client), reason);
        exchange->reason = reason;
        http1_cut_short(exchange);
    }
}

static void give_content(struct exchange *exchange, const char *data, size_t length)
{
    exchange->content_bytes += length;
    if (exchange->wants_content)
        exchange->handler->content(exchange, data, length);
}

/* How much content may be looked at now. 0: the handler has no room, or has not decided. */
static size_t content_room(const struct exchange *exchange)
{
    if (exchange->wants_content)
        return exchange->handler->room((struct exchange *)(uintptr_t)exchange);
    return exchange->status != 0 ? SIZE_MAX : 0;
}

static size_t take_counted(struct exchange *exchange, const char *data, size_t length)
{
    if (length > exchange->content_remaining)
        length = (size_t)exchange->content_remaining;
    exchange->content_remaining -= length;
    give_content(exchange, data, length);
    if (exchange->content_remaining == 0)
        content_received(exchange);
    return length;
}

static size_t take_chunked(struct connection *connection, struct exchange *exchange,
                           const char *data, size_t length)
{
    uint64_t most = exchange->worker->config->limits.body_bytes;
    struct http_text piece;
    size_t consumed = 0;

    switch (http_chunked_decode(&exchange->chunked, data, length, &consumed, &piece)) {
    case HTTP_CHUNKED_DATA:
        if (http_chunked_announced(&exchange->chunked) > most)
            refuse_content(connection, exchange, 413, "the content is longer than limits.body");
        else
            give_content(exchange, piece.data, piece.length);
        break;
    case HTTP_CHUNKED_DONE:
        content_received(exchange);
        break;
    case HTTP_CHUNKED_BAD:
        refuse_content(connection, exchange, exchange->chunked.status, exchange->chunked.reason);
        break;
    case HTTP_CHUNKED_MORE:
        if (http_chunked_announced(&exchange->chunked) > most)
            refuse_content(connection, exchange, 413, "the content is longer than limits.body");
        break;
    }
    return consumed;
}

static size_t take_content(struct connection *connection, const char *data, size_t length)
{
    struct exchange *exchange = connection->exchange;
    size_t room = content_room(exchange);
    size_t taken;

    if (exchange->is_received || room == 0)
        return 0;
    if (length > room)
        length = room;
    if (exchange->content_framing == CONTENT_COUNTED)
        taken = take_counted(exchange, data, length);
    else
        taken = take_chunked(connection, exchange, data, length);
    if (http1_awaits_content(connection) && !exchange->wants_content &&
        exchange->content_bytes > SKIP_BYTES)
        refuse_rest(connection, exchange); /* it is still there: what was taken may have ended it */
    return taken;
}

bool http1_can_skip_content(const struct exchange *exchange)
{
    /* A client with an expectation may or may not send its content after the final answer. */
    if (http_request_field(exchange->request, HTTP_FIELD_EXPECT) != NULL)
        return false;
    return exchange->content_framing == CONTENT_CHUNKED ||
           exchange->content_remaining <= SKIP_BYTES;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* A request is only begun when its response can be queued: answers are given in order. */
static bool can_begin(const struct connection *connection)
{
    return connection->exchange == NULL && connection->sending == NULL &&
           !connection->is_sending_file && !connection->is_last &&
           (connection->output == NULL || output_has_room(connection->output));
}

static size_t take_some(struct connection *connection, const char *data, size_t length)
{
    if (connection->is_refused)
        return length;
    if (connection->exchange != NULL)
        return take_content(connection, data, length);
    if (can_begin(connection))
        return take_head(connection, data, length);
    return 0;
}

static void pause_content(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;

    if (exchange != NULL && exchange->wants_content && !exchange->is_received)
        exchange->handler->content_pause(exchange);
}

size_t http1_take(struct connection *connection, const char *data, size_t length)
{
    size_t taken = 0;

    while (taken < length && !connection->is_closing) {
        size_t some = take_some(connection, data + taken, length - taken);

        settle_exchange(connection);
        if (some == 0)
            break;
        taken += some;
    }
    if (!connection->is_closing)
        pause_content(connection);
    return taken;
}

void http1_settle(struct connection *connection)
{
    settle_exchange(connection);
}

void http1_cancel(struct connection *connection)
{
    if (connection->exchange != NULL)
        exchange_cancel(connection->exchange);
}
