/* SPDX-License-Identifier: MIT */
/*
 * The yardstick on poll(2): the whole list goes to the kernel each time, and all of it is looked at
 * afterwards. That is the price which epoll was made to save.
 */
#include "floor.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct pollfd watched[FLOOR_DESCRIPTORS]; /* the listener first */
static nfds_t count;

static void accept_all(int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= FLOOR_DESCRIPTORS || count == FLOOR_DESCRIPTORS) {
            close(fd);
            continue;
        }
        floor_reset(fd);
        watched[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
}

/* Backwards, so that the last one can take the place of one that is closed. */
static void serve_ready(void)
{
    for (nfds_t i = count; i-- > 1;) {
        if (watched[i].revents == 0 || floor_serve(watched[i].fd) >= 0)
            continue;
        close(watched[i].fd);
        watched[i] = watched[--count];
    }
}

int floor_run_poll(int listener)
{
    watched[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    count = 1;
    for (;;) {
        int ready = poll(watched, count, -1);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready <= 0)
            continue;
        serve_ready();
        if (watched[0].revents != 0)
            accept_all(listener);
    }
}
