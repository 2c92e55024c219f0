/* SPDX-License-Identifier: MIT */
/*
 * Answers with the state of the server: a page for people, JSON, or Prometheus's format.
 * It counts nothing: whoever does something counts it (counters.h).
 * Called by exchange.c through the table.
 */
#include "server/handler.h"

#include <evix/loop.h>

#include <errno.h>
#include <stdlib.h>

#include "http/negotiate.h"
#include "server/precondition.h"
#include "server/status_style.h"
#include "server/status_view.h"
#include "server/worker_state.h"

#define REFRESH_S     5 /* if the query does not say */
#define REFRESH_MAX_S 3600

enum form { FORM_PAGE, FORM_JSON, FORM_METRICS, FORM_NONE };

/* Prometheus names its format by a parameter, or the format that has come after it. */
static bool is_scraper(const struct http_request *request)
{
    static const struct http_text prefixes[] = {{"application/openmetrics-text", 28},
                                                {"text/plain;version=0.0.4", 24}};
    struct http_list list;
    struct http_text member;

    http_list_start(&list, request, HTTP_FIELD_ACCEPT);
    while (http_list_next(&list, &member))
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
            if (member.length >= prefixes[i].length &&
                http_text_equal_nocase((struct http_text){member.data, prefixes[i].length},
                                       prefixes[i]))
                return true;
    return false;
}

/* Of the URL that leaves the form open: what is wanted most; a tie is the page's, as for `*`. */
static enum form negotiate(const struct http_request *request)
{
    unsigned page = http_accept_weight(request, HTTP_TEXT("text"), HTTP_TEXT("html"));
    unsigned json = http_accept_weight(request, HTTP_TEXT("application"), HTTP_TEXT("json"));
    unsigned plain = http_accept_weight(request, HTTP_TEXT("text"), HTTP_TEXT("plain"));

    if (is_scraper(request))
        return FORM_METRICS;
    if (page >= json && page >= plain)
        return FORM_PAGE;
    return json >= plain ? FORM_JSON : FORM_METRICS;
}

/* The location's path without a slash at its end: "" for "/". */
static struct http_text base_of(const struct exchange *exchange)
{
    struct http_text base = http_text_of(exchange->route->location->path);

    if (base.length > 0 && base.data[base.length - 1] == '/')
        base.length--;
    return base;
}

/* What follows the location's path, without the slash before it. */
static struct http_text leaf_of(const struct exchange *exchange)
{
    size_t start = base_of(exchange).length;
    struct http_text leaf = {exchange->path.data + start, exchange->path.length - start};

    if (leaf.length > 0 && leaf.data[0] == '/') {
        leaf.data++;
        leaf.length--;
    }
    return leaf;
}

static enum form form_of(struct http_text leaf, const struct http_request *request)
{
    if (leaf.length == 0)
        return negotiate(request);
    if (http_text_equal(leaf, HTTP_TEXT("json")))
        return FORM_JSON;
    if (http_text_equal(leaf, HTTP_TEXT("metrics")))
        return FORM_METRICS;
    return FORM_NONE;
}

static unsigned refresh_of(const struct http_request *request)
{
    static const struct http_text name = {"refresh=", 8};
    struct http_text query = request->query;
    uint64_t seconds;

    if (!request->has_query || query.length < name.length ||
        memcmp(query.data, name.data, name.length) != 0)
        return REFRESH_S;
    query.data += name.length;
    query.length -= name.length;
    if (http_text_to_number(query, &seconds) != 0 || seconds > REFRESH_MAX_S)
        return REFRESH_S;
    return (unsigned)seconds;
}

static void write_form(struct page_text *out, enum form form, const struct status_view *view,
                       const struct exchange *exchange)
{
    if (form == FORM_PAGE)
        status_write_page(out, view, base_of(exchange), refresh_of(exchange->request));
    else if (form == FORM_JSON)
        status_write_json(out, view);
    else
        status_write_metrics(out, view);
}

/* Vary is said where Accept decides. */
static struct http_text fields_of(enum form form, bool is_negotiated)
{
#define FRESH  "Cache-Control: no-store\r\n"
#define VARIES FRESH "Vary: Accept\r\n"
#define PAGE   "Content-Type: text/html; charset=utf-8\r\n" PAGE_POLICY(STATUS_STYLE_HASH)
#define JSON   "Content-Type: application/json\r\n"
#define PLAIN  "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
    switch (form) {
    case FORM_JSON:
        return is_negotiated ? HTTP_TEXT(JSON VARIES) : HTTP_TEXT(JSON FRESH);
    case FORM_METRICS:
        return is_negotiated ? HTTP_TEXT(PLAIN VARIES) : HTTP_TEXT(PLAIN FRESH);
    case FORM_PAGE:
    case FORM_NONE:
        break;
    }
    return HTTP_TEXT(PAGE VARIES);
}

static int write_status(struct body **out, enum form form, const struct exchange *exchange)
{
    struct worker *worker = exchange->worker;
    struct page_text text = {.data = NULL};
    struct status_view view;
    int error;

    clock_update(&worker->clock);
    error =
        status_view_init(&view, worker->counters, evix_now_ns(worker->loop), worker->clock.seconds);
    if (error != 0)
        return error;
    write_form(&text, form, &view, exchange);
    status_view_fini(&view);
    if (text.failed) {
        page_text_fini(&text);
        return -ENOMEM;
    }
    return body_from_memory(out, text.data, text.used);
}

static void start(struct exchange *exchange)
{
    struct http_text leaf = leaf_of(exchange);
    enum form form = form_of(leaf, exchange->request);
    struct response response = {.status = 200};

    if (form == FORM_NONE) {
        exchange_fail(exchange, 404, "the status has no such form");
        return;
    }
    if (precondition_decides(exchange, leaf.length == 0 ? HTTP_TEXT(VARIES) : HTTP_TEXT(FRESH)))
        return;
    if (write_status(&response.body, form, exchange) != 0) {
        exchange_fail(exchange, 503, "no memory for the status");
        return;
    }
    response.fields = fields_of(form, leaf.length == 0);
    exchange_respond(exchange, &response);
}

const struct handler handler_status = {
    .name = "status",
    .methods = HTTP_METHOD_BIT(HTTP_METHOD_GET) | HTTP_METHOD_BIT(HTTP_METHOD_HEAD),
    .start = start,
};
