/* SPDX-License-Identifier: MIT */
/*
 * The status in Prometheus's text format, version 0.0.4.
 * It counts nothing and sends nothing.
 * Called by handler_status.c.
 */
#include "server/status_view.h"

#include <inttypes.h>

#include "server/counters_table.h"

/* Le of the histogram: powers of two of a microsecond, from 2^4 to 2^25, where buckets end too. */
#define FIRST_POWER 4
#define LAST_POWER  25

static void begin_family(struct page_text *out, const char *name, const char *type,
                         const char *about)
{
    page_add_format(out, "# HELP evixd_%s %s\n# TYPE evixd_%s %s\n", name, about, name, type);
}

static void add_single(struct page_text *out, const char *name, const char *type, const char *about,
                       double value)
{
    begin_family(out, name, type, about);
    page_add_format(out, "evixd_%s %.17g\n", name, value);
}

/* All digits, and none that a double would make up. */
static void add_seconds(struct page_text *out, uint64_t ns)
{
    page_add_format(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / COUNTERS_SECOND_NS,
                    ns % COUNTERS_SECOND_NS);
}

static void add_single_seconds(struct page_text *out, const char *name, const char *type,
                               const char *about, uint64_t ns)
{
    begin_family(out, name, type, about);
    page_add_format(out, "evixd_%s ", name);
    add_seconds(out, ns);
}

static void add_requests(struct page_text *out, const struct counters_data *sum)
{
    static const char *const classes[COUNTERS_CLASSES] = {"none", "1xx", "2xx",
                                                          "3xx",  "4xx", "5xx"};

    begin_family(out, "requests_total", "counter",
                 "Requests by method and class of status; none: the client left before.");
    for (unsigned method = 0; method < HTTP_METHOD_COUNT; method++) {
        struct http_text name = http_method_name(method);

        for (unsigned class = 0; class < COUNTERS_CLASSES; class ++)
            if (class >= 2 || sum->requests[method][class] != 0)
                page_add_format(
                    out, "evixd_requests_total{method=\"%.*s\",status=\"%s\"} %" PRIu64 "\n",
                    (int)name.length, name.data, classes[class], sum->requests[method][class]);
    }
}

static void add_table(struct page_text *out, const struct counters_data *sum)
{
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_name *name = &counter_names[i];

        if (name->family == NULL)
            continue;
        if (name->about != NULL)
            begin_family(out, name->family, "counter", name->about);
        if (name->label != NULL)
            page_add_format(out, "evixd_%s{%s=\"%s\"} %" PRIu64 "\n", name->family, name->label,
                            name->value, sum->counts[i]);
        else
            page_add_format(out, "evixd_%s %" PRIu64 "\n", name->family, sum->counts[i]);
    }
}

static void add_connections(struct page_text *out, const struct counters_data *sum)
{
    begin_family(out, "connections", "gauge", "Connections that are open, by what they do.");
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        page_add_format(out, "evixd_connections{state=\"%s\"} %" PRIu64 "\n",
                        connection_wait_names[i], sum->connections[i]);
    add_single(out, "echo_sessions", "gauge", "Sessions of the plain TCP echo that are open.",
               (double)sum->echo_sessions);
    begin_family(out, "timeouts_total", "counter", "Times that a timeout ended a wait.");
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        if (connection_timeout_names[i] != NULL)
            page_add_format(out, "evixd_timeouts_total{timeout=\"%s\"} %" PRIu64 "\n",
                            connection_timeout_names[i], sum->timeouts[i]);
    page_add_format(out, "evixd_timeouts_total{timeout=\"shutdown\"} %" PRIu64 "\n",
                    sum->counts[COUNTER_TIMEOUT_SHUTDOWN]);
}

static void add_cache(struct page_text *out, const struct store_counters *cache)
{
    begin_family(out, "cache_lookups_total", "counter", "Lookups of paths in the cache.");
    page_add_format(out, "evixd_cache_lookups_total{result=\"hit\"} %" PRIu64 "\n", cache->hits);
    page_add_format(out, "evixd_cache_lookups_total{result=\"miss\"} %" PRIu64 "\n", cache->misses);
    add_single(out, "cache_evictions_total", "counter", "Entries that left for want of room.",
               (double)cache->evictions);
    add_single(out, "cache_entries", "gauge", "Answers that are cached.", (double)cache->entries);
    add_single(out, "cache_descriptors", "gauge", "Files that the cache keeps open.",
               (double)cache->descriptors);
    add_single(out, "cache_bytes", "gauge", "Memory that the cache takes.", (double)cache->bytes);
}

