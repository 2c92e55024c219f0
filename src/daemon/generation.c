/* SPDX-License-Identifier: MIT */
/*
 * Sets up what a configuration asks for, and takes it down again.
 * It does not know which generation serves: succession.c does.
 * master.c and succession.c call it.
 */

#include "daemon/generation.h"

#include "daemon/descriptors.h"
#include "daemon/log_files.h"
#include "log/log.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

/* Workers keep to timeouts.shutdown by themselves; this is what they get beyond it. */
#define SHUTDOWN_GRACE_MS 1000

static void on_all_ready(void *data)
{
    struct generation *generation = data;
    generation->options.events->ready(generation);
}

static void on_start_failed(void *data, int code)
{
    struct generation *generation = data;
    (void)code; /* whatever it was: the worker has said it */
    generation->options.events->failed(generation);
}

static void on_made_way(void *data)
{
    struct generation *generation = data;
    generation->options.events->made_way(generation);
}

static void on_let_go(void *data)
{
    struct generation *generation = data;
    generation->options.events->let_go(generation);
}

static void on_all_gone(void *data)
{
    struct generation *generation = data;
    evix_timer_stop(&generation->deadline);
    generation->is_gone = true;
    generation->options.events->gone(generation);
}

static void on_deadline(struct evix_timer *timer)
{
    struct generation *generation = EVIX_CONTAINER_OF(timer, struct generation, deadline);
    log_event(LOG_LEVEL_WARNING, "workers that were to finish did not in time: killed");
    children_stop(&generation->children, SIGKILL);
}

int generation_new(struct generation **out, struct config *config,
                   const struct generation_options *options)
{
    struct generation *generation = calloc(1, sizeof(*generation));
    *out = generation;
    if (generation == NULL) {
        log_event(LOG_LEVEL_ERROR, "out of memory");
        config_free(config);
        return -ENOMEM;
    }
    generation->config = config;
    generation->options = *options;
    generation->data = options->data;
    evix_timer_init(&generation->deadline, options->loop, on_deadline);
    return 0;
}

int generation_check(struct generation *generation)
{
    int error = log_files_check_formats(generation->config);
    return error < 0 ? error : privileges_init(&generation->privileges, generation->config);
}

static unsigned worker_count(const struct config *config)
{
    cpu_set_t allowed;
    if (config->workers != 0)
        return config->workers;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return (unsigned)CPU_COUNT(&allowed);
    return 1;
}

int generation_open(struct generation *generation, const struct sockets *before)
{
    const struct config *config = generation->config;
    int error = log_files_create(config, &generation->privileges);
    if (error == 0)
        error = error_log_open(&generation->error_log, &config->error_log);
    if (error < 0)
        return error;
    /* At the start whatever goes wrong from here on is to be found in the log, too. */
    if (generation->options.number == 0)
        error_log_use(&generation->error_log);
    descriptors_raise_locked_memory();
    descriptors_raise_limit(config->limits.connections, config->listen_count);
    return sockets_open(&generation->sockets, config, worker_count(config), before);
}

int generation_start(struct generation *generation)
{
    struct children_options options = {
        .config = generation->config,
        .sockets = &generation->sockets,
        .privileges = &generation->privileges,
        .error_log = &generation->error_log,
        .loop = generation->options.loop,
        .counters = generation->options.counters,
        .generation = generation->options.number,
        .count = generation->sockets.workers,
        .events = {on_all_ready, on_start_failed, on_made_way, on_let_go, on_all_gone, generation},
    };
    return children_start(&generation->children, &options);
}

void generation_leave_sockets(struct generation *generation, bool is_drained)
{
    children_leave_sockets(&generation->children, is_drained);
}

void generation_retire(struct generation *generation)
{
    uint32_t shutdown_ms = generation->config->timeouts.shutdown_ms;
    if (shutdown_ms != 0)
        evix_timer_start(&generation->deadline, (uint64_t)shutdown_ms + SHUTDOWN_GRACE_MS, 0);
    children_retire(&generation->children);
}

void generation_stop(struct generation *generation, int signal_number)
{
    children_stop(&generation->children, signal_number);
}

void generation_free(struct generation **pointer)
{
    struct generation *generation = *pointer;
    if (generation == NULL)
        return;
    *pointer = NULL;
    evix_timer_stop(&generation->deadline);
    children_fini(&generation->children);
    sockets_close(&generation->sockets);
    error_log_close(&generation->error_log);
    privileges_fini(&generation->privileges);
    config_free(generation->config);
    free(generation);
}
