/* SPDX-License-Identifier: MIT */
/*
 * Starts a program with a process in between, which waits for it until it is dismissed.
 * It knows neither the program nor when it needs nobody any more.
 * upgrade.c calls it.
 */

#include "daemon/attendant.h"

#include "daemon/descriptors.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void attendant_init(struct attendant *attendant)
{
    *attendant = (struct attendant){.stream_fd = -1};
}

/* What the two new processes tell us, in this order. */
struct word {
    enum { PROGRAM_IS, PROGRAM_CANNOT_BE, PROGRAM_ENDED } what;
    int number; /* the process, a negative errno, a status */
};

/* Whoever is not there any more need not know. */
static void tell(int fd, struct word word)
{
    (void)!send(fd, &word, sizeof(word), MSG_NOSIGNAL);
}

/*
 * In the process between: it waits, and holds nothing open that another process might wait for the
 * end of. No signal but KILL reaches it; who stops a whole group of processes stops the program.
 */
static _Noreturn void attend(int fd, pid_t program)
{
    int status = 0;
    descriptors_close_others(&fd, 1);
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
    }
    tell(fd, (struct word){PROGRAM_ENDED, status});
    _exit(EXIT_SUCCESS);
}

static pid_t fork_both(int fd, void (*become)(const void *data), const void *data)
{
    pid_t self = getpid();
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0 ? -errno : pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* without us it has nothing to wait for */
    if (getppid() != self)
        _exit(EXIT_FAILURE);
    pid_t program = fork();
    if (program == 0) {
        /* By itself, so that it never runs without being known. */
        tell(fd, (struct word){PROGRAM_IS, (int)getpid()});
        become(data);
        _exit(EXIT_FAILURE);
    }
    if (program < 0) {
        tell(fd, (struct word){PROGRAM_CANNOT_BE, -errno});
        _exit(EXIT_FAILURE);
    }
    attend(fd, program);
}

static int hear(int fd, int flags, struct word *word)
{
    ssize_t length;
    do {
        length = recv(fd, word, sizeof(*word), flags);
    } while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof(*word) ? 0 : -ESRCH;
}

static int hear_program(int fd, pid_t *program)
{
    struct word word;
    int error = hear(fd, 0, &word);
    if (error < 0)
        return error;
    *program = (pid_t)word.number;
    return word.what == PROGRAM_IS ? 0 : word.what == PROGRAM_CANNOT_BE ? word.number : -ESRCH;
}

int attendant_start(struct attendant *attendant, void (*become)(const void *data), const void *data)
{
    int pair[2];
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int error = attendant->pid = fork_both(pair[1], become, data);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (error > 0)
        error = hear_program(pair[0], &attendant->program);
    if (error == 0) {
        attendant->stream_fd = pair[0];
        return 0;
    }
    close(pair[0]);
    attendant->pid = 0; /* if it was there, it ends */
    return error;
}

void attendant_dismiss(const struct attendant *attendant)
{
    if (attendant->pid > 0)
        kill(attendant->pid, SIGKILL);
}

bool attendant_note_end(struct attendant *attendant, pid_t pid, int *status)
{
    if (pid != attendant->pid || pid == 0)
        return false;
    struct word word;
    attendant->pid = 0;
    attendant->has_ended =
        hear(attendant->stream_fd, MSG_DONTWAIT, &word) == 0 && word.what == PROGRAM_ENDED;
    if (attendant->has_ended)
        *status = word.number;
    return true;
}

void attendant_fini(struct attendant *attendant)
{
    if (attendant->stream_fd >= 0)
        close(attendant->stream_fd);
    attendant_init(attendant);
}