static void add_latency(struct page_text *out, const struct counters_data *sum)
{
    uint64_t below = 0;
    unsigned bucket = 0;

    begin_family(out, "request_duration_seconds", "histogram",
                 "From a request's complete head to the last byte of its response.");
    for (unsigned power = FIRST_POWER; power <= LAST_POWER; power++) {
        for (; counters_bucket_end(bucket) <= UINT64_C(1) << power; bucket++)
            below += sum->latency[bucket];
        page_add_format(out, "evixd_request_duration_seconds_bucket{le=\"%.6f\"} %" PRIu64 "\n",
                        (double)(UINT64_C(1) << power) / 1e6, below);
    }
    for (; bucket < COUNTERS_BUCKETS; bucket++)
        below += sum->latency[bucket];
    page_add_format(out, "evixd_request_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", below);
    page_add(out, "evixd_request_duration_seconds_sum ");
    add_seconds(out, sum->counts[COUNTER_LATENCY_NS]);
    page_add_format(out, "evixd_request_duration_seconds_count %" PRIu64 "\n", below);
}

/* By index, over all its slots: a total that never falls, whoever the worker is now. */
static void add_worker_total(struct page_text *out, const struct status_view *view,
                             const char *family, uint64_t (*value)(const struct counters_slot *))
{
    const struct counters *counters = view->counters;

    for (unsigned i = 0; i < view->worker_count; i++) {
        unsigned index = view->workers[i].index;
        uint64_t total = 0;

        if (i > 0 && view->workers[i - 1].index == index)
            continue;
        for (unsigned slot = 0; slot < counters_slots(counters); slot++)
            if (counters->slots[slot].worker == index)
                total += value(&counters->slots[slot]);
        page_add_format(out, "evixd_%s{worker=\"%u\"} %" PRIu64 "\n", family, index, total);
    }
}

static uint64_t requests_of(const struct counters_slot *slot)
{
    struct counters_data data;

    counters_read(slot, &data);
    return counters_requests(&data, COUNTERS_CLASSES);
}

static uint64_t connections_of(const struct counters_slot *slot)
{
    struct counters_data data;

    counters_read(slot, &data);
    return counters_connections(&data);
}

static void add_workers(struct page_text *out, const struct status_view *view)
{
    begin_family(out, "worker_requests_total", "counter", "Requests by worker.");
    add_worker_total(out, view, "worker_requests_total", requests_of);
    begin_family(out, "worker_connections", "gauge", "Connections that are open, by worker.");
    add_worker_total(out, view, "worker_connections", connections_of);
}

void status_write_metrics(struct page_text *out, const struct status_view *view)
{
    const struct counters_data *sum = &view->sum;

    begin_family(out, "build_info", "gauge", "The program; always 1.");
    page_add_format(out, "evixd_build_info{version=\"%s\"} 1\n", PACKAGE_VERSION);
    add_single(out, "start_time_seconds", "gauge", "When the server was started.",
               (double)view->counters->started);
    add_single(out, "workers", "gauge", "Workers that run, draining ones included.",
               view->worker_count);
    add_single(out, "workers_away", "gauge",
               "Workers that do not turn, and get no new connections for now.",
               (double)counters_away(view->counters));
    add_single(out, "worker_respawns_total", "counter", "Workers that were started anew.",
               (double)view->counters->respawns);
    add_single(out, "reloads_total", "counter", "Configurations that were taken over.",
               (double)view->counters->reloads);
    add_requests(out, sum);
    add_table(out, sum);
    add_connections(out, sum);
    add_cache(out, &sum->cache);
    add_single_seconds(out, "cpu_seconds_total", "counter", "CPU time of the workers.",
                       sum->counts[COUNTER_CPU_NS]);
    add_single_seconds(out, "loop_lag_seconds", "gauge",
                       "The longest turn of an event loop in the last minute.",
                       view->minute.lag_ns);
    add_latency(out, sum);
    add_workers(out, view);
}
