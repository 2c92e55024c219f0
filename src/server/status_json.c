/* SPDX-License-Identifier: MIT */
/*
 * The status as one object of JSON.
 * It counts nothing and sends nothing.
 * Called by handler_status.c.
 */
#include "server/status_view.h"

#include <inttypes.h>
#include <string.h>

#include "server/counters_table.h"

/* Objects are written key by key; `first` says whether a comma is due. */
struct object {
    struct page_text *out;
    bool first;
};

static struct object begin(struct page_text *out, const char *name)
{
    if (name != NULL)
        page_add_format(out, "\"%s\":{", name);
    else
        page_add(out, "{");
    return (struct object){out, true};
}

static void end(struct object *object)
{
    page_add(object->out, "}");
}

static void separate(struct object *object)
{
    if (!object->first)
        page_add(object->out, ",");
    object->first = false;
}

static void add_number(struct object *object, const char *key, uint64_t value)
{
    separate(object);
    page_add_format(object->out, "\"%s\":%" PRIu64, key, value);
}

static void add_boolean(struct object *object, const char *key, bool value)
{
    separate(object);
    page_add_format(object->out, "\"%s\":%s", key, value ? "true" : "false");
}

static void add_real(struct object *object, const char *key, double value)
{
    separate(object);
    page_add_format(object->out, "\"%s\":%.10g", key, value);
}

static void add_rates(struct page_text *out, const struct status_view *view)
{
    const struct counters_span *span = &view->span;
    struct object rates = begin(out, "per_second");

    add_real(&rates, "requests", status_rate(view, span->requests));
    add_real(&rates, "received_bytes", status_rate(view, span->received));
    add_real(&rates, "sent_bytes", status_rate(view, span->sent));
    add_real(&rates, "window_seconds", view->window);
    end(&rates);
}

static void add_requests(struct page_text *out, const struct counters_data *sum)
{
    static const char *const classes[COUNTERS_CLASSES] = {"none", "1xx", "2xx",
                                                          "3xx",  "4xx", "5xx"};
    struct object requests = begin(out, "requests");

    add_number(&requests, "total", counters_requests(sum, COUNTERS_CLASSES));
    add_number(&requests, "aborted", sum->counts[COUNTER_ABORTED]);
    separate(&requests);
    struct object by_method = begin(out, "by_method");
    for (unsigned method = 0; method < HTTP_METHOD_COUNT; method++) {
        uint64_t count = 0;
        char name[16];

        for (unsigned class = 0; class < COUNTERS_CLASSES; class ++)
            count += sum->requests[method][class];
        struct http_text text = http_method_name(method);
        memcpy(name, text.data, text.length);
        name[text.length] = '\0';
        add_number(&by_method, name, count);
    }
    end(&by_method);
    separate(&requests);
    struct object by_class = begin(out, "by_status");
    for (unsigned class = 0; class < COUNTERS_CLASSES; class ++)
        if (class != 1)
            add_number(&by_class, classes[class], counters_requests(sum, class));
    end(&by_class);
    end(&requests);
}

static void add_connections(struct page_text *out, const struct counters_data *data)
{
    struct object connections = begin(out, "connections");

    add_number(&connections, "open", counters_connections(data));
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        add_number(&connections, connection_wait_names[i], data->connections[i]);
    add_number(&connections, "accepted", data->counts[COUNTER_ACCEPTED]);
    add_number(&connections, "echo_sessions", data->echo_sessions);
    end(&connections);
}

static void add_limits(struct page_text *out, const struct counters_data *sum)
{
    struct object limits = begin(out, "limits");

    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (counter_names[i].label != NULL && strcmp(counter_names[i].label, "limit") == 0)
            add_number(&limits, counter_names[i].value, sum->counts[i]);
    end(&limits);
    page_add(out, ",\n ");
    struct object timeouts = begin(out, "timeouts");
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        if (connection_timeout_names[i] != NULL)
            add_number(&timeouts, connection_timeout_names[i], sum->timeouts[i]);
    add_number(&timeouts, "shutdown", sum->counts[COUNTER_TIMEOUT_SHUTDOWN]);
    end(&timeouts);
}

static void add_access_logs(struct page_text *out, const struct counters_data *sum)
{
    struct object logs = begin(out, "access_logs");

    add_number(&logs, "lost", sum->counts[COUNTER_LOG_LOST]);
    add_number(&logs, "cut", sum->counts[COUNTER_LOG_CUT]);
    end(&logs);
}

static void add_cache(struct page_text *out, const struct store_counters *counted)
{
    struct object cache = begin(out, "cache");

    add_number(&cache, "hits", counted->hits);
    add_number(&cache, "misses", counted->misses);
    add_number(&cache, "evictions", counted->evictions);
    add_number(&cache, "entries", counted->entries);
    add_number(&cache, "descriptors", counted->descriptors);
    add_number(&cache, "bytes", counted->bytes);
    end(&cache);
}

