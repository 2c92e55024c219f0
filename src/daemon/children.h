/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_CHILDREN_H
#define EVIXD_DAEMON_CHILDREN_H

/*
 * The worker processes as the master sees them: forked, watched, and started again on the same
 * sockets when they die, with a back-off. Each has a stream to the master: the worker says by a
 * byte on it that it serves, and learns from its end that the master is gone.
 *
 * One whose loop does not turn (liveness.h), or that died twice in a row, gets no new connections
 * (steering.h) until it or its successor turns; after timeouts.stuck it is killed.
 */

#include "config/config.h"
#include "daemon/error_log.h"
#include "daemon/liveness.h"
#include "daemon/privileges.h"
#include "daemon/sockets.h"
#include "server/counters.h"

#include <evix/io.h>
#include <evix/timer.h>

struct children;
struct child;

/* What the master is told. `code` is an exit code of the process as in exit_code.h. */
struct children_events {
    void (*all_ready)(void *data);              /* every worker serves, for the first time */
    void (*start_failed)(void *data, int code); /* one died before all served; none is replaced */
    void (*made_way)(void *data); /* after retiring: what passed on is left to the others */
    void (*let_go)(void *data);   /* after that: no worker has a listener any more */
    void (*all_gone)(void *data); /* after retiring or a stop: no worker is left */
    void *data;
};

struct children_options {
    const struct config *config; /* these outlive the children */
    struct sockets *sockets;
    const struct privileges *privileges;
    struct evix_loop *loop;
    struct counters *counters;
    unsigned count;
    unsigned generation; /* for the counters */
    struct error_log *error_log;
    struct children_events events;
};

struct children {
    struct children_options options; /* private, as all here */
    struct child *table;
    unsigned running;
    unsigned never_ready; /* workers that have not served yet */
    unsigned in_the_way;  /* retired ones that still accept from what passed on */
    unsigned holding;     /* retired ones that still have listeners */
    bool is_retired;
    bool is_stopping;
    struct liveness liveness;
};

/* Forks all workers. 0 or a negative errno, logged; then children_stop() ends those that run. */
CONFIG_MUST_CHECK int children_start(struct children *children,
                                     const struct children_options *options);

/* Takes note of the end of a process; false if it is none of these. */
bool children_note_end(struct children *children, pid_t pid, int status);

/*
 * To be called before the sockets are released or closed. If `is_drained`, those that are due to be
 * started again are started now: what waits in their queues would be reset, and is theirs to answer
 * before they go the way of the others.
 */
void children_leave_sockets(struct children *children, bool is_drained);

/*
 * Others have taken over: the workers finish what is in flight, and end. `sockets` of the options
 * says which of their listeners go for good (takeover.h). made_way follows, let_go,
 * all_gone.
 */
void children_retire(struct children *children);

/*
 * Sends a signal that ends workers; none is started again from now on. all_gone follows, at once
 * if none runs. Retired ones can be stopped, too.
 */
void children_stop(struct children *children, int signal_number);

/* Has the workers open their logs anew, those that just start as soon as they serve. */
void children_reopen_logs(struct children *children);

/*
 * Asks each worker for a sign of life; to be called now and then. Who has missed CHILDREN_PATIENCE
 * times in a row, or has not come to serving in that time, is killed, and replaced as after any
 * death. False if there is such a one.
 */
#define CHILDREN_PATIENCE 3
bool children_ask(struct children *children);

/* Frees everything; no worker may be running. */
void children_fini(struct children *children);

#endif
