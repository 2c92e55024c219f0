/* SPDX-License-Identifier: MIT */
/*
 * The descriptor that wakes a sleeping loop: an eventfd, or a pipe where there is none.
 * Does not know why a loop is woken: async.c and signal.c do.
 * Called by them, and by loop.c.
 */
#include "platform.h"

#include <errno.h>
#include <unistd.h>
#ifdef HAVE_SYS_EVENTFD_H
#include <sys/eventfd.h>
#endif

static int open_descriptors(int fds[2])
{
#ifdef HAVE_SYS_EVENTFD_H
    fds[0] = fds[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fds[0] < 0 ? -errno : 0;
#else
    return evix__platform_pipe(fds) < 0 ? -errno : 0;
#endif
}

void evix__pipe_drain(int fd)
{
    char bytes[256];
    ssize_t count;
    do
        count = read(fd, bytes, sizeof(bytes));
    while (count == (ssize_t)sizeof(bytes) || (count < 0 && errno == EINTR));
}

/* Emptied first: what is sent from here on wakes the loop anew. */
static void on_wake(struct evix_io *io, unsigned events)
{
    (void)events;
    evix__pipe_drain(io->fd);
    io->handle.loop->counters.wakeups++;
    evix__asyncs_run(io->handle.loop);
}

int evix__wake_open(struct evix_loop *loop)
{
    int fds[2];
    int error = open_descriptors(fds);
    if (error < 0)
        return error;
    loop->wake.read_fd = fds[0];
    loop->wake.write_fd = fds[1];
    evix_io_init(&loop->wake.io, loop, fds[0], on_wake);
    loop->wake.io.handle.kind = HANDLE_INTERNAL;
    evix_unref(&loop->wake.io.handle);
    error = evix_io_start(&loop->wake.io, EVIX_READ);
    if (error < 0)
        evix__wake_close(loop);
    return error;
}

/* The watcher is not stopped: a child that frees its parent's loop shares the kernel's table. */
void evix__wake_close(struct evix_loop *loop)
{
    close(loop->wake.read_fd);
    if (loop->wake.write_fd != loop->wake.read_fd)
        close(loop->wake.write_fd);
}

/* A full pipe or counter is no loss: the loop has a wake-up to read then. */
void evix__loop_wake(struct evix_loop *loop)
{
    static const uint64_t one = 1;
    int saved = errno;
    ssize_t count;
    do
        count = write(loop->wake.write_fd, &one, sizeof(one));
    while (count < 0 && errno == EINTR);
    errno = saved;
}
