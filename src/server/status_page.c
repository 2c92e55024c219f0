/* SPDX-License-Identifier: MIT */
/*
 * The status for people: what an operator wants to see at a glance, then the details.
 * It reads no counter (status_view.c has) and draws no chart (status_chart.c does).
 * Called by handler_status.c.
 */
#include "server/status_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http/uri.h"
#include "server/counters_table.h"
#include "server/status_number.h"
#include "server/status_style.h"

/* ---- pieces ------------------------------------------------------------------------------ */

static void begin_tile(struct page_text *out, const char *title)
{
    page_add_format(out, "<div class=\"tile\"><h2>%s</h2><p class=\"big\">", title);
}

static void begin_detail(struct page_text *out)
{
    page_add(out, "</p><p>");
}

static void end_tile(struct page_text *out)
{
    page_add(out, "</p></div>\n");
}

static void begin_table(struct page_text *out, const char *title)
{
    page_add_format(out, "<section><h2>%s</h2><table>\n", title);
}

static void end_table(struct page_text *out)
{
    page_add(out, "</table></section>\n");
}

static void add_row(struct page_text *out, const char *name, uint64_t count)
{
    page_add_format(out, "<tr%s><th scope=\"row\">%s</th><td>", count == 0 ? " class=\"none\"" : "",
                    name);
    number_add_count(out, count);
    page_add(out, "</td></tr>\n");
}

/* ---- at a glance ------------------------------------------------------------------------- */

static void add_traffic_tiles(struct page_text *out, const struct status_view *view)
{
    const struct counters_data *sum = &view->sum;

    begin_tile(out, "Requests");
    number_add_rate(out, status_rate(view, view->span.requests));
    page_add(out, "<small>/s</small>");
    begin_detail(out);
    number_add_count(out, counters_requests(sum, COUNTERS_CLASSES));
    page_add(out, " in all");
    end_tile(out);

    begin_tile(out, "Sent");
    page_add_size(out, (uint64_t)status_rate(view, view->span.sent));
    page_add(out, "<small>/s</small>");
    begin_detail(out);
    page_add_size(out, sum->counts[COUNTER_SENT]);
    page_add(out, " in all");
    end_tile(out);

    begin_tile(out, "Received");
    page_add_size(out, (uint64_t)status_rate(view, view->span.received));
    page_add(out, "<small>/s</small>");
    begin_detail(out);
    page_add_size(out, sum->counts[COUNTER_RECEIVED]);
    page_add(out, " in all");
    end_tile(out);

    begin_tile(out, "Connections");
    number_add_count(out, counters_connections(sum));
    begin_detail(out);
    number_add_count(out, sum->counts[COUNTER_ACCEPTED]);
    page_add(out, " accepted");
    end_tile(out);
}

static void add_health_tiles(struct page_text *out, const struct status_view *view)
{
    const struct store_counters *cache = &view->sum.cache;

    begin_tile(out, "Cache hits");
    number_add_share(out, (double)cache->hits, (double)(cache->hits + cache->misses));
    begin_detail(out);
    page_add_size(out, cache->bytes);
    page_add(out, " in ");
    number_add_count(out, cache->entries);
    page_add(out, cache->entries == 1 ? " entry" : " entries");
    end_tile(out);

    begin_tile(out, "CPU");
    number_add_share(out, (double)view->span.cpu_ns / 1e9, view->window);
    begin_detail(out);
    page_add(out, "longest turn ");
    number_add_latency(out, (double)view->minute.lag_ns / 1e3);
    end_tile(out);
}

/* ---- details ----------------------------------------------------------------------------- */

static void add_status_bar(struct page_text *out, const struct counters_data *sum)
{
    uint64_t all = counters_requests(sum, COUNTERS_CLASSES) - counters_requests(sum, 0);
    double left = 0;

    page_add(out, "<svg class=\"share\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
                  "aria-hidden=\"true\">");
    for (unsigned class = 2; class < COUNTERS_CLASSES && all != 0; class ++) {
        double width = 1000.0 * (double)counters_requests(sum, class) / (double)all;

        page_add_format(out, "<rect class=\"s%u\" x=\"%.1f\" width=\"%.1f\" height=\"10\"/>", class,
                        left, width);
        left += width;
    }
    page_add(out, "</svg>\n");
}

static void add_responses(struct page_text *out, const struct counters_data *sum)
{
    static const char *const classes[COUNTERS_CLASSES] = {NULL,
                                                          NULL,
                                                          "2xx success",
                                                          "3xx redirection, not modified",
                                                          "4xx client error",
                                                          "5xx server error"};

    page_add(out, "<section><h2>Responses</h2>");
    add_status_bar(out, sum);
    page_add(out, "<table>\n");
    for (unsigned class = 2; class < COUNTERS_CLASSES; class ++) {
        uint64_t count = counters_requests(sum, class);

        page_add_format(out,
                        "<tr%s><th scope=\"row\"><i class=\"s%u\"></i>%s</th>"
                        "<td>",
                        count == 0 ? " class=\"none\"" : "", class, classes[class]);
        number_add_count(out, count);
        page_add(out, "</td></tr>\n");
    }
    add_row(out, "client left before", counters_requests(sum, 0));
    add_row(out, "cut off", sum->counts[COUNTER_ABORTED]);
    end_table(out);
}

