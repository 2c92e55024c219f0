/* SPDX-License-Identifier: MIT */
#ifndef EVIX_EPOLL_WATCH_H
#define EVIX_EPOLL_WATCH_H

/*
 * Readiness watchers on an epoll descriptor: the one of backend_epoll.c, or one that the io_uring
 * backend nests in its ring (a poll entry says when it is readable; then
 * evix__epoll_watch_collect()).
 */

#include "backend.h"

#include <sys/epoll.h>

/* An epoll descriptor; -ENOSYS, -EMFILE. */
int evix__epoll_watch_open(void);

/* The body of a backend's watch(). */
int evix__epoll_watch_change(int epoll_fd, int fd, unsigned was, unsigned wanted, uint64_t token);

/* Runs the watchers of one event. */
void evix__epoll_watch_dispatch(struct evix_loop *loop, const struct epoll_event *event);

/* For a nested one: takes what is ready, without sleeping, and runs its watchers. */
void evix__epoll_watch_collect(struct evix_loop *loop, int epoll_fd);

#endif
