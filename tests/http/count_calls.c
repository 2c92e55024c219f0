/* SPDX-License-Identifier: MIT */
/*
 * Counts the system calls that the daemon makes by standing in front of the C library's functions:
 * preloaded by test_calls.py, which reads the counts from the file that EVIXD_CALLS names.
 * Does not see what liburing does, which makes its calls by itself.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the order that test_calls.py knows; master and workers share the page. */
enum call {
    RECV,
    SEND,
    SENDMSG,
    EPOLL_CTL,
    EPOLL_WAIT,
    ACCEPT4,
    CLOSE,
    READ,
    OPTION,
    SHUTDOWN,
    PREAD,
    SENDFILE,
    CALLS
};

static _Atomic unsigned long unmapped[CALLS];
static _Atomic unsigned long *counts = unmapped;

__attribute__((constructor)) static void map_counts(void)
{
    const char *path = getenv("EVIXD_CALLS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *memory = mmap(NULL, sizeof(unmapped), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED)
        counts = memory;
}

static void *count(enum call call, void **next, const char *name)
{
    atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
    if (!*next)
        *next = dlsym(RTLD_NEXT, name);
    if (!*next)
        abort();
    return *next;
}

/* Each of them: counted, then handed on to the library's own. */
#define COUNTED(call, result, name, parameters, arguments)                                         \
    result name parameters;                                                                        \
    result name parameters                                                                         \
    {                                                                                              \
        static void *next;                                                                         \
        result(*function) parameters;                                                              \
        void *found = count(call, &next, #name);                                                   \
        memcpy(&function, &found, sizeof(function));                                               \
        return function arguments;                                                                 \
    }

COUNTED(RECV, ssize_t, recv, (int fd, void *memory, size_t bytes, int flags),
        (fd, memory, bytes, flags))
COUNTED(SEND, ssize_t, send, (int fd, const void *memory, size_t bytes, int flags),
        (fd, memory, bytes, flags))
COUNTED(SENDMSG, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
        (fd, message, flags))
COUNTED(EPOLL_CTL, int, epoll_ctl, (int epoll_fd, int action, int fd, struct epoll_event *event),
        (epoll_fd, action, fd, event))
COUNTED(EPOLL_WAIT, int, epoll_wait,
        (int epoll_fd, struct epoll_event *events, int most, int timeout),
        (epoll_fd, events, most, timeout))
COUNTED(ACCEPT4, int, accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags),
        (fd, address, length, flags))
COUNTED(CLOSE, int, close, (int fd), (fd))
COUNTED(READ, ssize_t, read, (int fd, void *memory, size_t bytes), (fd, memory, bytes))
COUNTED(OPTION, int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length),
        (fd, level, name, value, length))
COUNTED(SHUTDOWN, int, shutdown, (int fd, int how), (fd, how))
COUNTED(PREAD, ssize_t, pread, (int fd, void *memory, size_t bytes, off_t offset),
        (fd, memory, bytes, offset))
COUNTED(PREAD, ssize_t, preadv2,
        (int fd, const struct iovec *iov, int pieces, off_t offset, int flags),
        (fd, iov, pieces, offset, flags))
COUNTED(SENDFILE, ssize_t, sendfile, (int to, int from, off_t *offset, size_t bytes),
        (to, from, offset, bytes))
