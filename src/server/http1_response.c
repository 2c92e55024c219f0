/* SPDX-License-Identifier: MIT */
/*
 * HTTP/1.1 on a connection, sending side: answers are written, gathered, and followed until gone.
 * It does not decide what is answered, nor when the connection ends.
 * Called by exchange.c through the responder, and by connection.c.
 */
#include "server/connection.h"
#include "server/http1_response.h"

#include <assert.h>
#include <errno.h>

#include "http/response.h"
#include "log/log.h"
#include "server/access_record.h"
#include "server/handler.h"
#include "server/http1.h"
#include "server/worker_state.h"

/* Content up to this size is copied behind its head: one plain send, and no reference to keep. */
#define COPY_BYTES 8192

/* A body's piece up to this size is copied: then the body can be asked for more before it leaves,
 * so that the parts of a multipart answer are gathered. */
#define COPY_PIECE_BYTES 1024

/* Room for what we add ourselves: status line, Server, Date, framing, Connection. */
#define HEAD_BYTES 512

static struct output *need_output(struct connection *connection)
{
    if (connection->output == NULL)
        connection->output = output_get(&connection->worker->outputs);
    if (connection->output == NULL)
        log_event(LOG_LEVEL_ERROR, "no memory for a response: connection closed");
    return connection->output;
}

/* ---- the end of exchanges ---------------------------------------------------------------- */

/*
 * By the loop's clock, which costs nothing: from the turn in which the head was complete to the
 * turn in which the kernel had taken all of the response.
 */
static void note_end(const struct exchange *exchange)
{
    struct counters_slot *slot = exchange->worker->slot;

    if (exchange->status == 0)
        counters_add(&slot->data.requests[HTTP_METHOD_OTHER][0], 1);
    else if (exchange->is_aborted)
        counters_add(&slot->data.counts[COUNTER_ABORTED], 1);
    else
        counters_note_latency(slot, evix_now_ns(exchange->worker->loop) - exchange->started_ns);
}

static void note_gone(struct connection *connection, struct exchange *exchange)
{
    exchange->is_sent = true;
    note_end(exchange);
    access_record_write(exchange, connection);
}

/* Its last byte has left, or never will. */
static void exchange_gone(struct connection *connection, struct exchange *exchange)
{
    note_gone(connection, exchange);
    if (connection->exchange != exchange)
        http1_exchange_put(exchange);
    else
        http1_settle(connection);
}

static void leave_with(struct output *output, struct exchange *exchange)
{
    exchange->next = NULL;
    *output->leaving_end = exchange;
    output->leaving_end = &exchange->next;
}

static struct exchange *take_leaving(struct output *output)
{
    struct exchange *exchange = output->leaving;

    output->leaving = exchange->next;
    if (output->leaving == NULL)
        output->leaving_end = &output->leaving;
    return exchange;
}

/* The response is queued to its end: it is gone when the output is, or now if nothing waits. */
static void answered(struct connection *connection, struct exchange *exchange)
{
    exchange->is_answered = true;
    if (exchange->has_piece)
        return; /* it is gone when that is */
    if (connection->output != NULL && !output_is_empty(connection->output))
        leave_with(connection->output, exchange);
    else
        exchange_gone(connection, exchange);
}

/* An answer of unknown length to HTTP/1.0: only the end of the connection tells where it ends. */
static bool ends_with_connection(const struct exchange *exchange)
{
    return exchange->body != NULL && exchange->body->length < 0 && !exchange->is_chunked;
}

/*
 * Not a reset, which would destroy what the kernel still has of the answers before. The client sees
 * by the length, or by the chunk that is missing, that this one is not whole (RFC 9112 8). The
 * exchange stays until it is settled, for its handler may be about to look at it.
 */
void http1_cut_short(struct exchange *exchange)
{
    struct connection *connection = exchange->carrier;

    assert(!connection->is_sending_file && !exchange->has_piece);
    if (ends_with_connection(exchange)) {
        connection_abort(connection);
        return;
    }
    exchange_cancel(exchange);
    exchange->is_aborted = true;
    exchange->is_answered = true;
    exchange->is_received = true;
    exchange->close = true;
    connection->is_refused = true;
    /* Its body's memory may be in what is being sent. */
    if (connection->output != NULL && !output_is_empty(connection->output))
        leave_with(connection->output, exchange);
    else if (connection->sending != NULL)
        leave_with(connection->sending, exchange);
    else
        note_gone(connection, exchange);
}

