/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_MASTER_STATE_H
#define EVIXD_DAEMON_MASTER_STATE_H

/* What the master consists of, for the files that share it. */

#include "daemon/activation.h"
#include "daemon/command_line.h"
#include "daemon/generation.h"
#include "daemon/inherit.h"
#include "daemon/predecessor.h"
#include "daemon/service.h"
#include "daemon/upgrade.h"
#include "server/counters.h"

#include <evix/post.h>
#include <evix/signal.h>
#include <evix/timer.h>

enum master_state {
    MASTER_STARTING, /* not every worker has served yet */
    MASTER_SERVING,
    MASTER_LEAVING,   /* another program serves; workers finish what is in flight */
    MASTER_FINISHING, /* workers finish what is in flight */
    MASTER_ENDING,    /* workers were told to stop at once */
};

/* Those that the master heeds: see master.h. */
#define MASTER_SIGNALS 7

struct master {
    const struct command *command;
    char program[PATH_MAX]; /* where the one that is installed is found */
    enum master_state state;
    int exit_code;
    struct evix_loop *loop;
    struct evix_timer deadline; /* of a stop; then workers are killed */
    uint64_t stop_told_ms;      /* when it was ordered */

    struct counters *counters;
    struct activation activation;
    struct service service;
    struct inheritance inheritance; /* from a former program, until we serve */
    struct predecessor predecessor; /* that program, from then on */
    struct upgrade upgrade;         /* to the next one */
    struct generation *generations; /* all that have workers, or are about to */
    struct generation *current;     /* serves, or is about to */
    struct generation *successor;   /* of a reload: is being started */
    struct generation *former;      /* of a reload: still has listeners */
    unsigned reloads;               /* that were tried */
    bool wants_reload;              /* as soon as none is under way */
    bool wants_upgrade;             /* likewise */
    struct evix_post settle;        /* frees what is gone, and does what waits */

    struct watched {
        struct evix_signal watcher;
        struct master *master;
    } signals[MASTER_SIGNALS];
};

#endif
