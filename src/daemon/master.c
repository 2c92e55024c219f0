/* SPDX-License-Identifier: MIT */
/*
 * Starts everything in order, answers signals, and stops everything in the reverse order.
 * It serves no client and knows no worker: a generation keeps its own (generation.c).
 * main.c calls it.
 */

#include "daemon/master.h"

#include "daemon/announce.h"
#include "daemon/exit_code.h"
#include "daemon/log_files.h"
#include "daemon/master_state.h"
#include "daemon/pid_file.h"
#include "daemon/site_check.h"
#include "daemon/succession.h"
#include "log/log.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Workers keep to timeouts.shutdown by themselves; this is what they get beyond it. */
#define SHUTDOWN_GRACE_MS 1000
/* From an order to stop at once until the stop is enforced. */
#define STOP_NOW_MS 2000
/* timeout(1) and others signal a process and then its group, which is one order that comes twice.
 */
#define SAME_ORDER_MS 1000

static const int watched_signals[MASTER_SIGNALS] = {SIGTERM, SIGQUIT, SIGINT, SIGHUP,
                                                    SIGUSR1, SIGUSR2, SIGCHLD};

/* Stopping */

/* Whoever has just pressed ^C need not be told. */
static enum log_level stop_level(const struct master *master)
{
    return master->command->directory != NULL ? LOG_LEVEL_INFO : LOG_LEVEL_NOTICE;
}

static void tell_stopping(struct master *master)
{
    service_stopping(&master->service);
    upgrade_cancel(&master->upgrade);
}

static void stop_generations(struct master *master, int number)
{
    for (struct generation *one = master->generations; one != NULL; one = one->next) {
        generation_leave_sockets(one, number == SIGTERM || number == SIGQUIT);
        /* Our copies go first: once a worker has closed its own, nobody waits there in vain. */
        sockets_stop_listening(&one->sockets);
        generation_stop(one, one == master->successor && number != SIGKILL ? SIGINT : number);
    }
}

static void on_deadline(struct evix_timer *timer)
{
    struct master *master = EVIX_CONTAINER_OF(timer, struct master, deadline);
    log_event(LOG_LEVEL_WARNING, "workers did not stop in time: killed");
    predecessor_forget(&master->predecessor);
    stop_generations(master, SIGKILL);
}

static void stop_gracefully(struct master *master, int number)
{
    uint32_t shutdown_ms = master->current->config->timeouts.shutdown_ms;
    log_event(stop_level(master), "stopping: finishing what is in flight");
    tell_stopping(master);
    master->state = MASTER_FINISHING;
    if (shutdown_ms != 0)
        evix_timer_start(&master->deadline, (uint64_t)shutdown_ms + SHUTDOWN_GRACE_MS, 0);
    stop_generations(master, number);
}

static void stop_now(struct master *master)
{
    if (master->state != MASTER_ENDING && master->exit_code == EXIT_CODE_CLEAN)
        log_event(stop_level(master), "stopping at once");
    tell_stopping(master);
    predecessor_forget(&master->predecessor);
    master->state = MASTER_ENDING;
    evix_timer_start(&master->deadline, STOP_NOW_MS, 0);
    stop_generations(master, SIGINT);
}

/* What the generations tell */

static void on_ready(struct generation *generation)
{
    struct master *master = generation->data;
    if (generation == master->successor) {
        succession_take_over(master);
        return;
    }
    if (master->state != MASTER_STARTING)
        return;
    master->state = MASTER_SERVING;
    error_log_set_started(&generation->error_log);
    if (master->inheritance.stream_fd >= 0)
        succession_inherit(master);
    else if (master->command->directory != NULL)
        announce_on_stdout(&generation->sockets, master->command->directory);
    else
        announce_in_log(&generation->sockets);
    service_ready(&master->service);
    evix_post(&master->settle);
}

static void on_failed(struct generation *generation)
{
    struct master *master = generation->data;
    if (generation == master->successor) {
        succession_fail(master);
        return;
    }
    master->exit_code = EXIT_CODE_START; /* there is no server without its workers */
    stop_now(master);
}

static void on_made_way(struct generation *generation)
{
    struct master *master = generation->data;
    if (generation == master->former)
        succession_complete(master);
}

static void on_let_go(struct generation *generation)
{
    struct master *master = generation->data;
    if (generation == master->former)
        succession_end(master);
}

static bool ask_workers(void *data)
{
    struct master *master = data;
    return children_ask(&master->current->children);
}

/* Whoever tells this is still at work with it. */
static void on_gone(struct generation *generation)
{
    struct master *master = generation->data;
    evix_post(&master->settle);
}

static const struct generation_events generation_events = {on_ready, on_failed, on_made_way,
                                                           on_let_go, on_gone};

