/* SPDX-License-Identifier: MIT */
/*
 * Gathers what the status shows: sums, rates, the last minute second by second, each worker.
 * It formats nothing.
 * Called by handler_status.c.
 */
#include "server/status_view.h"

#include <errno.h>
#include <stdlib.h>

static void look_at_worker(struct status_view *view, const struct counters_slot *slot,
                           uint64_t now_ns, const struct counters_span *window)
{
    struct status_worker *worker = &view->workers[view->worker_count++];
    uint64_t beat_ns = __atomic_load_n(&slot->beat_ns, __ATOMIC_RELAXED);
    uint64_t started_ns = __atomic_load_n(&slot->started_ns, __ATOMIC_RELAXED);

    *worker = (struct status_worker){
        .index = slot->worker,
        .generation = slot->generation,
        .pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE),
        .is_away = __atomic_load_n(&slot->is_away, __ATOMIC_RELAXED) != 0,
        .up_s = now_ns > started_ns ? (double)(now_ns - started_ns) / 1e9 : 0,
        .beat_age_s = now_ns > beat_ns ? (double)(now_ns - beat_ns) / 1e9 : 0,
        .span = *window,
    };
    counters_read(slot, &worker->data);
}

/* The clock begins with the machine, which may have been up for less. */
static uint64_t before(uint64_t second, uint64_t span)
{
    return second > span ? second - span : 0;
}

static void look_at_slot(struct status_view *view, unsigned index, uint64_t now_ns)
{
    const struct counters_slot *slot = counters_taken(view->counters, index);
    uint64_t second = now_ns / COUNTERS_SECOND_NS;
    struct counters_history history;
    struct counters_span span;

    counters_history_read(&view->counters->slots[index], &history);
    for (unsigned i = 0; i < STATUS_CHART_SECONDS; i++) {
        uint64_t from = before(second, STATUS_CHART_SECONDS - i);

        counters_history_span(&history, from, from + 1, &span);
        counters_span_add(&view->chart[i], &span);
    }
    counters_history_span(&history, before(second, STATUS_CHART_SECONDS), second, &span);
    counters_span_add(&view->minute, &span);
    counters_history_span(&history, before(second, (uint64_t)view->window), second, &span);
    counters_span_add(&view->span, &span);
    if (slot != NULL)
        look_at_worker(view, slot, now_ns, &span);
}

static int compare_workers(const void *a, const void *b)
{
    const struct status_worker *left = a, *right = b;

    if (left->index != right->index)
        return left->index < right->index ? -1 : 1;
    return (left->generation > right->generation) - (left->generation < right->generation);
}

int status_view_init(struct status_view *view, const struct counters *counters, uint64_t now_ns,
                     int64_t now)
{
    unsigned slots = counters_slots(counters);

    *view = (struct status_view){.counters = counters, .now = now};
    view->workers = calloc(slots + 1, sizeof(*view->workers));
    if (view->workers == NULL)
        return -ENOMEM;
    if (now_ns > counters->started_ns)
        view->up_s = (double)(now_ns - counters->started_ns) / 1e9;
    view->window = view->up_s < 1                       ? 1
                   : view->up_s < STATUS_WINDOW_SECONDS ? (double)(unsigned)view->up_s
                                                        : STATUS_WINDOW_SECONDS;
    counters_sum(counters, &view->sum);
    counters_recent_latency(counters, now_ns, view->latency);
    for (unsigned i = 0; i < slots; i++)
        look_at_slot(view, i, now_ns);
    qsort(view->workers, view->worker_count, sizeof(*view->workers), compare_workers);
    return 0;
}

void status_view_fini(struct status_view *view)
{
    free(view->workers);
    view->workers = NULL;
}

double status_rate(const struct status_view *view, uint64_t count)
{
    return (double)count / view->window;
}
