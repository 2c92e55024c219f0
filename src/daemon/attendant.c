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

/* Whoever is not there any more need not know. */
static void tell(int fd, int number)
{
    (void)!send(fd, &number, sizeof(number), MSG_NOSIGNAL);
}

/*
 * In the process between: it waits, and holds nothing open that another process might wait for the
 * end of. No signal but KILL reaches it; who stops a whole group of processes stops the program.
 */
static _Noreturn void attend(int fd, pid_t program)
{
    int status = 0;
    tell(fd, program > 0 ? (int)program : -errno);
    descriptors_close_others(&fd, 1);
    while (program > 0 && waitpid(program, &status, 0) < 0 && errno == EINTR) {
    }
    tell(fd, status);
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
        become(data);
        _exit(EXIT_FAILURE);
    }
    attend(fd, program);
}

static int hear(int fd, int flags, int *number)
{
    ssize_t length;
    do {
        length = recv(fd, number, sizeof(*number), flags);
    } while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof(*number) ? 0 : -ESRCH;
}

int attendant_start(struct attendant *attendant, void (*become)(const void *data), const void *data)
{
    int pair[2], number = 0;
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int error = attendant->pid = fork_both(pair[1], become, data);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (error > 0)
        error = hear(pair[0], 0, &number);
    if (error == 0 && number > 0) {
        attendant->program = (pid_t)number;
        attendant->stream_fd = pair[0];
        return 0;
    }
    close(pair[0]);
    attendant->pid = 0; /* if it was there, it ends */
    return error < 0 ? error : number;
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
    attendant->pid = 0;
    attendant->has_ended = hear(attendant->stream_fd, MSG_DONTWAIT, status) == 0;
    return true;
}

void attendant_fini(struct attendant *attendant)
{
    if (attendant->stream_fd >= 0)
        close(attendant->stream_fd);
    attendant_init(attendant);
}
