/* SPDX-License-Identifier: MIT */
/*
 * Fills in the record of an exchange that has ended.
 * It does not format or write: access_log.c does.
 * Called by http1_response.c.
 */
#include "server/access_record.h"

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

bool access_record_keep(struct exchange *exchange)
{
    if (log_of(exchange) == NULL || exchange_defer(exchange))
        return true;
    log_event(LOG_LEVEL_ERROR, "no memory to log a request: connection closed");
    connection_abort(exchange->carrier);
    return false;
}

static bool find_field(void *data, struct http_text name, struct http_text *value)
{
    const struct http_request *request = data;

    for (unsigned i = 0; i < request->field_count; i++) {
        if (http_text_equal_nocase(request->fields[i].name, name)) {
            *value = request->fields[i].value;
            return true;
        }
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
    const struct http_text *target = &request->target;
    const struct http_text *method = &request->method_text;

    record->method = *method;
    record->target = *target;
    if (request->has_version)
        record->protocol =
            request->minor_version == 0 ? HTTP_TEXT("HTTP/1.0") : HTTP_TEXT("HTTP/1.1");
    /* The line as it came: from the method to the end of the version. */
    if (method->data != NULL && target->data != NULL && target->data > method->data) {
        size_t length = (size_t)(target->data - method->data) + target->length;

        if (request->has_version)
            length += 1 + record->protocol.length;
        record->request_line = (struct http_text){method->data, length};
    }
    record->referer = value_of(request, HTTP_FIELD_REFERER);
    record->user_agent = value_of(request, HTTP_FIELD_USER_AGENT);
    record->request_field = find_field;
    record->field_data = (void *)(uintptr_t)request;
}

void access_record_write(const struct exchange *exchange, const struct connection *connection)
{
    struct access_log *log = log_of(exchange);
    char client[CONNECTION_PEER_BYTES];
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
    };
    fill_request(&record, exchange->request);
    access_log_write(log, &record);
}
