/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SERVICE_H
#define EVIXD_DAEMON_SERVICE_H

/*
 * The server as a service manager sees it: its state, a line with figures, and signs of life that
 * are given only while every worker's loop turns. Without a manager that listens it costs nothing,
 * not even a timer.
 */

#include <evix/timer.h>

#include <sys/types.h>

struct counters;

struct service_options {
    struct evix_loop *loop;
    const struct counters *counters;
    /*
     * Asks all workers for a sign of life, and ends those that have given none several times, so
     * that they are replaced. False if there is such a one. Called only under a watchdog, whose
     * patience is its own; timeouts.stuck holds without it (liveness.h).
     */
    bool (*ask_workers)(void *data);
    void *data;
};

struct service {
    struct service_options options; /* private, as all here */
    struct evix_timer tick;
    bool is_heard;            /* there is a manager, and it listens to this process */
    uint64_t watchdog_ms;     /* 0: none */
    unsigned ticks_of_status; /* from one telling of the figures to the next */
    unsigned ticks_left;      /* until then */
    const char *state;
    const char *failure; /* what was ordered last and failed, such as "reload"; NULL: it did not */
    char status[160];    /* as it was told last */
};

/* What the options name outlives the service. It says nothing yet. */
void service_init(struct service *service, const struct service_options *options);

/* The manager takes this process for the main one, and would complain of any other that speaks. */
void service_begin(struct service *service);

/* Every worker serves: for the first time, or those of a new configuration. */
void service_ready(struct service *service);

/* A reload is under way; service_ready() or service_stay() ends it. */
void service_reloading(struct service *service);

/*
 * What was ordered ("reload", "upgrade") has failed, and the server is as it was. A manager has no
 * word for that, and has long reported success to whoever asked: the status says so until an order
 * succeeds. The name is kept.
 */
void service_stay(struct service *service, const char *failure);

/* Workers have come or gone: the figures have changed at once. */
void service_recount(struct service *service);

void service_stopping(struct service *service);

/* Another process is the main one from now on, which is the last thing that is said here. */
void service_pass_on(struct service *service, pid_t pid);

void service_fini(struct service *service);

#endif
