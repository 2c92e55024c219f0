/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_WORKER_PROCESS_H
#define EVIXD_DAEMON_WORKER_PROCESS_H

#include "config/config.h"
#include "daemon/error_log.h"
#include "daemon/privileges.h"
#include "daemon/sockets.h"

/* What a process needs to become a worker. */
struct worker_process {
    const struct config *config;
    const struct privileges *privileges;
    const struct sockets *sockets;
    struct error_log *error_log;
    unsigned index;
    bool is_successor; /* of one that served */
    int control_fd;    /* ends with the master, however that ends */
    struct counters *counters;
    struct counters_slot *slot; /* NULL: none was free */
};

/*
 * Turns a process that was just forked, with all signals blocked, into a worker, and ends with it:
 * nothing of the master stays open, no signal of its handlers stays in force, its user is left.
 */
_Noreturn void worker_process_run(const struct worker_process *process);

#endif
