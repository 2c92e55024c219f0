/* SPDX-License-Identifier: MIT */
/*
 * The charts of the status page: drawings that stretch to any width, their labels as text beside.
 * No style attribute and no script, so that the strictest policy lets them be.
 * Called by status_page.c.
 */
#include "server/status_view.h"

#include <inttypes.h>
#include <math.h>

#include "server/status_number.h"

#define CHART_HEIGHT 100

/* ---- requests ---------------------------------------------------------------------------- */

static uint64_t busiest_second(const struct status_view *view)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < STATUS_CHART_SECONDS; i++)
        most = view->chart[i].requests > most ? view->chart[i].requests : most;
    return most;
}

static void add_requests(struct page_text *out, uint64_t count)
{
    number_add_count(out, count);
    page_add(out, count == 1 ? " request, " : " requests, ");
}

static void add_second(struct page_text *out, const struct status_view *view, unsigned index,
                       double scale)
{
    double height = (double)view->chart[index].requests * CHART_HEIGHT / scale;

    page_add_format(out, "<rect x=\"%u\" y=\"%.1f\" width=\"8\" height=\"%.1f\"><title>",
                    index * 10 + 1, CHART_HEIGHT - height, height);
    add_requests(out, view->chart[index].requests);
    page_add_format(out, "%u s ago</title></rect>", STATUS_CHART_SECONDS - index);
}

void status_chart_requests(struct page_text *out, const struct status_view *view)
{
    uint64_t most = busiest_second(view);
    double scale = number_round_up((double)most);

    page_add(out, "<figure><figcaption><h2>Requests a second</h2><span>most ");
    number_add_count(out, most);
    page_add(out, "</span></figcaption>\n<div class=\"plot\"><span class=\"top\">");
    number_add_count(out, (uint64_t)scale);
    page_add_format(out,
                    "</span><svg viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\" role=\"img\" "
                    "aria-label=\"Requests in each second of the last minute\">",
                    STATUS_CHART_SECONDS * 10, CHART_HEIGHT);
    for (unsigned i = 0; i < STATUS_CHART_SECONDS; i++)
        if (view->chart[i].requests != 0)
            add_second(out, view, i, scale);
    page_add(out, "</svg></div>\n<p class=\"axis\"><span>60 s ago</span><span>45</span>"
                  "<span>30</span><span>15</span><span>now</span></p></figure>\n");
}

/* ---- latency ----------------------------------------------------------------------------- */

/* A decade is as wide as any other, from 1 µs to 100 s. */
#define DECADE  100
#define DECADES 8

static double place(double microseconds)
{
    double at = microseconds > 1 ? DECADE * log10(microseconds) : 0;

    return at < DECADE * DECADES ? at : DECADE * DECADES;
}

/* Neighbouring buckets that make a column: four to a power of two where there are so many. */
static unsigned next_column(unsigned bucket)
{
    return bucket < 16 ? bucket + 1 : bucket + 4;
}

struct column {
    uint64_t count;
    double start, end; /* microseconds */
    double left, width;
};

static struct column column_at(const struct status_view *view, unsigned bucket)
{
    unsigned end = next_column(bucket);
    struct column column = {
        .start = bucket > 0 ? (double)counters_bucket_end(bucket - 1) : 0,
        .end = end < COUNTERS_BUCKETS ? (double)counters_bucket_end(end - 1) : 1e8,
    };

    for (unsigned i = bucket; i < end; i++)
        column.count += view->latency[i];
    column.left = bucket == 0 ? 0 : place(column.start);
    column.width = bucket == 0 ? 4 : place(column.end) - column.left;
    return column;
}

/* Areas stand for counts, since columns are not equally wide. */
static double density(const struct column *column)
{
    return (double)column->count / column->width;
}

static void add_column(struct page_text *out, const struct column *column, double most,
                       uint64_t count)
{
    double height = density(column) * CHART_HEIGHT / most;

    if (height < 1)
        height = 1; /* one slow request in a million is what is looked for */
    page_add_format(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>",
                    column->left, CHART_HEIGHT - height, column->width, height);
    number_add_latency(out, column->start);
    page_add(out, " to ");
    number_add_latency(out, column->end);
    page_add(out, ": ");
    add_requests(out, column->count);
    number_add_share(out, (double)column->count, (double)count);
    page_add(out, "</title></rect>");
}

static void add_columns(struct page_text *out, const struct status_view *view, uint64_t count)
{
    double most = 0;

    for (unsigned i = 0; i < COUNTERS_BUCKETS; i = next_column(i)) {
        struct column column = column_at(view, i);

        most = density(&column) > most ? density(&column) : most;
    }
    for (unsigned i = 0; i < COUNTERS_BUCKETS; i = next_column(i)) {
        struct column column = column_at(view, i);

        if (column.count != 0)
            add_column(out, &column, most, count);
    }
}

/* Those that are told are those that are drawn. */
static const struct {
    double share;
    const char *name;
} quantiles[] = {{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}};

#define QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static void add_quantiles(struct page_text *out, const struct status_view *view)
{
    for (size_t i = 0; i < QUANTILES; i++) {
        page_add_format(out, "<span>%s <b>", quantiles[i].name);
        number_add_latency(out, counters_quantile(view->latency, quantiles[i].share));
        page_add(out, "</b></span>");
    }
}

static void add_markers(struct page_text *out, const struct status_view *view)
{
    for (size_t i = 0; i < QUANTILES; i++)
        page_add_format(out,
                        "<rect class=\"mark\" x=\"%.1f\" y=\"0\" width=\"1\" height=\"%u\">"
                        "<title>%s</title></rect>",
                        place(counters_quantile(view->latency, quantiles[i].share)), CHART_HEIGHT,
                        quantiles[i].name);
}

void status_chart_latency(struct page_text *out, const struct status_view *view)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++)
        count += view->latency[i];
    page_add(out, "<figure><figcaption><h2>Latency</h2><span class=\"quantiles\">");
    if (count != 0)
        add_quantiles(out, view);
    page_add_format(out,
                    "</span></figcaption>\n<div class=\"plot\"><svg viewBox=\"0 0 %u %u\" "
                    "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"How many requests of "
                    "the last minute took how long, on a logarithmic axis\">",
                    DECADE * DECADES, CHART_HEIGHT);
    if (count != 0) {
        add_columns(out, view, count);
        add_markers(out, view);
    }
    page_add(out, "</svg></div>\n<p class=\"axis\"><span>1 µs</span><span>10</span>"
                  "<span>100</span><span>1 ms</span><span>10</span><span>100</span>"
                  "<span>1 s</span><span>10</span><span>100</span></p></figure>\n");
}
