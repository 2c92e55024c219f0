/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SERVICE_H
#define EVIXD_DAEMON_SERVICE_H

/*
 * The server as a service manager sees it: its state, a line with figures, and signs of life that
 * are given only while every worker's loop turns. Without a manager that listens it costs nothing,
 * not even a timer.
 */

#include <evix/timer.h>

struct counters;

struct service_options {
    struct evix_loop *loop;
    const struct counters *counters;
    /*
     * Asks all workers for a sign of life, and ends those that have given none several times, so
     * that they are replaced. False if there is such a one. Called only under a watchdog: whoever
     * stops a worker to look at it with a debugger is left in peace else.
     */
    bool (*ask_workers)(void *data);
    void *data;
};

struct service {
    struct service_options options; /* private, as all here */
    struct evix_timer tick;
    uint64_t watchdog_ms; /* 0: none */
    uint64_t next_status_ms;
    const char *state;
    char status[128]; /* as it was told last */
};

/* What the options name outlives the service. */
void service_init(struct service *service, const struct service_options *options);

/* Every worker serves: for the first time, or those of a new configuration. */
void service_ready(struct service *service);

/* A reload is under way; service_ready() ends it, whether it came to something or not. */
void service_reloading(struct service *service);

void service_stopping(struct service *service);
void service_fini(struct service *service);

#endif