static void add_methods(struct page_text *out, const struct counters_data *sum)
{
    begin_table(out, "Methods");
    for (unsigned i = 0; i < HTTP_METHOD_COUNT; i++) {
        unsigned method = (i + 1) % HTTP_METHOD_COUNT; /* OTHER, the first, comes last */
        struct http_text name = http_method_name(method);
        uint64_t count = 0;

        for (unsigned class = 0; class < COUNTERS_CLASSES; class ++)
            count += sum->requests[method][class];
        if (count == 0)
            continue;
        page_add(out, "<tr><th scope=\"row\">");
        page_add_html(out, name.data, name.length);
        page_add(out, "</th><td>");
        number_add_count(out, count);
        page_add(out, "</td></tr>\n");
    }
    end_table(out);
}

static void add_connections(struct page_text *out, const struct counters_data *sum)
{
    static const char *const waits[WAIT_COUNT] = {
        [WAIT_KEEP_ALIVE] = "idle, kept alive",
        [WAIT_HEAD] = "reading a request",
        [WAIT_CONTENT] = "reading content",
        [WAIT_NOTHING] = "waiting for the disk",
        [WAIT_SEND] = "sending",
        [WAIT_LINGER] = "closing",
    };
    static const enum connection_wait order[WAIT_COUNT] = {WAIT_KEEP_ALIVE, WAIT_HEAD, WAIT_CONTENT,
                                                           WAIT_NOTHING,    WAIT_SEND, WAIT_LINGER};

    begin_table(out, "Connections");
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        add_row(out, waits[order[i]], sum->connections[order[i]]);
    add_row(out, "TCP echo", sum->echo_sessions);
    end_table(out);
}

static void add_limits(struct page_text *out, const struct counters_data *sum)
{
    static const struct {
        enum counter counter;
        const char *about;
    } limits[] = {
        {COUNTER_LIMIT_CONNECTIONS, "limits.connections"},
        {COUNTER_LIMIT_ADDRESS, "limits.connections_per_address"},
        {COUNTER_LIMIT_DESCRIPTORS, "accepting failed"},
        {COUNTER_LIMIT_TARGET, "limits.target (414)"},
        {COUNTER_LIMIT_HEAD, "limits.head, fields (431)"},
        {COUNTER_LIMIT_BODY, "limits.body (413)"},
        {COUNTER_LOG_LOST, "access log lines lost"},
        {COUNTER_LOG_CUT, "access log lines cut"},
        {COUNTER_TIMEOUT_SHUTDOWN, "timeouts.shutdown"},
    };

    begin_table(out, "Limits met, timeouts");
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        add_row(out, limits[i].about, sum->counts[limits[i].counter]);
    for (unsigned i = 0; i < WAIT_COUNT; i++) {
        char name[64];

        if (connection_timeout_names[i] == NULL)
            continue;
        (void)snprintf(name, sizeof(name), "timeouts.%s", connection_timeout_names[i]);
        add_row(out, name, sum->timeouts[i]);
    }
    end_table(out);
}

static void add_cache(struct page_text *out, const struct store_counters *cache)
{
    begin_table(out, "Cache");
    add_row(out, "hits", cache->hits);
    add_row(out, "misses", cache->misses);
    add_row(out, "evictions", cache->evictions);
    add_row(out, "entries", cache->entries);
    add_row(out, "open files", cache->descriptors);
    page_add(out, "<tr><th scope=\"row\">memory</th><td>");
    page_add_size(out, cache->bytes);
    page_add(out, "</td></tr>\n");
    end_table(out);
}

/* ---- workers ----------------------------------------------------------------------------- */

static void add_worker(struct page_text *out, const struct status_view *view,
                       const struct status_worker *worker)
{
    const struct store_counters *cache = &worker->data.cache;

    page_add_format(out, "<tr><th scope=\"row\">%u</th><td>%d%s</td><td>", worker->index,
                    worker->pid, worker->is_away ? ", away" : "");
    number_add_duration(out, worker->up_s);
    page_add(out, "</td><td>");
    number_add_rate(out, status_rate(view, worker->span.requests));
    page_add(out, "</td><td>");
    page_add_size(out, (uint64_t)status_rate(view, worker->span.sent));
    page_add(out, "/s</td><td>");
    number_add_count(out, counters_connections(&worker->data));
    page_add(out, "</td><td>");
    number_add_share(out, (double)worker->span.cpu_ns / 1e9, view->window);
    page_add(out, "</td><td>");
    number_add_latency(out, (double)worker->span.lag_ns / 1e3);
    page_add(out, "</td><td>");
    number_add_share(out, (double)cache->hits, (double)(cache->hits + cache->misses));
    page_add(out, "</td></tr>\n");
}

