/* SPDX-License-Identifier: MIT */
/*
 * Makes a worker of a fresh copy of the master.
 * It does not serve: worker_run() of the server does.
 * children.c calls it, in the new process.
 */

#include "daemon/worker_process.h"

#include "daemon/descriptors.h"
#include "daemon/exit_code.h"
#include "log/log.h"
#include "server/worker.h"

#include <evix/signal.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/*
 * The copies of the master's descriptors: while a worker held the other ends of its siblings'
 * control streams, none of them would see the master's end.
 */
static int close_inherited(const struct worker_process *process)
{
    size_t count = process->config->listen_count;
    int *keep = calloc(count + 2, sizeof(*keep));
    if (keep == NULL)
        return -ENOMEM;
    memcpy(keep, process->listeners, count * sizeof(*keep));
    keep[count] = process->control_fd;
    keep[count + 1] = process->log_fd;
    descriptors_close_others(keep, count + 2);
    free(keep);
    return 0;
}

/*
 * The master's dispositions go. What it may pass on to us, or a terminal send to all of us, is
 * ignored until the worker watches it; TERM and INT end a worker that has not come to that.
 */
static void reset_signals(void)
{
    sigset_t none;
    evix_signal_after_fork();
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void worker_process_run(const struct worker_process *process)
{
    reset_signals();
    int error = close_inherited(process);
    if (error == 0)
        error = privileges_drop(process->privileges);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "worker %u cannot start: %s", process->index, strerror(-error));
        exit(EXIT_CODE_START);
    }
    struct worker_options options = {
        .config = process->config,
        .index = process->index,
        .listeners = process->listeners,
        .listener_count = process->config->listen_count,
        .control_fd = process->control_fd,
        .counters = process->counters,
        .slot = process->slot,
    };
    exit(worker_run(&options));
}
