/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_GENERATION_H
#define EVIXD_DAEMON_GENERATION_H

/*
 * A configuration in force, and all that exists because of it: its user, its logs, its sockets,
 * its workers. A reload makes another one, which serves before this one retires; a retired one is
 * gone when its workers have finished what they had in flight.
 */

#include "daemon/children.h"
#include "daemon/error_log.h"
#include "daemon/privileges.h"
#include "daemon/sockets.h"

struct generation;

struct generation_events {
    void (*ready)(struct generation *generation);    /* every worker serves, for the first time */
    void (*failed)(struct generation *generation);   /* a worker could not start: stop the rest */
    void (*made_way)(struct generation *generation); /* after retiring: others serve alone */
    void (*let_go)(struct generation *generation);   /* after retiring: all listeners are closed */
    void (*gone)(struct generation *generation); /* after retiring or stopping: so are workers */
};

struct generation_options {
    struct evix_loop *loop;
    struct counters *counters;
    const struct generation_events *events;
    void *data;
    unsigned number; /* of the configuration, from 0 on */
};

struct generation {
    struct config *config; /* its own; read by others, as are the next three */
    struct privileges privileges;
    struct error_log error_log;
    struct sockets sockets;
    bool is_gone;
    struct generation *next; /* the owner's, as is the next */
    void *data;

    struct children children; /* private from here */
    struct evix_timer deadline;
    struct generation_options options;
};

/* Takes the configuration over, also if it fails. 0, or -ENOMEM, logged. */
CONFIG_MUST_CHECK int generation_new(struct generation **out, struct config *config,
                                     const struct generation_options *options);

/* What can be found wrong without opening anything: users, formats. 0, or logged. */
CONFIG_MUST_CHECK int generation_check(struct generation *generation);

/*
 * Opens logs and sockets, those that `before` (NULL: nothing) has from there. Nothing that is in
 * use changes. 0, or logged; generation_free() takes back what was opened.
 */
CONFIG_MUST_CHECK int generation_open(struct generation *generation, const struct sockets *before);

/* Forks the workers. 0, or logged; then generation_stop() ends those that run. */
CONFIG_MUST_CHECK int generation_start(struct generation *generation);

/*
 * To be called before its sockets are released or closed. If `is_drained`, a worker that is due to
 * be started again is started now, so that what waits in its queue is answered.
 */
void generation_leave_sockets(struct generation *generation, bool is_drained);

/* Its sockets have passed on, or go: the workers finish, at the latest after timeouts.shutdown. */
void generation_retire(struct generation *generation);

/* Sends the workers a signal that ends them. */
void generation_stop(struct generation *generation, int signal_number);

/* No worker may be running. */
void generation_free(struct generation **generation);

#endif