static void add_workers(struct page_text *out, const struct status_view *view)
{
    page_add(out, "<section class=\"wide\"><h2>Workers</h2><div class=\"scroll\"><table>\n"
                  "<thead><tr><th scope=\"col\">no.</th><th scope=\"col\">process</th>"
                  "<th scope=\"col\">up</th><th scope=\"col\">requests/s</th>"
                  "<th scope=\"col\">sent</th><th scope=\"col\">connections</th>"
                  "<th scope=\"col\">CPU</th><th scope=\"col\">longest turn</th>"
                  "<th scope=\"col\">cache hits</th></tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < view->worker_count; i++)
        add_worker(out, view, &view->workers[i]);
    page_add(out, "</tbody></table></div></section>\n");
}

/* ---- the whole --------------------------------------------------------------------------- */

static void add_host(struct page_text *out, const struct status_view *view)
{
    const char *host = view->counters->host;

    if (host[0] == '\0')
        return;
    page_add(out, " on ");
    page_add_html(out, host, strlen(host));
}

static void add_refresh(struct page_text *out, unsigned refresh_s)
{
    static const unsigned choices[] = {1, 2, 5, 15, 0};

    page_add(out, "<p>Refresh");
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        page_add_format(out, " <a href=\"?refresh=%u\"%s>", choices[i],
                        choices[i] == refresh_s ? " aria-current=\"true\"" : "");
        if (choices[i] == 0)
            page_add(out, "off</a>");
        else
            page_add_format(out, "%u s</a>", choices[i]);
    }
    page_add(out, "</p>");
}

static void add_link(struct page_text *out, struct http_text base, const char *leaf,
                     const char *text)
{
    char *to;

    page_add(out, " <a href=\"");
    to = page_reserve(out, HTTP_PATH_ENCODED_BYTES(base.length));
    if (to != NULL)
        out->used += http_path_encode(base, to);
    page_add_format(out, "/%s\">%s</a>", leaf, text);
}

static void add_header(struct page_text *out, const struct status_view *view, struct http_text base,
                       unsigned refresh_s)
{
    time_t started = (time_t)view->counters->started;
    char text[40] = "";
    struct tm parts;

    if (gmtime_r(&started, &parts) != NULL)
        (void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
    page_add(out, "<header><div><h1>evixd");
    add_host(out, view);
    page_add_format(out, "</h1><p>version %s, up ", PACKAGE_VERSION);
    number_add_duration(out, view->up_s);
    page_add_format(out,
                    " since %s</p><p>%u worker%s, %" PRIu64 " away, %" PRIu64 " replaced, %" PRIu64
                    " reload%s</p>",
                    text, view->worker_count, view->worker_count == 1 ? "" : "s",
                    counters_away(view->counters), view->counters->respawns,
                    view->counters->reloads, view->counters->reloads == 1 ? "" : "s");
    page_add(out, "</div><nav>");
    add_refresh(out, refresh_s);
    page_add(out, "<p>As");
    add_link(out, base, "json", "JSON");
    add_link(out, base, "metrics", "Prometheus");
    page_add(out, "</p></nav></header>\n");
}

static void add_footer(struct page_text *out, const struct status_view *view)
{
    time_t now = (time_t)view->now;
    char text[40] = "";
    struct tm parts;

    if (gmtime_r(&now, &parts) != NULL)
        (void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
    page_add_format(out,
                    "<footer>Rates: the mean of %.0f s. Latency: of the last minute, from a "
                    "request’s complete head to the last byte that the kernel took. As of %s."
                    "</footer>\n</body>\n</html>\n",
                    view->window, text);
}

void status_write_page(struct page_text *out, const struct status_view *view, struct http_text base,
                       unsigned refresh_s)
{
    page_add(out, PAGE_HEAD);
    if (refresh_s != 0)
        page_add_format(out, "<meta http-equiv=\"refresh\" content=\"%u\">\n", refresh_s);
    page_add(out, "<title>");
    number_add_rate(out, status_rate(view, view->span.requests));
    page_add(out, "/s, evixd");
    add_host(out, view);
    page_add(out, "</title>\n<style>" STATUS_STYLE "</style>\n</head>\n<body>\n");
    add_header(out, view, base, refresh_s);
    page_add(out, "<main>\n<div class=\"tiles\">\n");
    add_traffic_tiles(out, view);
    add_health_tiles(out, view);
    page_add(out, "</div>\n<div class=\"charts\">\n");
    status_chart_requests(out, view);
    status_chart_latency(out, view);
    page_add(out, "</div>\n");
    add_workers(out, view);
    page_add(out, "<div class=\"tables\">\n");
    add_responses(out, &view->sum);
    add_methods(out, &view->sum);
    add_connections(out, &view->sum);
    add_cache(out, &view->sum.cache);
    add_limits(out, &view->sum);
    page_add(out, "</div>\n</main>\n");
    add_footer(out, view);
}
