/* SPDX-License-Identifier: MIT */
/*
 * Makes a worker of a fresh copy of the master.
 * It does not serve: worker_run() of the server does.
 * children.c calls it, in the new process.
 */

#include "daemon/worker_process.h"

#include "daemon/affinity.h"
#include "daemon/descriptors.h"
#include "daemon/exit_code.h"
#include "daemon/sandbox.h"
#include "log/log.h"
#include "server/worker.h"

#include <evix/signal.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/*
 * The copies of the master's descriptors: while a worker held the other ends of its siblings'
 * control streams, none of them would see the master's end.
 */
static int close_inherited(const struct worker_process *process, const int *listeners)
{
    size_t count = process->config->listen_count;
    int *keep = calloc(count + 2, sizeof(*keep));
    if (keep == NULL)
        return -ENOMEM;
    memcpy(keep, listeners, count * sizeof(*keep));
    keep[count] = process->control_fd;
    keep[count + 1] = error_log_descriptor(process->error_log);
    descriptors_close_others(keep, count + 2);
    free(keep);
    return 0;
}

/*
 * A worker that is stopped (SIGSTOP, a debugger) does not see that its control stream has ended,
 * and would hold the port for good: so the kernel wakes it when the master is gone. To one that
 * runs the signal says nothing. It has to be asked for after the change of user, which undoes it.
 */
static int wake_without_master(void)
{
    return prctl(PR_SET_PDEATHSIG, SIGCONT) == 0 ? 0 : -errno;
}

/*
 * The master's dispositions go. What it may pass on to us, or a terminal send to all of us, is
 * ignored until the worker watches it; TERM, INT and QUIT end a worker that has not come to that,
 * even those that came before this: what the master had before its watchers is SIG_DFL (signals.h).
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

/* Called when nothing is left to be set up, and before anything that a client sent is read. */
static int confine(const void *data)
{
    const struct worker_process *process = data;
    const struct config *config = process->config;
    struct sandbox_options options = {.reconnects_syslog =
                                          config->error_log.target == CONFIG_TARGET_SYSLOG};
    if (!config->seccomp)
        return 0;
    const char *absence = sandbox_absence();
    if (absence != NULL) {
        log_event(LOG_LEVEL_DEBUG, "no filter of system calls: %s", absence);
        return 0;
    }
    int error = sandbox_enter(&options);
    if (error == -ENOSYS) {
        log_event(LOG_LEVEL_WARNING, "no filter of system calls: the kernel has none");
        return 0;
    }
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot filter system calls: %s", strerror(-error));
    return error;
}

/* Without it a worker serves all the same. */
static void bind_to_cpu(const struct worker_process *process)
{
    int error = process->config->cpu_affinity ? affinity_bind(process->index) : 0;
    if (error < 0)
        log_event(LOG_LEVEL_WARNING, "worker %u cannot be bound to a CPU: %s", process->index,
                  strerror(-error));
}

static int prepare(const struct worker_process *process, const int *listeners)
{
    error_log_use(process->error_log);
    bind_to_cpu(process);
    int error = close_inherited(process, listeners);
    if (error == 0)
        error = privileges_drop(process->privileges);
    if (error == 0)
        error = wake_without_master();
    return error;
}

static int *find_listeners(const struct worker_process *process)
{
    size_t count = process->config->listen_count;
    int *listeners = calloc(count, sizeof(*listeners));
    for (size_t i = 0; listeners != NULL && i < count; i++)
        listeners[i] = sockets_descriptor(process->sockets, process->index, i);
    return listeners;
}

void worker_process_run(const struct worker_process *process)
{
    int *listeners = find_listeners(process);
    reset_signals();
    int error = listeners != NULL ? prepare(process, listeners) : -ENOMEM;
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "worker %u cannot start: %s", process->index, strerror(-error));
        exit(EXIT_CODE_START);
    }
    struct worker_options options = {
        .config = process->config,
        .index = process->index,
        .listeners = listeners,
        .listener_count = process->config->listen_count,
        .is_successor = process->is_successor,
        .control_fd = process->control_fd,
        .counters = process->counters,
        .slot = process->slot,
        .confine = confine,
        .confine_data = process,
    };
    int code = worker_run(&options);
    /* It is on its way out. A leak check at exit stops and wakes the process by signals of its own,
       which this one would get in the way of. */
    (void)prctl(PR_SET_PDEATHSIG, 0);
    free(listeners);
    exit(code);
}
