/* SPDX-License-Identifier: MIT */
/*
 * The yardstick on epoll: edge-triggered, each descriptor registered once for its life.
 * It counts and answers nothing itself (floor.c does).
 */
#include "floor.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 512 };

static void accept_all(int poller, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
        if (fd >= FLOOR_DESCRIPTORS || epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) {
            close(fd);
            continue;
        }
        floor_reset(fd);
    }
}

/* What was not a whole buffer has drained the socket: whatever comes later makes a new edge. */
static void serve(int fd)
{
    int more;
    do {
        more = floor_serve(fd);
    } while (more > 0);
    if (more < 0)
        close(fd);
}

int floor_run_epoll(int listener)
{
    struct epoll_event events[BATCH];
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0)
        return -errno;
    for (;;) {
        int count = epoll_wait(poller, events, BATCH, -1);
        if (count < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_all(poller, listener);
            else
                serve(events[i].data.fd);
        }
    }
}