/* ---- heads ------------------------------------------------------------------------------- */

/* Whether the connection ends with this response; it has to be known before its head is written. */
static void decide_close(struct connection *connection, struct exchange *exchange)
{
    const struct config_limits *limits = &connection->worker->config->limits;

    if (!exchange->is_received && !exchange->wants_content && !http1_can_skip_content(exchange)) {
        exchange->is_received = true;
        exchange->close = true;
        connection->is_refused = true;
    }
    if (connection->worker->is_stopping || connection->is_last ||
        (limits->requests_per_connection != 0 &&
         connection->request_count >= limits->requests_per_connection))
        exchange->close = true;
}

static uint64_t content_length(const struct response *response)
{
    if (response->body != NULL)
        return (uint64_t)response->body->length;
    return response->content != NULL ? response->length : response->text.length;
}

/* RFC 9112 6: how the client knows where the response ends. */
static void write_framing(struct http_writer *writer, struct exchange *exchange,
                          const struct response *response)
{
    bool is_unknown = response->body != NULL && response->body->length < 0;

    if (http_status_is_bodiless(response->status))
        return;
    if (!is_unknown) {
        if (!response->has_length)
            http_write_number_field(writer, HTTP_FIELD_CONTENT_LENGTH, content_length(response));
        return;
    }
    if (exchange->request->minor_version == 0 && exchange->request->has_version) {
        exchange->close = true; /* HTTP/1.0 knows no chunks: the end of the connection ends it */
        return;
    }
    exchange->is_chunked = true;
    http_write(writer, HTTP_TEXT("Transfer-Encoding: chunked\r\n"));
}

static void write_connection(struct http_writer *writer, const struct exchange *exchange)
{
    if (exchange->close)
        http_write(writer, HTTP_TEXT("Connection: close\r\n"));
    else if (exchange->request->minor_version == 0)
        http_write(writer, HTTP_TEXT("Connection: keep-alive\r\n"));
}

/* The location's headers. What is no answer of a location's is not sniffed either. */
static struct http_text configured_fields(const struct exchange *exchange,
                                          const struct response *response)
{
    if (exchange->route == NULL)
        return response->is_generated ? HTTP_TEXT("X-Content-Type-Options: nosniff\r\n")
                                      : (struct http_text){0};
    if (response->is_generated)
        return exchange->route->fields_always;
    if (exchange->is_fallback)
        return exchange->route->fields_fallback[response->varies];
    return exchange->route->fields[response->varies];
}

/* Writes the head, and `text` behind it. False: there is no memory. */
static bool write_head(struct connection *connection, struct exchange *exchange,
                       const struct response *response)
{
    struct output *output = need_output(connection);
    struct clock *clock = &connection->worker->clock;
    struct http_text fields = configured_fields(exchange, response);
    struct http_writer writer;

    if (output == NULL)
        return false;
    clock_update(clock);

    size_t room = HEAD_BYTES + response->fields.length + fields.length + response->text.length +
                  response->text_fields.length;
    char *start = output_reserve(output, room);
    if (start == NULL) {
        log_event(LOG_LEVEL_ERROR, "no memory for a response's head: connection closed");
        return false;
    }
    http_writer_init(&writer, start, room);
    if (response->status == 200) {
        http_write(&writer, clock->ok);
    } else {
        http_write_status(&writer, response->status);
        http_write(&writer, clock->fields);
    }
    http_write(&writer, response->fields);
    http_write(&writer, response->text_fields);
    http_write(&writer, fields);
    write_framing(&writer, exchange, response);
    write_connection(&writer, exchange);
    http_write(&writer, HTTP_TEXT("\r\n"));
    exchange->head_bytes = (uint32_t)(writer.at - start);
    if (!exchange->is_head)
        http_write(&writer, response->text);
    assert(!writer.failed);
    if (!access_record_keep_head(exchange, start, exchange->head_bytes))
        return false;
    output_commit(output, start, (size_t)(writer.at - start));
    exchange->queued_bytes += (uint64_t)(writer.at - start);
    return true;
}