/* Frees those whose workers are gone. The current one's log and pid file are needed to the end. */
static void free_generations(struct master *master)
{
    struct generation **link = &master->generations;
    bool has_changed = false;
    while (*link != NULL) {
        struct generation *one = *link;
        if (one->is_gone && one != master->current) {
            *link = one->next;
            generation_free(&one);
            has_changed = true;
        } else {
            link = &one->next;
        }
    }
    if (has_changed)
        service_recount(&master->service);
}

/* A former program's clients are ours: whoever waits for our end waits for theirs. */
static bool is_all_done(const struct master *master)
{
    return master->current->is_gone && master->generations->next == NULL &&
           !predecessor_is_there(&master->predecessor);
}

static void on_settle(struct evix_post *post)
{
    struct master *master = EVIX_CONTAINER_OF(post, struct master, settle);
    free_generations(master);
    if (is_all_done(master))
        evix_loop_stop(master->loop);
    else if (master->state == MASTER_SERVING)
        succession_begin(master);
}

/* Signals */

static void reopen_logs(struct master *master)
{
    log_event(LOG_LEVEL_INFO, "opening the logs anew");
    for (struct generation *one = master->generations; one != NULL; one = one->next) {
        /* One that cannot be created was logged; its old file stays in use. */
        (void)!log_files_create(one->config, &one->privileges);
        error_log_reopen(&one->error_log);
        children_reopen_logs(&one->children);
    }
    /* One that starts may have opened them before they were renamed. */
    (void)upgrade_pass_on(&master->upgrade, SIGUSR1);
}

/* Collects every process that has ended, strangers' too: we may be PID 1. */
static void reap(struct master *master)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0)
            return;
        if (upgrade_note_end(&master->upgrade, pid, status))
            continue;
        for (struct generation *one = master->generations; one != NULL; one = one->next) {
            if (children_note_end(&one->children, pid, status))
                break;
        }
    }
}

/* Done when nothing else is under way; by the one that serves, whoever was told. */
static void want(struct master *master, bool *what)
{
    *what = true;
    if (master->state == MASTER_LEAVING)
        succession_pass_orders_on(master);
    evix_post(&master->settle);
}

static void take_stop_order(struct master *master, int number)
{
    uint64_t now_ms = evix_now_ms(master->loop);
    if (master->state < MASTER_FINISHING) {
        master->stop_told_ms = now_ms;
        stop_gracefully(master, number);
    } else if (now_ms - master->stop_told_ms >= SAME_ORDER_MS) {
        stop_now(master);
    }
}

static void on_signal(struct evix_signal *watcher, int number)
{
    struct master *master = EVIX_CONTAINER_OF(watcher, struct watched, watcher)->master;
    switch (number) {
    case SIGTERM:
    case SIGQUIT:
        take_stop_order(master, number);
        break;
    case SIGINT:
        stop_now(master);
        break;
    case SIGHUP:
        want(master, &master->wants_reload);
        break;
    case SIGUSR2:
        want(master, &master->wants_upgrade);
        break;
    case SIGUSR1:
        reopen_logs(master);
        break;
    case SIGCHLD:
        reap(master);
        break;
    default:
        break;
    }
}

static void unwatch_signals(struct master *master)
{
    for (size_t i = 0; i < MASTER_SIGNALS; i++)
        evix_signal_stop(&master->signals[i].watcher);
}

static int watch_signals(struct master *master)
{
    for (size_t i = 0; i < MASTER_SIGNALS; i++) {
        struct watched *watched = &master->signals[i];
        watched->master = master;
        evix_signal_init(&watched->watcher, master->loop, on_signal);
    }
    for (size_t i = 0; i < MASTER_SIGNALS; i++) {
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
    evix_timer_init(&master->deadline, master->loop, on_deadline);
    evix_post_init(&master->settle, master->loop, on_settle);
    error = watch_signals(master);
    if (error < 0)
        evix_loop_free(&master->loop);
    return error;
}

/* Orders that came too late for the loop wait, blocked, and would go with this process. */
static void pass_late_orders_on(const struct master *master)
{
    static const int orders[] = {SIGHUP, SIGUSR1, SIGUSR2};
    sigset_t pending;
    if (master->state != MASTER_LEAVING || sigpending(&pending) != 0)
        return;
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
        if (sigismember(&pending, orders[i]))
            (void)upgrade_pass_on(&master->upgrade, orders[i]);
}

static void close_loop(struct master *master)
{
    unwatch_signals(master);
    evix_timer_stop(&master->deadline);
    service_fini(&master->service);
    predecessor_forget(&master->predecessor);
    upgrade_cancel(&master->upgrade);
    evix_post_cancel(&master->settle);
    evix_loop_free(&master->loop);
    pass_late_orders_on(master); /* as late as can be */
    upgrade_fini(&master->upgrade);
}

/* Runs the workers, and this process's loop until they are gone. */
static void supervise(struct master *master)
{
    if (generation_start(master->current) < 0) {
        master->exit_code = EXIT_CODE_START;
        stop_now(master);
    }
    int error = evix_loop_run(master->loop, EVIX_RUN_DEFAULT);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "the master's event loop failed: %s", evix_strerror(error));
        master->exit_code = EXIT_CODE_RUNNING;
    }
}

