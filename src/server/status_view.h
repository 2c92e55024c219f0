/* SPDX-License-Identifier: MIT */
#ifndef SERVER_STATUS_VIEW_H
#define SERVER_STATUS_VIEW_H

/*
 * The server at one moment, gathered from the counters once, and written in three forms. Rates are
 * of whole seconds that have passed, so that they need neither scripts nor a second look.
 */

#include "files/page_text.h"
#include "http/text.h"
#include "server/counters_read.h"

#define STATUS_CHART_SECONDS  60
#define STATUS_WINDOW_SECONDS 10 /* what rates are the mean of */

/* A worker that runs now. */
struct status_worker {
    unsigned index, generation;
    int pid;
    bool is_away; /* counters.h */
    double up_s;
    double beat_age_s; /* since its loop was last seen to turn with something to do */
    struct counters_data data;
    struct counters_span span; /* of the window */
};

struct status_view {
    const struct counters *counters;
    int64_t now;   /* seconds since the epoch */
    double up_s;   /* of the server */
    double window; /* seconds that the rates are of; at least 1 */
    struct counters_data sum;
    struct counters_span span;   /* of the window */
    struct counters_span minute; /* of the chart */
    struct counters_span chart[STATUS_CHART_SECONDS];
    uint64_t latency[COUNTERS_BUCKETS]; /* of the last minute */
    struct status_worker *workers;      /* by index, then generation */
    unsigned worker_count;
};

/* `now_ns` is CLOCK_MONOTONIC, `now` the same moment by the wall clock. 0 or -ENOMEM. */
int status_view_init(struct status_view *view, const struct counters *counters, uint64_t now_ns,
                     int64_t now);
void status_view_fini(struct status_view *view);

/* By second, in the window. */
double status_rate(const struct status_view *view, uint64_t count);

/* Prometheus's text format 0.0.4. */
void status_write_metrics(struct page_text *out, const struct status_view *view);

void status_write_json(struct page_text *out, const struct status_view *view);

/* `base` is the location's path, for links; the page asks for itself every so many seconds (0: not
   at all). */
void status_write_page(struct page_text *out, const struct status_view *view, struct http_text base,
                       unsigned refresh_s);

/* Charts of the page, as SVG without style attributes or scripts. */
void status_chart_requests(struct page_text *out, const struct status_view *view);
void status_chart_latency(struct page_text *out, const struct status_view *view);

#endif
