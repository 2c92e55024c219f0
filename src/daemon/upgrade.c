/* SPDX-License-Identifier: MIT */
/*
 * Executes the next program, and waits until it serves or fails.
 * It does not make way: succession.c does.
 * master.c and succession.c call it.
 */

#include "daemon/upgrade.h"

#include "daemon/activation.h"
#include "daemon/inherit.h"
#include "daemon/notify.h"
#include "daemon/takeover.h"
#include "log/log.h"

#include <evix/loop.h>

#include <errno.h>
#include <fcntl.h>
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
    if (length < PATH_MAX)
        return 0;
    out[0] = '\0';
    return -ENAMETOOLONG;
}

void upgrade_init(struct upgrade *upgrade, struct evix_loop *loop,
                  const struct upgrade_events *events)
{
    *upgrade = (struct upgrade){.loop = loop, .events = *events, .stream_fd = -1};
    attendant_init(&upgrade->attendant);
    complaints_init(&upgrade->complaints);
}

static void stop_listening(struct upgrade *upgrade)
{
    evix_io_stop(&upgrade->io);
    evix_timer_stop(&upgrade->deadline);
}

/* The whole report is there. Who takes the heir for a child is now to be somebody who stays. */
static void note_report(struct upgrade *upgrade)
{
    stop_listening(upgrade);
    upgrade->is_reported = true;
    for (size_t i = 0; i < upgrade->sockets->count; i++)
        takeover_note_kept(upgrade->sockets, i, upgrade->report[i]);
    attendant_dismiss(&upgrade->attendant);
}

static void read_report(struct upgrade *upgrade)
{
    size_t expected = upgrade->sockets->count * sizeof(*upgrade->report);
    unsigned char *report = (unsigned char *)upgrade->report;
    ssize_t length = recv(upgrade->stream_fd, report + upgrade->reported,
                          expected - upgrade->reported, MSG_DONTWAIT);
    if (length > 0)
        upgrade->reported += (size_t)length;
    else if (length == 0 || (errno != EAGAIN && errno != EINTR))
        evix_io_stop(&upgrade->io); /* it is about to end; SIGCHLD tells how it went */
    if (upgrade->reported == expected)
        note_report(upgrade);
}

static void on_report(struct evix_io *io, unsigned events)
{
    (void)events;
    read_report(EVIX_CONTAINER_OF(io, struct upgrade, io));
}

static void on_deadline(struct evix_timer *timer)
{
    struct upgrade *upgrade = EVIX_CONTAINER_OF(timer, struct upgrade, deadline);
    log_event(LOG_LEVEL_ERROR, "the new program (%ld) does not come to serving: killed",
              (long)upgrade->attendant.program);
    kill(upgrade->attendant.program, SIGKILL); /* its workers see that it is gone */
}

/* What a new process needs to know. */
struct plan {
    const struct upgrade *upgrade;
    const char *program;
    char **arguments;
    int stream_fd;
    int complaints_fd; /* what its standard error is to be; -1: what ours is */
    pid_t from;
};

/* Sets *former_fd to what standard error was, which the next program puts back. */
static int redirect_stderr(int complaints_fd, int *former_fd)
{
    *former_fd = -1;
    if (complaints_fd < 0)
        return 0;
    *former_fd = fcntl(STDERR_FILENO, F_DUPFD, STDERR_FILENO + 1);
    if (*former_fd < 0 || dup2(complaints_fd, STDERR_FILENO) < 0)
        return -errno;
    return 0;
}

/* In the new process, with all signals blocked; the next program unblocks them when it is ready. */
static void execute(const void *data)
{
    const struct plan *plan = data;
    const struct sockets *sockets = plan->upgrade->sockets;
    int former_stderr_fd;
    int error = redirect_stderr(plan->complaints_fd, &former_stderr_fd);
    if (error == 0)
        error = inherit_prepare(sockets, plan->stream_fd, plan->from, former_stderr_fd);
    if (sockets->activation != NULL)
        activation_before_exec(sockets->activation);
    if (error == 0) {
        notify_before_exec();
        execv(plan->program, plan->arguments);
        error = -errno;
    }
    log_event(LOG_LEVEL_ERROR, "cannot execute %s: %s", plan->program, strerror(-error));
    _exit(EXIT_NOT_EXECUTED);
}