static void add_cpu(struct page_text *out, const struct counters_data *data,
                    const struct counters_span *span, double seconds)
{
    struct object cpu = begin(out, "cpu");

    add_real(&cpu, "seconds", (double)data->counts[COUNTER_CPU_NS] / 1e9);
    add_real(&cpu, "cores", (double)span->cpu_ns / 1e9 / seconds);
    end(&cpu);
}

static void add_loop(struct page_text *out, const struct counters_data *data,
                     const struct counters_span *span)
{
    struct object loop = begin(out, "loop");

    add_number(&loop, "iterations", data->counts[COUNTER_LOOP_ITERATIONS]);
    add_real(&loop, "lag_max_seconds", (double)span->lag_ns / 1e9);
    end(&loop);
}

static void add_latency(struct page_text *out, const struct status_view *view)
{
    struct object latency = begin(out, "latency");
    uint64_t count = 0;

    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++)
        count += view->latency[i];
    add_number(&latency, "count", count);
    add_real(&latency, "p50_us", counters_quantile(view->latency, 0.5));
    add_real(&latency, "p90_us", counters_quantile(view->latency, 0.9));
    add_real(&latency, "p99_us", counters_quantile(view->latency, 0.99));
    add_real(&latency, "p999_us", counters_quantile(view->latency, 0.999));
    separate(&latency);
    page_add(out, "\"buckets\":[");
    count = 0;
    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++) {
        if (view->latency[i] == 0)
            continue;
        page_add(out, count++ != 0 ? "," : "");
        if (i == COUNTERS_BUCKETS - 1)
            page_add_format(out, "{\"below_us\":null,\"count\":%" PRIu64 "}", view->latency[i]);
        else
            page_add_format(out, "{\"below_us\":%" PRIu64 ",\"count\":%" PRIu64 "}",
                            counters_bucket_end(i), view->latency[i]);
    }
    page_add(out, "]");
    end(&latency);
}

static void add_worker(struct page_text *out, const struct status_view *view,
                       const struct status_worker *counted)
{
    struct object worker = begin(out, NULL);

    add_number(&worker, "worker", counted->index);
    add_number(&worker, "generation", counted->generation);
    add_number(&worker, "pid", (uint64_t)counted->pid);
    add_boolean(&worker, "away", counted->is_away);
    add_real(&worker, "uptime_seconds", counted->up_s);
    add_number(&worker, "requests", counters_requests(&counted->data, COUNTERS_CLASSES));
    add_real(&worker, "requests_per_second", status_rate(view, counted->span.requests));
    separate(&worker);
    add_connections(out, &counted->data);
    separate(&worker);
    add_cache(out, &counted->data.cache);
    separate(&worker);
    add_cpu(out, &counted->data, &counted->span, view->window);
    separate(&worker);
    add_loop(out, &counted->data, &counted->span);
    end(&worker);
}

void status_write_json(struct page_text *out, const struct status_view *view)
{
    const struct counters_data *sum = &view->sum;
    struct object server = begin(out, NULL);

    page_add_format(out, "\"version\":\"%s\"", PACKAGE_VERSION);
    server.first = false;
    add_number(&server, "time", (uint64_t)view->now);
    add_number(&server, "started", (uint64_t)view->counters->started);
    add_real(&server, "uptime_seconds", view->up_s);
    add_number(&server, "reloads", view->counters->reloads);
    add_number(&server, "respawns", view->counters->respawns);
    add_number(&server, "away", counters_away(view->counters));
    page_add(out, ",\n ");
    add_rates(out, view);
    page_add(out, ",\n ");
    add_requests(out, sum);
    page_add_format(out, ",\n \"bytes\":{\"received\":%" PRIu64 ",\"sent\":%" PRIu64 "},\n ",
                    sum->counts[COUNTER_RECEIVED], sum->counts[COUNTER_SENT]);
    add_connections(out, sum);
    page_add(out, ",\n ");
    add_limits(out, sum);
    page_add(out, ",\n ");
    add_access_logs(out, sum);
    page_add(out, ",\n ");
    add_cache(out, &sum->cache);
    page_add(out, ",\n ");
    add_cpu(out, sum, &view->span, view->window);
    page_add(out, ",\n ");
    add_loop(out, sum, &view->minute);
    page_add(out, ",\n ");
    add_latency(out, view);
    page_add(out, ",\n \"workers\":[");
    for (unsigned i = 0; i < view->worker_count; i++) {
        page_add(out, i == 0 ? "\n  " : ",\n  ");
        add_worker(out, view, &view->workers[i]);
    }
    page_add(out, "]");
    end(&server);
    page_add(out, "\n");
}
