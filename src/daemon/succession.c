/* SPDX-License-Identifier: MIT */
/*
 * Replaces the configuration in force by the next one, or leaves everything as it was.
 * It neither opens (generation.c) nor passes sockets on (takeover.c), but decides when.
 * master.c calls it.
 */

#include "daemon/succession.h"

#include "daemon/announce.h"
#include "daemon/master_state.h"
#include "daemon/pid_file.h"
#include "daemon/steering.h"
#include "daemon/takeover.h"
#include "log/log.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void on_config_error(void *data, const char *line)
{
    (void)data;
    log_event(LOG_LEVEL_ERROR, "%s", line);
}

static struct config *load(const struct command *command)
{
    const struct config_errors errors = {.report = on_config_error};
    struct config *config;
    return command_load(command, &config, &errors) == 0 ? config : NULL;
}

static void refuse(struct master *master)
{
    log_event(LOG_LEVEL_ERROR, "reload failed: the configuration in force stays");
    service_stay(&master->service, "reload");
}

/* The next generation, with everything open. NULL, logged, with nothing left of it. */
static struct generation *make_successor(struct master *master)
{
    struct generation *generation;
    struct config *config = load(master->command);
    struct generation_options options = master->current->options;
    options.number = ++master->reloads;
    if (config == NULL || generation_new(&generation, config, &options) < 0)
        return NULL;
    if (generation_check(generation) < 0 ||
        generation_open(generation, &master->current->sockets) < 0) {
        generation_free(&generation);
        return NULL;
    }
    error_log_set_started(&generation->error_log);
    return generation;
}

static void reload(struct master *master)
{
    master->wants_reload = false;
    log_event(LOG_LEVEL_INFO, "reloading the configuration");
    service_reloading(&master->service);
    struct generation *successor = make_successor(master);
    if (successor == NULL) {
        refuse(master);
        return;
    }
    master->successor = successor;
    successor->next = master->generations;
    master->generations = successor;
    if (generation_start(successor) < 0)
        succession_fail(master);
}

/* As process 1 of a container we are what lives: it ends with us, whoever else may serve. */
static const char *upgrade_obstacle(const struct master *master)
{
    if (getpid() == 1)
        return "process 1 has to stay; start it anew instead";
    return master->program[0] == '\0' ? "where the program is, is not known" : NULL;
}

static void upgrade(struct master *master)
{
    const char *obstacle = upgrade_obstacle(master);
    master->wants_upgrade = false;
    if (obstacle != NULL) {
        log_event(LOG_LEVEL_ERROR, "upgrade failed: %s", obstacle);
        service_stay(&master->service, "upgrade");
        return;
    }
    log_event(LOG_LEVEL_NOTICE, "starting %s to take over", master->program);
    if (upgrade_start(&master->upgrade, master->program, master->command->arguments,
                      &master->current->sockets,
                      master->current->config->error_log.target == CONFIG_TARGET_STDERR) < 0)
        succession_stay(master);
}

void succession_begin(struct master *master)
{
    if (master->successor != NULL || master->former != NULL || master->upgrade.is_under_way)
        return;
    if (master->wants_reload)
        reload(master);
    else if (master->wants_upgrade && !predecessor_is_awaited(&master->predecessor))
        upgrade(master);
}

void succession_stay(struct master *master)
{
    log_event(LOG_LEVEL_ERROR, "upgrade failed: the program that runs goes on");
    service_stay(&master->service, "upgrade");
    evix_post(&master->settle);
}

static void pass_on(struct master *master, const char *name, int number)
{
    if (upgrade_pass_on(&master->upgrade, number))
        log_event(LOG_LEVEL_NOTICE, "another process serves now: %s is passed on to it", name);
    else
        log_event(LOG_LEVEL_WARNING,
                  "%s is for the process that served in our place, which is gone", name);
}

void succession_pass_orders_on(struct master *master)
{
    if (master->wants_reload)
        pass_on(master, "HUP", SIGHUP);
    if (master->wants_upgrade)
        pass_on(master, "USR2", SIGUSR2);
    master->wants_reload = false;
    master->wants_upgrade = false;
}

void succession_hand_over(struct master *master)
{
    pid_t heir = master->upgrade.attendant.program;
    log_event(LOG_LEVEL_NOTICE, "process %ld serves; this one finishes what is in flight",
              (long)heir);
    service_pass_on(&master->service, heir);
    upgrade_introduce(&master->upgrade);
    master->state = MASTER_LEAVING;
    succession_pass_orders_on(master);
    generation_leave_sockets(master->current, true);
    sockets_release(&master->current->sockets);
    generation_retire(master->current);
}

/* From here on the service manager takes what we say for the service's. */
static void on_introduced(void *data)
{
    struct master *master = data;
    service_begin(&master->service);
    steering_apply_all(&master->current->sockets); /* the other may have steered until now */
    if (master->state == MASTER_SERVING)
        service_ready(&master->service);
    else
        service_stopping(&master->service);
    evix_post(&master->settle);
}

static void on_predecessor_gone(void *data)
{
    struct master *master = data;
    evix_post(&master->settle);
}

static const struct predecessor_events predecessor_events = {on_introduced, on_predecessor_gone};

void succession_inherit(struct master *master)
{
    struct inheritance *inheritance = &master->inheritance;
    const char *pid_file = master->current->config->pid_file;
    takeover_commit(&master->current->sockets, &inheritance->sockets);
    int error = pid_file[0] != '\0' ? pid_file_write(pid_file) : 0;
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot write the pid file %s: %s", pid_file, strerror(-error));
    inherit_report(inheritance);
    log_event(LOG_LEVEL_NOTICE, "serving in the place of process %ld", (long)inheritance->from);
    predecessor_watch(&master->predecessor, master->loop, inheritance->stream_fd,
                      &predecessor_events, master);
    inheritance->stream_fd = -1;
    inherit_close(inheritance);
}

void succession_fail(struct master *master)
{
    struct generation *successor = master->successor;
    master->successor = NULL;
    refuse(master);
    generation_stop(successor, SIGINT);
    evix_post(&master->settle);
}

/* Where the file moves, the one that users know is there at each moment. */
static void move_pid_file(const char *former, const char *path)
{
    if (strcmp(former, path) == 0)
        return;
    int error = path[0] != '\0' ? pid_file_write(path) : 0;
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot write the pid file %s: %s", path, strerror(-error));
    if (former[0] != '\0')
        pid_file_remove(former, getpid());
}

void succession_take_over(struct master *master)
{
    struct generation *former = master->current;
    struct generation *current = master->successor;
    master->current = current;
    master->successor = NULL;
    announce_in_log(&current->sockets);
    generation_leave_sockets(former, true);
    takeover_commit(&current->sockets, &former->sockets);
    move_pid_file(former->config->pid_file, current->config->pid_file);
    error_log_use(&current->error_log);
    master->former = former;
    generation_retire(former);
}

void succession_complete(struct master *master)
{
    unsigned count = master->current->sockets.workers;
    counters_note_reload(master->counters);
    log_event(LOG_LEVEL_NOTICE, "the new configuration is in force, with %u %s", count,
              count == 1 ? "worker" : "workers");
    service_ready(&master->service);
}

void succession_end(struct master *master)
{
    master->former = NULL;
    evix_post(&master->settle);
}