/* ---- contents ---------------------------------------------------------------------------- */

static bool queue_content(struct connection *connection, struct exchange *exchange,
                          const struct response *response)
{
    struct output *output = connection->output;
    const char *data = response->content->bytes + response->offset;

    assert(response->content->bytes != NULL);
    exchange->queued_bytes += response->length;
    if (response->length <= COPY_BYTES)
        return output_copy(output, data, (size_t)response->length);
    exchange->content = representation_ref(response->content);
    output_refer(output, data, (size_t)response->length);
    return true;
}

static void on_body_ready(void *data)
{
    struct exchange *exchange = data;

    exchange->body_waits = false;
    connection_proceed(exchange->carrier);
}

static void take_body(struct exchange *exchange, const struct response *response)
{
    exchange->body = response->body;
    exchange->body->ready = on_body_ready;
    exchange->body->ready_data = exchange;
    exchange->body_left = response->body->length >= 0 ? (uint64_t)response->body->length : 0;
}

static void http1_respond(struct exchange *exchange, const struct response *response)
{
    struct connection *connection = exchange->carrier;
    bool has_content = !exchange->is_head && !http_status_is_bodiless(response->status);

    if (response->body != NULL)
        take_body(exchange, response);
    if (connection->is_closing)
        return;
    decide_close(connection, exchange);
    if (!access_record_keep(exchange) || !write_head(connection, exchange, response) ||
        (has_content && response->content != NULL &&
         !queue_content(connection, exchange, response)))
        http1_cut_short(exchange);
    else if (exchange->body == NULL || !has_content || response->body->length == 0)
        answered(connection, exchange);
    connection_proceed(connection);
}

static void http1_resume(struct exchange *exchange)
{
    connection_proceed(exchange->carrier);
}

const struct responder http1_responder = {
    .respond = http1_respond, .resume = http1_resume, .handle = http1_handle};

void http1_respond_interim(struct exchange *exchange, const char *text, size_t length)
{
    struct connection *connection = exchange->carrier;
    struct output *output = need_output(connection);

    if (output == NULL || !output_copy(output, text, length))
        http1_cut_short(exchange);
}

/* ---- bodies ------------------------------------------------------------------------------ */

/* The body can't keep its promise. */
static void body_failed(struct exchange *exchange, int error)
{
    char client[WORKER_CLIENT_BYTES];

    log_event(LOG_LEVEL_WARNING, "%s: the content of a response ended early, connection closed: %s",
              worker_client(exchange, client), evix_strerror(error));
    http1_cut_short(exchange);
}

/* Takes note of a piece of a body with a known length. False: it is more than was promised. */
static bool count_piece(struct exchange *exchange, size_t length)
{
    if (exchange->body->length < 0)
        return true;
    if (length > exchange->body_left)
        return false;
    exchange->body_left -= length;
    return true;
}

static bool is_whole(const struct exchange *exchange)
{
    return exchange->body->length >= 0 && exchange->body_left == 0;
}

/* What comes before and behind a piece if the response is chunked. */
static bool queue_chunk_head(struct output *output, struct exchange *exchange, size_t length)
{
    char chunk[HTTP_CHUNK_HEAD_BYTES];
    size_t head_length = http_chunk_head(chunk, length);

    exchange->queued_bytes += head_length + 2;
    return output_copy(output, chunk, head_length);
}

/* False: there is no memory. */
static bool queue_piece(struct output *output, struct exchange *exchange,
                        const struct body_piece *piece)
{
    exchange->queued_bytes += piece->length;
    if (exchange->is_chunked && !queue_chunk_head(output, exchange, piece->length))
        return false;
    if (piece->length > COPY_PIECE_BYTES)
        output_refer(output, piece->data, piece->length);
    else if (!output_copy(output, piece->data, piece->length))
        return false;
    return !exchange->is_chunked || output_copy(output, "\r\n", 2);
}

