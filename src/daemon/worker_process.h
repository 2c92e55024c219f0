/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_WORKER_PROCESS_H
#define EVIXD_DAEMON_WORKER_PROCESS_H

#include "config/config.h"
#include "daemon/privileges.h"

/* What a process needs to become a worker. */
struct worker_process {
    const struct config *config;
    const struct privileges *privileges;
    const int *listeners; /* one a config listener */
    unsigned index;
    int control_fd; /* ends with the master, however that ends: no PR_SET_PDEATHSIG is needed, whose
                       signal would come on top, and look like an order to stop at once */
    int log_fd;     /* -1: none */
    struct counters *counters;
    struct counters_slot *slot; /* NULL: none was free */
};

/*
 * Turns a process that was just forked, with all signals blocked, into a worker, and ends with it:
 * nothing of the master stays open, no signal of its handlers stays in force, its user is left.
 */
_Noreturn void worker_process_run(const struct worker_process *process);

#endif
