/* SPDX-License-Identifier: MIT */
/*
 * Tells a service manager how the server is, now and then.
 * It knows neither the protocol (notify.c) nor workers (its owner asks them).
 * master.c calls it.
 */

#include "daemon/service.h"

#include "daemon/notify.h"
#include "server/counters_read.h"

#include <evix/loop.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How often the figures are told, if they have changed. */
#define STATUS_MS 5000

/*
 * A worker is asked at one tick, and killed at the third after it (CHILDREN_PATIENCE), which goes
 * by without a sign of life; with the fourth the watchdog is content again.
 */
#define TICKS_OF_WATCHDOG 6

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * COUNTERS_SECOND_NS + (uint64_t)now.tv_nsec;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Requests a second are those of the last whole seconds between two lines. */
static void format_status(const struct service *service, char *out, size_t size)
{
    const struct counters *counters = service->options.counters;
    struct counters_data sum;
    struct counters_span span;
    uint64_t second = now_ns() / COUNTERS_SECOND_NS;
    uint64_t seconds = STATUS_MS / 1000;
    counters_sum(counters, &sum);
    counters_span_sum(counters, second - seconds, second, &span);
    unsigned workers = counters_workers(counters);
    uint64_t connections = counters_connections(&sum);
    uint64_t requests = counters_requests(&sum, COUNTERS_CLASSES);
    bool is_failure = service->failure != NULL;
    snprintf(out, size,
             "%s: %u worker%s, %" PRIu64 " connection%s, %" PRIu64 " request%s (%" PRIu64
             "/s)%s%s%s",
             service->state, workers, plural(workers), connections, plural(connections), requests,
             plural(requests), span.requests / seconds, is_failure ? "; the last " : "",
             is_failure ? service->failure : "", is_failure ? " failed" : "");
}

static void tell_figures(struct service *service)
{
    char text[sizeof(service->status)];
    format_status(service, text, sizeof(text));
    if (strcmp(service->status, text) == 0)
        return;
    memcpy(service->status, text, sizeof(text));
    notify_status(text);
}

static void enter_state(struct service *service, const char *state)
{
    service->state = state;
    tell_figures(service);
}

static void on_tick(struct evix_timer *timer)
{
    struct service *service = EVIX_CONTAINER_OF(timer, struct service, tick);
    const struct service_options *options = &service->options;
    if (service->watchdog_ms != 0 && options->ask_workers(options->data))
        notify_alive();
    if (--service->ticks_left != 0)
        return;
    service->ticks_left = service->ticks_of_status;
    tell_figures(service);
}

void service_init(struct service *service, const struct service_options *options)
{
    *service = (struct service){.options = *options};
    evix_timer_init(&service->tick, options->loop, on_tick);
}

void service_begin(struct service *service)
{
    service->is_heard = notify_is_wanted();
}

static void start_ticking(struct service *service)
{
    uint64_t interval_ms = STATUS_MS;
    service->watchdog_ms = notify_watchdog_ms();
    if (service->watchdog_ms != 0 && service->watchdog_ms / TICKS_OF_WATCHDOG < interval_ms)
        interval_ms = service->watchdog_ms / TICKS_OF_WATCHDOG;
    if (interval_ms == 0)
        interval_ms = 1;
    service->ticks_of_status = service->ticks_left = (unsigned)(STATUS_MS / interval_ms);
    evix_timer_start(&service->tick, interval_ms, interval_ms);
    evix_unref(&service->tick.handle);
}

static void serve(struct service *service, const char *failure)
{
    service->failure = failure;
    if (!service->is_heard)
        return;
    notify_ready();
    enter_state(service, "Serving");
    if (!evix_is_active(&service->tick.handle))
        start_ticking(service);
}

void service_ready(struct service *service)
{
    serve(service, NULL);
}

void service_stay(struct service *service, const char *failure)
{
    serve(service, failure);
}

void service_recount(struct service *service)
{
    if (service->is_heard && service->state != NULL)
        tell_figures(service);
}

void service_reloading(struct service *service)
{
    if (!service->is_heard)
        return;
    notify_reloading();
    enter_state(service, "Reloading");
}

/* Signs of life go on: finishing can take longer than the watchdog waits. */
void service_stopping(struct service *service)
{
    if (!service->is_heard)
        return;
    notify_stopping();
    enter_state(service, "Stopping");
}

void service_pass_on(struct service *service, pid_t pid)
{
    if (service->is_heard)
        notify_main_pid(pid);
    service->is_heard = false;
    evix_timer_stop(&service->tick);
}

void service_fini(struct service *service)
{
    evix_timer_stop(&service->tick);
}
