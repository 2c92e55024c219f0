/* SPDX-License-Identifier: MIT */
/*
 * Starts everything in order, answers signals, and stops everything in the reverse order.
 * It serves no client and knows no worker by name: children.c keeps them.
 * main.c calls it.
 */

#include <config.h>

#include "daemon/master.h"

#include "daemon/announce.h"
#include "daemon/children.h"
#include "daemon/descriptors.h"
#include "daemon/error_log.h"
#include "daemon/exit_code.h"
#include "daemon/log_files.h"
#include "daemon/pid_file.h"
#include "daemon/privileges.h"
#include "daemon/service.h"
#include "daemon/sockets.h"
#include "log/log.h"

#include <evix/signal.h>
#include <evix/timer.h>

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Workers keep to timeouts.shutdown by themselves; this is what they get beyond it. */
#define SHUTDOWN_GRACE_MS 1000
/* From an order to stop at once until the stop is enforced. */
#define STOP_NOW_MS 2000

enum state {
    STATE_STARTING, /* not every worker has served yet */
    STATE_SERVING,
    STATE_FINISHING, /* workers finish what is in flight */
    STATE_ENDING,    /* workers were told to stop at once */
};

static const int watched_signals[] = {SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
#define WATCHED_COUNT (sizeof(watched_signals) / sizeof(watched_signals[0]))

struct master {
    const struct config *config;
    const char *directory;
    enum state state;
    int exit_code;
    struct evix_loop *loop;
    struct error_log error_log;
    struct privileges privileges;
    struct sockets sockets;
    struct counters *counters;
    struct children children;
    struct service service;
    struct evix_timer deadline; /* of a stop; then workers are killed */
    struct watched {
        struct evix_signal watcher;
        struct master *master;
    } signals[WATCHED_COUNT];
};

/* Stopping */

/* Whoever has just pressed ^C need not be told. */
static enum log_level stop_level(const struct master *master)
{
    return master->directory != NULL ? LOG_LEVEL_INFO : LOG_LEVEL_NOTICE;
}

static void on_deadline(struct evix_timer *timer)
{
    struct master *master = EVIX_CONTAINER_OF(timer, struct master, deadline);
    log_event(LOG_LEVEL_WARNING, "workers did not stop in time: killed");
    children_stop(&master->children, SIGKILL);
}

/* Our copies go first: once a worker has closed its own, nobody waits in a queue in vain. */
static void stop_gracefully(struct master *master, int number)
{
    uint32_t shutdown_ms = master->config->timeouts.shutdown_ms;
    log_event(stop_level(master), "stopping: finishing what is in flight");
    master->state = STATE_FINISHING;
    service_stopping(&master->service);
    sockets_stop_listening(&master->sockets);
    if (shutdown_ms != 0)
        evix_timer_start(&master->deadline, (uint64_t)shutdown_ms + SHUTDOWN_GRACE_MS, 0);
    children_stop(&master->children, number);
}

static void stop_now(struct master *master)
{
    if (master->state != STATE_ENDING && master->exit_code == EXIT_CODE_CLEAN)
        log_event(stop_level(master), "stopping at once");
    master->state = STATE_ENDING;
    service_stopping(&master->service);
    sockets_stop_listening(&master->sockets);
    evix_timer_start(&master->deadline, STOP_NOW_MS, 0);
    children_stop(&master->children, SIGINT);
}

/* What the children tell */

static void on_all_ready(void *data)
{
    struct master *master = data;
    assert(master->state == STATE_STARTING);
    master->state = STATE_SERVING;
    error_log_set_started(&master->error_log);
    if (master->directory != NULL)
        announce_on_stdout(&master->sockets, master->directory);
    else
        announce_in_log(&master->sockets);
    service_ready(&master->service);
}

static bool ask_workers(void *data)
{
    struct master *master = data;
    return children_ask(&master->children);
}

static void on_start_failed(void *data, int code)
{
    struct master *master = data;
    (void)code; /* whatever it was: there is no server without its workers */
    master->exit_code = EXIT_CODE_START;
    stop_now(master);
}

static void on_all_gone(void *data)
{
    struct master *master = data;
    evix_timer_stop(&master->deadline);
    evix_loop_stop(master->loop);
}

/* Signals */

static void reopen_logs(struct master *master)
{
    log_event(LOG_LEVEL_INFO, "opening the logs anew");
    /* One that cannot be created was logged; its old file stays in use. */
    (void)!log_files_create(master->config, &master->privileges);
    error_log_reopen(&master->error_log);
    children_reopen_logs(&master->children);
}

static void on_signal(struct evix_signal *watcher, int number)
{
    struct master *master = EVIX_CONTAINER_OF(watcher, struct watched, watcher)->master;
    switch (number) {
    case SIGTERM:
    case SIGQUIT:
        if (master->state < STATE_FINISHING)
            stop_gracefully(master, number);
        else
            stop_now(master);
        break;
    case SIGINT:
        stop_now(master);
        break;
    case SIGUSR1:
        reopen_logs(master);
        break;
    case SIGCHLD:
        children_reap(&master->children);
        break;
    default:
        log_event(LOG_LEVEL_NOTICE, "%s is not supported yet",
                  number == SIGHUP ? "reload" : "upgrade");
        break;
    }
}

static void unwatch_signals(struct master *master)
{
    for (size_t i = 0; i < WATCHED_COUNT; i++)
        evix_signal_stop(&master->signals[i].watcher);
}

static int watch_signals(struct master *master)
{
    for (size_t i = 0; i < WATCHED_COUNT; i++) {
        struct watched *watched = &master->signals[i];
        watched->master = master;
        evix_signal_init(&watched->watcher, master->loop, on_signal);
    }
    for (size_t i = 0; i < WATCHED_COUNT; i++) {
        int error = evix_signal_start(&master->signals[i].watcher, watched_signals[i]);
        if (error < 0) {
            unwatch_signals(master);
            return error;
        }
    }
    return 0;
}

/* Starting */

/*
 * Nothing is delivered before there are handlers: an order that comes early waits for them, and a
 * mask that we were started with holds nobody off.
 */
static void block_signals(bool is_blocked)
{
    sigset_t signals;
    if (is_blocked)
        sigfillset(&signals);
    else
        sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
}

static void on_report(void *data, const char *text)
{
    (void)data;
    log_event(LOG_LEVEL_WARNING, "event loop of the master: %s", text);
}

/* The master waits for signals and a few streams: nothing that a ring would speed up. */
static int open_loop(struct master *master)
{
    struct evix_options options = {
        .backend = EVIX_BACKEND_EPOLL, .no_file_ring = true, .report = on_report};
    if (!evix_backend_built(EVIX_BACKEND_EPOLL))
        options.backend = EVIX_BACKEND_AUTO;
    int error = evix_loop_new(&master->loop, &options);
    if (error < 0)
        return error;
    error = watch_signals(master);
    if (error < 0)
        evix_loop_free(&master->loop);
    return error;
}

static void close_loop(struct master *master)
{
    unwatch_signals(master);
    evix_timer_stop(&master->deadline);
    service_fini(&master->service);
    evix_loop_free(&master->loop);
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

static int start_children(struct master *master, unsigned count)
{
    struct children_options options = {
        .config = master->config,
        .sockets = &master->sockets,
        .privileges = &master->privileges,
        .loop = master->loop,
        .counters = master->counters,
        .count = count,
        .log_fd = error_log_descriptor(&master->error_log),
        .events = {on_all_ready, on_start_failed, on_all_gone, master},
    };
    return children_start(&master->children, &options);
}

/* Runs the workers, and this process's loop until they are gone. */
static void supervise(struct master *master, unsigned count)
{
    if (start_children(master, count) < 0) {
        master->exit_code = EXIT_CODE_START;
        stop_now(master);
    }
    if (master->children.running != 0) {
        int error = evix_loop_run(master->loop, EVIX_RUN_DEFAULT);
        if (error < 0) {
            log_event(LOG_LEVEL_ERROR, "the master's event loop failed: %s", evix_strerror(error));
            master->exit_code = EXIT_CODE_RUNNING;
        }
    }
    children_fini(&master->children);
}

/* Everything from the sockets on, when the log is there to tell what goes wrong. */
static void serve(struct master *master)
{
    const struct config *config = master->config;
    unsigned count = worker_count(config);
    master->exit_code = EXIT_CODE_START;
    descriptors_raise_limit(config->limits.connections, config->listen_count);
    if (sockets_open(&master->sockets, config, count) < 0)
        return;
    int error = counters_new(&master->counters);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot make the counters' memory: %s", evix_strerror(error));
        goto close_sockets;
    }
    error = open_loop(master);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot make an event loop: %s", evix_strerror(error));
        goto free_counters;
    }
    evix_timer_init(&master->deadline, master->loop, on_deadline);
    service_init(&master->service, &(struct service_options){.loop = master->loop,
                                                             .counters = master->counters,
                                                             .ask_workers = ask_workers,
                                                             .data = master});
    if (config->pid_file[0] != '\0') {
        error = pid_file_write(config->pid_file);
        if (error < 0) {
            log_event(LOG_LEVEL_ERROR, "cannot write the pid file %s: %s", config->pid_file,
                      strerror(-error));
            goto close_loop;
        }
    }
    master->exit_code = EXIT_CODE_CLEAN;
    block_signals(false);
    supervise(master, count);
    /* A further order to stop must not find the old dispositions and change the exit status. */
    block_signals(true);
    if (config->pid_file[0] != '\0')
        pid_file_remove(config->pid_file);

close_loop:
    close_loop(master);
free_counters:
    counters_free(&master->counters);
close_sockets:
    sockets_close(&master->sockets);
}

int master_check(const struct config *config)
{
    struct privileges privileges;
    int error = privileges_init(&privileges, config);
    if (error == 0)
        privileges_fini(&privileges);
    int format_error = log_files_check_formats(config);
    return error < 0 ? error : format_error;
}

static void run_with_log(struct master *master)
{
    const struct config *config = master->config;
    master->exit_code = EXIT_CODE_START;
    if (log_files_create(config, &master->privileges) < 0)
        return;
    if (error_log_open(&master->error_log, &config->error_log) < 0)
        return;
    serve(master);
    if (master->state >= STATE_SERVING && master->exit_code == EXIT_CODE_CLEAN)
        log_event(stop_level(master), "stopped");
    error_log_close(&master->error_log);
}

int master_run(const struct config *config, const char *directory)
{
    struct master master = {.config = config, .directory = directory, .exit_code = EXIT_CODE_USAGE};
    block_signals(true);
    signal(SIGPIPE, SIG_IGN); /* in the workers too: a client that left is an error of its socket */
    if (log_files_check_formats(config) == 0 && privileges_init(&master.privileges, config) == 0) {
        run_with_log(&master);
        privileges_fini(&master.privileges);
    }
    return master.exit_code; /* signals stay blocked: what is left to do is to exit */
}
