/* SPDX-License-Identifier: MIT */
/*
 * Counts, rates, times and shares in a form that is read at a glance.
 * It knows nothing of what they mean.
 * Called by the status page and its charts.
 */
#include "server/status_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void number_add_count(struct page_text *out, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            page_add(out, ",");
        page_add_bytes(out, &digits[i], 1);
    }
}

void number_add_rate(struct page_text *out, double rate)
{
    if (rate > 0 && rate < 99.95)
        page_add_format(out, "%.1f", rate);
    else
        number_add_count(out, (uint64_t)(rate + 0.5));
}

void number_add_latency(struct page_text *out, double microseconds)
{
    if (microseconds < 999.5)
        page_add_format(out, "%.0f µs", microseconds);
    else if (microseconds < 999500)
        page_add_format(out, microseconds < 9950 ? "%.1f ms" : "%.0f ms", microseconds / 1e3);
    else
        page_add_format(out, microseconds < 9.95e6 ? "%.1f s" : "%.0f s", microseconds / 1e6);
}

void number_add_duration(struct page_text *out, double seconds)
{
    uint64_t whole = (uint64_t)seconds;

    if (whole < 60)
        page_add_format(out, "%" PRIu64 " s", whole);
    else if (whole < 3600)
        page_add_format(out, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else if (whole < 86400)
        page_add_format(out, "%" PRIu64 " h %" PRIu64 " min", whole / 3600, whole / 60 % 60);
    else
        page_add_format(out, "%" PRIu64 " d %" PRIu64 " h", whole / 86400, whole / 3600 % 24);
}

void number_add_share(struct page_text *out, double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : 0;

    if (whole <= 0)
        page_add(out, "–");
    else
        page_add_format(out, percent > 0 && percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

double number_round_up(double value)
{
    static const double steps[] = {1, 2, 5};

    for (double power = 1; power < 1e18; power *= 10)
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
            if (steps[i] * power >= value)
                return steps[i] * power;
    return value;
}
