/* SPDX-License-Identifier: MIT */
/*
 * Executes the next program, and waits until it serves or fails.
 * It does not make way: succession.c does.
 * master.c and succession.c call it.
 */

#include <config.h>

#include "daemon/upgrade.h"

#include "daemon/activation.h"
#include "daemon/inherit.h"
#include "daemon/notify.h"
#include "log/log.h"

#include <evix/loop.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that has not come to serving by then does not. */
#define PATIENCE_MS 60000

#define EXIT_NOT_EXECUTED 127

int upgrade_find_program(const char *name, char out[PATH_MAX])
{
    char folder[PATH_MAX] = "";
    if (strchr(name, '/') == NULL) {
        ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
        if (length < 0)
            return -errno;
        out[length] = '\0';
        return 0;
    }
    if (name[0] != '/' && getcwd(folder, sizeof(folder)) == NULL)
        return -errno;
    int length = snprintf(out, PATH_MAX, "%s%s%s", folder, name[0] != '/' ? "/" : "", name);
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void upgrade_init(struct upgrade *upgrade, struct evix_loop *loop,
                  const struct upgrade_events *events)
{
    *upgrade = (struct upgrade){.loop = loop, .events = *events, .stream_fd = -1};
}

static void close_stream(struct upgrade *upgrade)
{
    if (upgrade->stream_fd < 0)
        return;
    evix_io_stop(&upgrade->io);
    close(upgrade->stream_fd);
    upgrade->stream_fd = -1;
}

static void end(struct upgrade *upgrade)
{
    close_stream(upgrade);
    evix_timer_stop(&upgrade->deadline);
    free(upgrade->report);
    upgrade->report = NULL;
}

/* The whole report is there: the heir serves. */
static void finish(struct upgrade *upgrade)
{
    for (size_t i = 0; i < upgrade->sockets->count; i++)
        memcpy(&upgrade->sockets->listeners[i].kept_count, upgrade->report + i * sizeof(uint32_t),
               sizeof(uint32_t));
    end(upgrade);
    upgrade->events.done(upgrade->events.data);
    upgrade->pid = 0;
}

static void on_report(struct evix_io *io, unsigned events)
{
    struct upgrade *upgrade = EVIX_CONTAINER_OF(io, struct upgrade, io);
    size_t expected = upgrade->sockets->count * sizeof(uint32_t);
    (void)events;
    ssize_t length = recv(upgrade->stream_fd, upgrade->report + upgrade->reported,
                          expected - upgrade->reported, MSG_DONTWAIT);
    if (length > 0)
        upgrade->reported += (size_t)length;
    else if (length == 0 || (errno != EAGAIN && errno != EINTR))
        close_stream(upgrade); /* it is about to end; SIGCHLD tells how it went */
    if (upgrade->reported == expected)
        finish(upgrade);
}

static void on_deadline(struct evix_timer *timer)
{
    struct upgrade *upgrade = EVIX_CONTAINER_OF(timer, struct upgrade, deadline);
    log_event(LOG_LEVEL_ERROR, "the new program (%ld) does not come to serving: killed",
              (long)upgrade->pid);
    kill(upgrade->pid, SIGKILL); /* SIGCHLD does the rest; its workers see that it is gone */
}

/* In the new process, with all signals blocked; the next program unblocks them when it is ready. */
static _Noreturn void execute(const struct upgrade *upgrade, const char *program, char **arguments,
                              int stream_fd, pid_t from)
{
    int error = inherit_prepare(upgrade->sockets, stream_fd, from);
    if (upgrade->sockets->activation != NULL)
        activation_before_exec(upgrade->sockets->activation);
    if (error == 0) {
        notify_before_exec();
        execv(program, arguments);
        error = -errno;
    }
    log_event(LOG_LEVEL_ERROR, "cannot execute %s: %s", program, strerror(-error));
    _exit(EXIT_NOT_EXECUTED);
}

static pid_t fork_program(const struct upgrade *upgrade, const char *program, char **arguments,
                          int stream_fd)
{
    pid_t self = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        execute(upgrade, program, arguments, stream_fd, self);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? -error : pid;
}

int upgrade_start(struct upgrade *upgrade, const char *program, char **arguments,
                  struct sockets *sockets)
{
    int pair[2];
    upgrade->sockets = sockets;
    upgrade->reported = 0;
    upgrade->report = malloc(sockets->count * sizeof(uint32_t));
    int error = upgrade->report == NULL ? -ENOMEM : 0;
    if (error == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        error = -errno;
    if (error < 0)
        goto free_report;
    evix_io_init(&upgrade->io, upgrade->loop, pair[0], on_report);
    evix_timer_init(&upgrade->deadline, upgrade->loop, on_deadline);
    upgrade->stream_fd = pair[0];
    error = evix_io_start(&upgrade->io, EVIX_READ);
    if (error == 0)
        error = upgrade->pid = fork_program(upgrade, program, arguments, pair[1]);
    close(pair[1]);
    if (error > 0) {
        evix_timer_start(&upgrade->deadline, PATIENCE_MS, 0);
        return 0;
    }
    upgrade->pid = 0;
    close_stream(upgrade);

free_report:
    free(upgrade->report);
    upgrade->report = NULL;
    log_event(LOG_LEVEL_ERROR, "cannot start the new program: %s", strerror(-error));
    return error;
}

bool upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status)
{
    if (pid != upgrade->pid || pid == 0)
        return false;
    upgrade->pid = 0;
    end(upgrade);
    if (WIFEXITED(status))
        log_event(LOG_LEVEL_ERROR, "the new program (%ld) exited with code %d before it served",
                  (long)pid, WEXITSTATUS(status));
    else
        log_event(LOG_LEVEL_ERROR, "the new program (%ld) was ended by signal %d (%s)", (long)pid,
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    upgrade->events.failed(upgrade->events.data);
    return true;
}

void upgrade_cancel(struct upgrade *upgrade)
{
    if (upgrade->pid == 0)
        return;
    end(upgrade);
    kill(upgrade->pid, SIGTERM);
    upgrade->pid = 0;
}
