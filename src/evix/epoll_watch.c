/* SPDX-License-Identifier: MIT */
/*
 * Readiness watchers on an epoll descriptor, level-triggered.
 * Knows nothing of operations. Called by backend_epoll.c, and by the io_uring backend, whose ring
 * polls an epoll descriptor of its own for them.
 */
#include "epoll_watch.h"

#include <errno.h>

enum { COLLECT_EVENTS = 64 };

int evix__epoll_watch_open(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int evix__epoll_watch_change(int epoll_fd, int fd, unsigned was, unsigned wanted, uint64_t token)
{
    struct epoll_event event = {.data.u64 = token};
    if (wanted & EVIX_READ)
        event.events |= EPOLLIN;
    if (wanted & EVIX_WRITE)
        event.events |= EPOLLOUT;
    int action = !was ? EPOLL_CTL_ADD : !wanted ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    return epoll_ctl(epoll_fd, action, fd, &event) < 0 ? -errno : 0;
}

void evix__epoll_watch_dispatch(struct evix_loop *loop, const struct epoll_event *event)
{
    unsigned events = 0;
    if (event->events & EPOLLIN)
        events |= EVIX_READ;
    if (event->events & EPOLLOUT)
        events |= EVIX_WRITE;
    if (event->events & (EPOLLERR | EPOLLHUP))
        events |= EVIX_READ | EVIX_WRITE | EVIX_HANGUP;
    evix__io_dispatch(loop, event->data.u64, events);
}

void evix__epoll_watch_collect(struct evix_loop *loop, int epoll_fd)
{
    struct epoll_event events[COLLECT_EVENTS];
    int count = epoll_wait(epoll_fd, events, COLLECT_EVENTS, 0);
    for (int i = 0; i < count; i++)
        evix__epoll_watch_dispatch(loop, &events[i]);
}
