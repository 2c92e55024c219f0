/* SPDX-License-Identifier: MIT */
#ifndef EVIX_URING_OPEN_H
#define EVIX_URING_OPEN_H

/* Making a ring with the best set-up that the kernel has. Closed with io_uring_queue_exit(). */

#include <liburing.h>

/* How it will be noticed that a ring has completions. */
enum uring_use {
    URING_WAITED_FOR, /* its own thread enters it and waits */
    URING_POLLED,     /* its descriptor is watched, by poll(2), epoll(7) or the like */
};

/*
 * Makes a ring with room for `entries` submissions and `completions` completions. It is disabled:
 * evix__uring_start() starts it, in the thread that will use it, which need not be this one.
 * -ENOSYS: the kernel has no io_uring (or none that we can use); -EPERM: it is forbidden;
 * -ENOMEM: RLIMIT_MEMLOCK (kernels before 5.12) or memory; others as io_uring_setup(2) has them.
 */
int evix__uring_open(struct io_uring *ring, enum uring_use use, unsigned entries,
                     unsigned completions);

/* To be called before the first submission; binds the ring to the calling thread. */
int evix__uring_start(struct io_uring *ring);

#endif
