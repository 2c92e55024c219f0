/* SPDX-License-Identifier: MIT */
/*
 * The few system calls that differ between systems.
 * Does not retry, park or decide anything.
 * Called by accept.c, ready.c, uring_op.c, wake.c, signal.c and op.c.
 */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
#ifdef __linux__
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#endif

#if !defined(HAVE_ACCEPT4) || !defined(HAVE_PIPE2)
static int set_flags(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return -1;
    return 0;
}
#endif

int evix__platform_accept(int fd)
{
#ifdef HAVE_ACCEPT4
    return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    int accepted = accept(fd, NULL, NULL);
    if (accepted >= 0 && set_flags(accepted) < 0) {
        close(accepted);
        errno = EPROTO; /* this connection's trouble alone */
        return -1;
    }
    return accepted;
#endif
}

int evix__platform_backlog(int fd)
{
#ifdef __linux__
    struct tcp_info info; /* a listener's: tcpi_unacked is what waits to be accepted */
    socklen_t length = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
        length > offsetof(struct tcp_info, tcpi_unacked) && info.tcpi_state == TCP_LISTEN)
        return (int)info.tcpi_unacked;
#else
    (void)fd;
#endif
    return -1;
}

#ifdef __linux__
ssize_t evix__platform_send_file(int socket, int file, int64_t offset, size_t bytes)
{
    off_t from = offset;
    return sendfile(socket, file, &from, bytes);
}
#else
/* sendfile(2) has a different shape on each BSD: a copy through the stack is the same on all. */
ssize_t evix__platform_send_file(int socket, int file, int64_t offset, size_t bytes)
{
    char buffer[16384];
    ssize_t count = pread(file, buffer, bytes < sizeof(buffer) ? bytes : sizeof(buffer), offset);
    return count > 0 ? send(socket, buffer, (size_t)count, MSG_NOSIGNAL) : count;
}
#endif

void evix__platform_quiet_socket(int fd)
{
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#else
    (void)fd;
#endif
}

int evix__platform_pipe(int fds[2])
{
#ifdef HAVE_PIPE2
    return pipe2(fds, O_NONBLOCK | O_CLOEXEC);
#else
    if (pipe(fds) < 0)
        return -1;
    if (set_flags(fds[0]) == 0 && set_flags(fds[1]) == 0)
        return 0;
    int error = errno;
    close(fds[0]);
    close(fds[1]);
    errno = error;
    return -1;
#endif
}