static void queue_bytes(struct connection *connection, struct exchange *exchange,
                        const struct body_piece *piece)
{
    struct output *output = need_output(connection);

    if (output == NULL || !queue_piece(output, exchange, piece))
        http1_cut_short(exchange);
}

static void queue_end(struct connection *connection, struct exchange *exchange)
{
    struct output *output;

    if (exchange->is_chunked) {
        output = need_output(connection);
        if (output == NULL) {
            http1_cut_short(exchange);
            return;
        }
        output_refer(output, HTTP_CHUNK_LAST.data, HTTP_CHUNK_LAST.length);
        exchange->queued_bytes += HTTP_CHUNK_LAST.length;
    }
    answered(connection, exchange);
}

/*
 * Asks the body for its next piece and queues it. True: it can be asked again at once, for nothing
 * that is queued is the body's memory.
 */
static bool pull(struct connection *connection, struct exchange *exchange)
{
    struct body_piece piece;

    body_next(exchange->body, &piece);
    if (connection->is_closing)
        return false;
    if ((piece.kind == BODY_BYTES || piece.kind == BODY_FILE) &&
        !count_piece(exchange, piece.length)) {
        body_failed(exchange, -EOVERFLOW);
        return false;
    }
    switch (piece.kind) {
    case BODY_BYTES:
        queue_bytes(connection, exchange, &piece);
        break;
    case BODY_FILE:
        assert(!exchange->is_chunked && connection->transport.ops->sends_files);
        exchange->piece = piece;
        exchange->has_piece = true;
        break;
    case BODY_LATER:
        exchange->body_waits = true;
        return false;
    case BODY_END:
        if (exchange->body->length >= 0 && exchange->body_left != 0)
            body_failed(exchange, -ENODATA);
        else
            queue_end(connection, exchange);
        return false;
    case BODY_FAILED:
        body_failed(exchange, piece.error);
        return false;
    }
    if (connection->is_closing || exchange->is_aborted)
        return false;
    if (is_whole(exchange)) {
        answered(connection, exchange);
        return false;
    }
    return piece.kind == BODY_BYTES && piece.length <= COPY_PIECE_BYTES;
}

/* ---- sending ----------------------------------------------------------------------------- */

/*
 * Where the end follows, the kernel is told to wait for it: the last bytes and the end leave in one
 * segment instead of two, for 1 to 2 of 25 microseconds of a connection.
 */
static void send_output(struct connection *connection)
{
    struct output *output = connection->output;
    const struct exchange *exchange = connection->exchange;
    bool more = exchange != NULL ? exchange->has_piece : connection_is_ending(connection);

    connection->output = NULL;
    connection->sending = output;
    transport_send(&connection->transport, &output->op, output->pieces, output->piece_count, more);
}

static void send_piece(struct connection *connection, struct exchange *exchange)
{
    connection->is_sending_file = true;
    exchange->queued_bytes += exchange->piece.length;
    transport_send_file(&connection->transport, &exchange->file_op, exchange->piece.fd,
                        exchange->piece.offset, (uint32_t)exchange->piece.length);
}

/* A body's memory stays only until it is asked again, so what it gave is sent before that. */
static bool may_pull(const struct connection *connection)
{
    const struct exchange *exchange = connection->exchange;

    return exchange != NULL && exchange->body != NULL && !exchange->is_answered &&
           !exchange->has_piece && !exchange->body_waits && exchange->status != 0 &&
           connection->sending == NULL && !connection->is_sending_file;
}

static void pull_pieces(struct connection *connection)
{
    while (may_pull(connection) && pull(connection, connection->exchange) &&
           output_has_room(connection->output))
        continue;
}

void http1_send(struct connection *connection)
{
    if (connection->is_closing)
        return;
    pull_pieces(connection);
    http1_settle(connection);
    if (connection->is_closing || connection->sending != NULL || connection->is_sending_file)
        return;
    if (connection->output != NULL && !output_is_empty(connection->output))
        send_output(connection);
    else if (connection->exchange != NULL && connection->exchange->has_piece)
        send_piece(connection, connection->exchange);
}