static void clear(struct upgrade *upgrade)
{
    attendant_fini(&upgrade->attendant);
    complaints_close(&upgrade->complaints);
    if (upgrade->stream_fd >= 0)
        close(upgrade->stream_fd);
    upgrade->stream_fd = -1;
    free(upgrade->report);
    upgrade->report = NULL;
    upgrade->is_under_way = false;
}

static int start(struct upgrade *upgrade, const char *program, char **arguments, int complaints_fd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    upgrade->stream_fd = pair[0];
    evix_io_init(&upgrade->io, upgrade->loop, pair[0], on_report);
    evix_timer_init(&upgrade->deadline, upgrade->loop, on_deadline);
    int error = evix_io_start(&upgrade->io, EVIX_READ);
    if (error == 0) {
        struct plan plan = {upgrade, program, arguments, pair[1], complaints_fd, getpid()};
        error = attendant_start(&upgrade->attendant, execute, &plan);
    }
    close(pair[1]);
    if (error == 0)
        evix_timer_start(&upgrade->deadline, PATIENCE_MS, 0);
    else
        stop_listening(upgrade);
    return error;
}

int upgrade_start(struct upgrade *upgrade, const char *program, char **arguments,
                  struct sockets *sockets, bool is_log_stderr)
{
    int complaints_fd = -1;
    upgrade->sockets = sockets;
    upgrade->reported = 0;
    upgrade->is_reported = false;
    upgrade->is_under_way = true;
    upgrade->report = malloc(sockets->count * sizeof(*upgrade->report));
    int error = upgrade->report != NULL ? 0 : -ENOMEM;
    if (error == 0 && !is_log_stderr)
        error = complaints_open(&upgrade->complaints, upgrade->loop, &complaints_fd);
    if (error == 0)
        error = start(upgrade, program, arguments, complaints_fd);
    if (complaints_fd >= 0)
        close(complaints_fd);
    if (error == 0)
        return 0;
    clear(upgrade);
    log_event(LOG_LEVEL_ERROR, "cannot start the new program: %s", strerror(-error));
    return error;
}

/* `status` is the program's, or that of its attendant, without which we would not see its end. */
static void fail(struct upgrade *upgrade, int status)
{
    pid_t program = upgrade->attendant.program;
    if (!upgrade->attendant.has_ended)
        kill(program, SIGKILL);
    stop_listening(upgrade);
    clear(upgrade);
    if (WIFEXITED(status))
        log_event(LOG_LEVEL_ERROR, "the new program (%ld) exited with code %d before it served",
                  (long)program, WEXITSTATUS(status));
    else
        log_event(LOG_LEVEL_ERROR, "the new program (%ld) was ended by signal %d (%s)",
                  (long)program, WTERMSIG(status), strsignal(WTERMSIG(status)));
    upgrade->events.failed(upgrade->events.data);
}

bool upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status)
{
    if (!attendant_note_end(&upgrade->attendant, pid, &status))
        return false;
    if (upgrade->is_reported) {
        upgrade->is_under_way = false;
        upgrade->events.done(upgrade->events.data);
    } else {
        fail(upgrade, status);
    }
    return true;
}

/* If it has gone meanwhile, nobody has to be told. */
void upgrade_introduce(const struct upgrade *upgrade)
{
    char word = INHERIT_INTRODUCED;
    (void)!send(upgrade->stream_fd, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Where we have closed the stream, or it has: nobody of that number need be the one we knew. */
static bool is_there(const struct upgrade *upgrade)
{
    char word;
    if (upgrade->stream_fd < 0 || upgrade->attendant.has_ended)
        return false;
    return recv(upgrade->stream_fd, &word, sizeof(word), MSG_PEEK | MSG_DONTWAIT) != 0;
}

bool upgrade_pass_on(const struct upgrade *upgrade, int signal_number)
{
    return is_there(upgrade) && kill(upgrade->attendant.program, signal_number) == 0;
}

void upgrade_cancel(struct upgrade *upgrade)
{
    if (!upgrade->is_under_way)
        return;
    if (!upgrade->is_reported)
        read_report(upgrade); /* which may just have come */
    stop_listening(upgrade);
    if (!upgrade->is_reported)
        upgrade->killed = upgrade->attendant.program;
    kill(upgrade->attendant.program, upgrade->is_reported ? SIGTERM : SIGKILL);
    attendant_dismiss(&upgrade->attendant);
    clear(upgrade);
}

void upgrade_fini(struct upgrade *upgrade)
{
    upgrade_cancel(upgrade);
    clear(upgrade);
}
