/* SPDX-License-Identifier: MIT */
/*
 * Answers with what it was sent: the content of POST, PUT and PATCH, streamed through a bounded
 * ring; the request's head for GET and HEAD, which is what a person who debugs a proxy wants to
 * see. It reads no file and keeps nothing. Called by exchange.c through the table.
 */
#include "server/handler.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "http/negotiate.h"
#include "http/response.h"
#include "server/echo_head.h"
#include "server/precondition.h"

/* How much may be received and not yet sent back. */
#define RING_BYTES 65536

/* The ring is the body of the response, and belongs to the exchange as such once it answers. */
struct echo {
    struct body body;
    struct exchange *exchange;
    size_t start, used; /* of the ring */
    size_t given;       /* at its start, being sent */
    bool is_waited_for; /* the body said "later" */
    bool is_ended;      /* all content has come */
    char ring[RING_BYTES];
};

/* ---- the ring as a body ------------------------------------------------------------------ */

static struct echo *echo_of(struct body *body)
{
    return EVIX_CONTAINER_OF(body, struct echo, body);
}

static void echo_next(struct body *body, struct body_piece *out)
{
    struct echo *echo = echo_of(body);
    bool was_full = echo->used == RING_BYTES;

    /* What was given has left: there is room again. */
    echo->start = (echo->start + echo->given) % RING_BYTES;
    echo->used -= echo->given;
    echo->given = 0;
    *out = (struct body_piece){.kind = BODY_LATER};
    if (echo->used != 0) {
        size_t straight = RING_BYTES - echo->start;

        echo->given = echo->used < straight ? echo->used : straight;
        *out = (struct body_piece){
            .kind = BODY_BYTES, .data = echo->ring + echo->start, .length = echo->given};
    } else if (echo->is_ended) {
        out->kind = BODY_END;
    } else {
        echo->is_waited_for = true;
    }
    if (was_full && echo->used != RING_BYTES)
        exchange_resume(echo->exchange);
}

static void echo_release(struct body *body)
{
    free(echo_of(body));
}

static const struct body_ops echo_ops = {.next = echo_next, .release = echo_release};

/* ---- content that is sent back ----------------------------------------------------------- */

/*
 * The answer begins when the first of the content has come, not before: a client that expects
 * 100-continue would take a final answer for the whole one, and a content that is too long or
 * malformed can still be refused.
 */
static void answer_content(struct exchange *exchange)
{
    struct echo *echo = exchange->state.echo;
    const struct http_text *type =
        http_request_field_single(exchange->request, HTTP_FIELD_CONTENT_TYPE);
    struct http_text plain = HTTP_TEXT("application/octet-stream");
    size_t capacity = 64 + (type != NULL ? type->length : plain.length);
    char *memory = malloc(capacity);
    struct http_writer writer;

    if (memory == NULL) {
        exchange->state.echo = NULL;
        free(echo);
        exchange_fail(exchange, 503, "no memory for an echo");
        return;
    }
    http_writer_init(&writer, memory, capacity);
    http_write_field(&writer, HTTP_FIELD_CONTENT_TYPE, type != NULL ? *type : plain);
    echo->body.length = exchange->request->body == HTTP_BODY_CHUNKED
                            ? -1
                            : (int64_t)exchange->request->content_length;
    exchange_respond(exchange, &(struct response){
                                   .status = 200,
                                   .fields = {memory, (size_t)(writer.at - memory)},
                                   .body = &echo->body,
                               });
    free(memory);
}

static void wake(struct echo *echo)
{
    if (echo->is_waited_for) {
        echo->is_waited_for = false;
        echo->body.ready(echo->body.ready_data);
    }
}

static size_t room(struct exchange *exchange)
{
    return exchange->state.echo != NULL ? RING_BYTES - exchange->state.echo->used : SIZE_MAX;
}

static void content(struct exchange *exchange, const char *data, size_t length)
{
    struct echo *echo = exchange->state.echo;

    if (echo == NULL)
        return; /* refused: what comes is dropped */
    assert(length <= RING_BYTES - echo->used);
    size_t at = (echo->start + echo->used) % RING_BYTES;
    size_t straight = RING_BYTES - at < length ? RING_BYTES - at : length;

    memcpy(echo->ring + at, data, straight);
    memcpy(echo->ring, data + straight, length - straight);
    echo->used += length;
    if (exchange->status != 0)
        wake(echo);
}

static void content_pause(struct exchange *exchange)
{
    struct echo *echo = exchange->state.echo;

    if (echo != NULL && echo->used != 0 && exchange->status == 0)
        answer_content(exchange);
}

static void content_end(struct exchange *exchange)
{
    struct echo *echo = exchange->state.echo;

    if (echo == NULL)
        return;
    echo->is_ended = true;
    if (exchange->status == 0)
        answer_content(exchange);
    else
        wake(echo);
}

static void start_content(struct exchange *exchange)
{
    struct echo *echo = malloc(sizeof(*echo));

    if (echo == NULL || !exchange_defer(exchange)) {
        free(echo);
        exchange_fail(exchange, 503, "no memory for an echo");
        return;
    }
    memset(echo, 0, offsetof(struct echo, ring));
    echo->body.ops = &echo_ops;
    echo->exchange = exchange;
    exchange->state.echo = echo;
    exchange->wants_content = true;
}

/* ---- the request's head ------------------------------------------------------------------ */

static void answer_head(struct exchange *exchange)
{
    if (precondition_decides(exchange, HTTP_TEXT("Cache-Control: no-store\r\nVary: Accept\r\n")))
        return;

    bool is_json = http_accept_prefers_json(exchange->request);
    struct response response = {.status = 200};
    size_t length;
    char *memory = is_json ? echo_head_json(exchange->request, &length)
                           : echo_head_message(exchange->request, &length);

    /* The length has to be that of the answer to GET, whose name is shorter (RFC 9110 8.6). */
    if (memory != NULL && exchange->request->method == HTTP_METHOD_HEAD)
        length -= sizeof("HEAD") - sizeof("GET");
    if (memory == NULL || body_from_memory(&response.body, memory, length) != 0) {
        exchange_fail(exchange, 503, "no memory for an echo");
        return;
    }
    response.fields = is_json ? HTTP_TEXT("Content-Type: application/json\r\n"
                                          "Cache-Control: no-store\r\nVary: Accept\r\n")
                              : HTTP_TEXT("Content-Type: message/http\r\n"
                                          "Cache-Control: no-store\r\nVary: Accept\r\n");
    exchange_respond(exchange, &response);
}

static void start(struct exchange *exchange)
{
    enum http_method method = exchange->request->method;

    if (method == HTTP_METHOD_GET || method == HTTP_METHOD_HEAD) {
        answer_head(exchange);
        return;
    }
    start_content(exchange);
    /* Else it was refused, and `state` may be an error page's by now. */
    if (exchange->wants_content && exchange->request->body == HTTP_BODY_NONE)
        content_end(exchange);
}

static void cancel(struct exchange *exchange)
{
    free(exchange->state.echo);
    exchange->state.echo = NULL;
}

const struct handler handler_echo = {
    .name = "echo",
    .methods = HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD) |
               HTTP_METHOD_BIT(HTTP_METHOD_POST) | HTTP_METHOD_BIT(HTTP_METHOD_PUT) |
               HTTP_METHOD_BIT(HTTP_METHOD_PATCH),
    .start = start,
    .room = room,
    .content = content,
    .content_pause = content_pause,
    .content_end = content_end,
    .cancel = cancel,
};
