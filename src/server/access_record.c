/* SPDX-License-Identifier: MIT */
/*
 * Fills in the record of an exchange that has ended.
 * It does not format or write: access_log.c does.
 * Called by http1_response.c.
 */
#include "server/connection.h"
#include "server/access_record.h"

#include <stdlib.h>
#include <time.h>

#include "log/log.h"
#include "server/access_log.h"
#include "server/worker_state.h"

static struct access_log *log_of(const struct exchange *exchange)
{
    const struct route_host *host = exchange->host;

    /* A request too broken to have a host is the default host's. */
    if (host == NULL)
        host = exchange->worker->routes.fallback;
    return host != NULL && access_log_is_on(host->access_log) ? host->access_log : NULL;
}

static bool give_up(void)
{
    log_event(LOG_LEVEL_ERROR, "no memory to log a request: connection closed");
    return false;
}

bool access_record_keep(struct exchange *exchange)
{
    return log_of(exchange) == NULL || exchange_defer(exchange) || give_up();
}

bool access_record_keep_head(struct exchange *exchange, const char *head, size_t length)
{
    struct access_log *log = log_of(exchange);

    if (log == NULL || !access_log_wants_response(log))
        return true;
    exchange->head_copy = malloc(length);
    if (exchange->head_copy == NULL)
        return give_up();
    memcpy(exchange->head_copy, head, length);
    return true;
}

static bool find_request_field(void *data, struct http_text name, struct http_text *value)
{
    const struct http_request *request = ((const struct exchange *)data)->request;

    for (unsigned i = 0; i < request->field_count; i++) {
        if (http_text_equal_nocase(request->fields[i].name, name)) {
            *value = request->fields[i].value;
            return true;
        }
    }
    return false;
}

/* Up to the end of its line, without it. */
static struct http_text first_line(struct http_text text)
{
    size_t length = 0;

    while (length < text.length && text.data[length] != '\r' && text.data[length] != '\n')
        length++;
    return (struct http_text){text.data, length};
}

/* Our own head: each line is "Name: value\r\n", after the status line. */
static bool find_response_field(void *data, struct http_text name, struct http_text *value)
{
    const struct exchange *exchange = data;
    struct http_text rest = {exchange->head_copy, exchange->head_bytes};

    while (exchange->head_copy != NULL && rest.length != 0) {
        struct http_text line = first_line(rest);

        if (line.length > name.length + 1 && line.data[name.length] == ':' &&
            http_text_equal_nocase((struct http_text){line.data, name.length}, name)) {
            line.data += name.length + 1;
            line.length -= name.length + 1;
            *value = http_text_trim(line);
            return true;
        }
        rest.data += line.length + 2;
        rest.length -= line.length + 2 < rest.length ? line.length + 2 : rest.length;
    }
    return false;
}

static struct http_text value_of(const struct http_request *request, enum http_field_id id)
{
    const struct http_text *value = http_request_field(request, id);

    return value != NULL ? *value : (struct http_text){0};
}

static void fill_request(struct access_record *record, const struct http_request *request)
{
    /* What has no target could not be taken apart: the line as it came says more. */
    if (request->target.length != 0)
        record->method = request->method_text;
    record->target = request->target;
    if (request->has_version)
        record->protocol =
            request->minor_version == 0 ? HTTP_TEXT("HTTP/1.0") : HTTP_TEXT("HTTP/1.1");
    record->request_line = first_line(request->head);
    record->referer = value_of(request, HTTP_FIELD_REFERER);
    record->user_agent = value_of(request, HTTP_FIELD_USER_AGENT);
}

/* The name that the client has proved to be his; in `memory`. */
static struct http_text user_of(const struct exchange *exchange,
                                char memory[HTTP_CREDENTIALS_BYTES])
{
    struct http_credentials credentials = {{0}, {0}};

    if (exchange->is_authenticated)
        (void)http_basic_parse(value_of(exchange->request, HTTP_FIELD_AUTHORIZATION), memory,
                               &credentials);
    return credentials.user;
}

void access_record_write(const struct exchange *exchange, struct connection *connection)
{
    struct access_log *log = log_of(exchange);
    char client[CONNECTION_PEER_BYTES], credentials[HTTP_CREDENTIALS_BYTES];
    struct timespec now;

    if (log == NULL || exchange->request_copy == NULL)
        return;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t duration_us = (evix_now_ns(connection->worker->loop) - exchange->started_ns) / 1000;
    struct access_record record = {
        .client = http_text_of(connection_peer(connection, client)),
        .time_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - (int64_t)duration_us,
        .duration_us = duration_us,
        .host = exchange->request->host,
        .reason = exchange->reason != NULL ? http_text_of(exchange->reason) : (struct http_text){0},
        .body_bytes = exchange->sent_bytes > exchange->head_bytes
                          ? exchange->sent_bytes - exchange->head_bytes
                          : 0,
        .status = exchange->status,
        .port = connection->local_port,
        .request_number = exchange->number,
        .aborted = exchange->is_aborted,
        .keep_alive = !exchange->close,
        .request_field = find_request_field,
        .response_field = find_response_field,
        .field_data = (void *)(uintptr_t)exchange,
    };
    fill_request(&record, exchange->request);
    record.user = user_of(exchange, credentials);
    access_log_write(log, &record);
    if (exchange->is_authenticated)
        explicit_bzero(credentials, sizeof(credentials));
}