static void on_upgraded(void *data)
{
    succession_hand_over(data);
}

static void on_upgrade_failed(void *data)
{
    succession_stay(data);
}

static int write_pid_file(const char *path)
{
    int error = path[0] != '\0' ? pid_file_write(path) : 0;
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot write the pid file %s: %s", path, strerror(-error));
    return error;
}

/* A next program that was killed may have come to writing its number. */
static void remove_pid_file(const struct master *master, const char *path)
{
    if (path[0] == '\0')
        return;
    pid_file_remove(path, getpid());
    if (master->upgrade.killed != 0)
        pid_file_remove(path, master->upgrade.killed);
}

/* Serves until the end. The first generation is there, and knows what it opens. */
static void serve(struct master *master)
{
    struct generation *first = master->generations;
    master->current = first;
    master->exit_code = EXIT_CODE_START;
    bool has_heritage = master->inheritance.stream_fd >= 0;
    master->inheritance.sockets.activation = &master->activation;
    if (generation_open(first, &master->inheritance.sockets) < 0)
        return;
    /* While a former program serves, the file is its own, and it is the one that is listened to. */
    if (!has_heritage && write_pid_file(first->config->pid_file) < 0)
        return;
    if (!has_heritage)
        service_begin(&master->service);
    if (!has_heritage)
        privileges_warn_of_root(&first->privileges);
    activation_warn_of_unused(&master->activation, first->config);
    master->exit_code = EXIT_CODE_CLEAN;
    block_signals(false);
    supervise(master);
    /* A further order to stop must not find the old dispositions and change the exit status. */
    block_signals(true);
    if (master->state ==
        MASTER_LEAVING) /* what was delivered after the last turn is for the heir */
        (void)!evix_loop_run(master->loop, EVIX_RUN_NOWAIT);
    remove_pid_file(master, master->current->config->pid_file);
    if (master->state > MASTER_STARTING && master->exit_code == EXIT_CODE_CLEAN)
        log_event(stop_level(master), "stopped");
}

/* As in -t: what can be found wrong without opening anything. */
static void check_and_serve(struct master *master, struct config *config)
{
    struct generation_options options = {master->loop, master->counters, &generation_events, master,
                                         0};
    if (generation_new(&master->generations, config, &options) < 0)
        return;
    master->exit_code = EXIT_CODE_USAGE;
    if (generation_check(master->generations) == 0) {
        master->exit_code = EXIT_CODE_START;
        if (inherit_take(&master->inheritance) == 0)
            serve(master);
        inherit_close(&master->inheritance);
    }
    generation_free(&master->generations);
}

int master_check(const struct config *config)
{
    struct privileges privileges;
    int error = privileges_init(&privileges, config);
    int format_error = log_files_check_formats(config);
    if (error == 0 && format_error == 0)
        site_check(config, &privileges);
    if (error == 0)
        privileges_fini(&privileges);
    return error < 0 ? error : format_error;
}

int master_run(const struct command *command, struct config *config)
{
    struct master master = {
        .command = command, .exit_code = EXIT_CODE_START, .inheritance.stream_fd = -1};
    block_signals(true);
    /* In the workers too: a client that left is an error of its socket, and a log that meets
     * RLIMIT_FSIZE cannot be written, as on a full disk. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int error = open_loop(&master);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot make an event loop: %s", evix_strerror(error));
        goto free_config;
    }
    upgrade_init(&master.upgrade, master.loop,
                 &(struct upgrade_events){on_upgraded, on_upgrade_failed, &master});
    error = counters_new(&master.counters);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot make the counters' memory: %s", evix_strerror(error));
        goto close_loop;
    }
    service_init(&master.service, &(struct service_options){.loop = master.loop,
                                                            .counters = master.counters,
                                                            .ask_workers = ask_workers,
                                                            .data = &master});
    error = upgrade_find_program(command->name, master.program);
    if (error < 0)
        log_event(LOG_LEVEL_WARNING, "cannot be upgraded: where the program is, is not known: %s",
                  strerror(-error));
    if (activation_take(&master.activation) == 0) {
        check_and_serve(&master, config);
        config = NULL; /* its generation's */
        activation_fini(&master.activation);
    }
    counters_free(&master.counters);

close_loop:
    close_loop(&master);
free_config:
    config_free(config);
    return master.exit_code; /* signals stay blocked: what is left to do is to exit */
}