/* The exchanges whose last bytes were in an output that has left. */
static void output_gone(struct connection *connection, struct output *output)
{
    while (output->leaving != NULL) {
        struct exchange *exchange = take_leaving(output);

        exchange->sent_bytes += exchange->queued_bytes;
        exchange->queued_bytes = 0;
        exchange_gone(connection, exchange);
    }
}

/* An answer of which part has left, or is about to, and more follows after the output. */
static bool is_going_on(const struct exchange *exchange)
{
    return !exchange->is_answered || exchange->has_piece;
}

/* The body looks anew whether it can go on from the page cache, or at all. */
static void piece_left(struct exchange *exchange, size_t length)
{
    body_take_back(exchange->body, length);
    if (exchange->body->length >= 0)
        exchange->body_left += length;
    exchange->is_answered = false;
}

static void piece_sent(struct connection *connection, uint64_t bytes)
{
    struct exchange *exchange = connection->exchange;

    connection->is_sending_file = false;
    exchange->has_piece = false;
    exchange->queued_bytes = 0;
    exchange->sent_bytes += bytes;
    if (bytes < exchange->piece.length)
        piece_left(exchange, exchange->piece.length - bytes);
    else if (exchange->is_answered)
        exchange_gone(connection, exchange);
}

static void note_cut_piece(struct exchange *exchange, uint64_t bytes)
{
    exchange->sent_bytes += bytes;
    counters_add(&exchange->worker->slot->data.counts[COUNTER_SENT], bytes);
}

/* What follows of the file is not read: what precedes it in the kernel still leaves. */
void http1_piece_failed(struct connection *connection, int error)
{
    struct exchange *exchange = connection->exchange;

    connection->is_sending_file = false;
    exchange->has_piece = false;
    exchange->queued_bytes = 0;
    note_cut_piece(exchange, evix_op_progress(&exchange->file_op));
    exchange->is_answered = false;
    body_failed(exchange, error);
}

void http1_sent(struct connection *connection, uint64_t bytes)
{
    if (connection->is_sending_file) {
        piece_sent(connection, bytes);
        return;
    }
    struct output *output = connection->sending;

    connection->sending = NULL;
    output_gone(connection, output);
    output_put(&connection->worker->outputs, output);

    struct exchange *exchange = connection->exchange;
    if (exchange != NULL && is_going_on(exchange) && connection->output == NULL) {
        exchange->sent_bytes += exchange->queued_bytes;
        exchange->queued_bytes = 0;
    }
}

/* Some of an exchange's queued bytes had left when it was cut off. Returns how many. */
static uint64_t cut_exchange(struct exchange *exchange, uint64_t left)
{
    uint64_t bytes = left < exchange->queued_bytes ? left : exchange->queued_bytes;

    exchange->sent_bytes += bytes;
    exchange->is_aborted |= bytes < exchange->queued_bytes;
    exchange->queued_bytes = 0;
    return bytes;
}

/* What of an output had left goes to its exchanges, in order. */
static void cut_off(struct connection *connection, struct output *output, uint64_t left)
{
    counters_add(&connection->worker->slot->data.counts[COUNTER_SENT], left);
    while (output->leaving != NULL) {
        struct exchange *exchange = take_leaving(output);

        left -= cut_exchange(exchange, left);
        exchange_gone(connection, exchange);
    }
    if (connection->exchange != NULL && is_going_on(connection->exchange))
        (void)cut_exchange(connection->exchange, left);
    output_put(&connection->worker->outputs, output);
}

void http1_release(struct connection *connection)
{
    struct output *outputs[] = {connection->sending, connection->output};

    for (unsigned i = 0; i < 2; i++)
        if (outputs[i] != NULL)
            cut_off(connection, outputs[i], i == 0 ? evix_op_progress(&outputs[i]->op) : 0);
    connection->sending = connection->output = NULL;

    struct exchange *exchange = connection->exchange;
    connection->exchange = NULL;
    if (exchange == NULL)
        return;
    if (!exchange->is_sent) {
        if (connection->is_sending_file)
            note_cut_piece(exchange, evix_op_progress(&exchange->file_op));
        exchange->is_aborted = true;
        exchange_gone(connection, exchange);
    } else {
        http1_exchange_put(exchange);
    }
}
