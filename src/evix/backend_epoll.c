/* SPDX-License-Identifier: MIT */
/*
 * epoll: one edge-triggered registration a socket, made when an operation first has to wait.
 * Only registers and waits: ready.c does the operations, io.c the watchers.
 * Called through the table by loop.c, op.c, ready.c, close.c and io.c.
 */
#include "epoll_watch.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENTS = 512 };

struct epoll_state {
    int fd;
    int count; /* events that wait() found */
    struct epoll_event events[EVENTS];
};

static int epoll_open(struct evix_loop *loop, const struct evix_options *options)
{
    (void)options;
    struct epoll_state *state = malloc(sizeof(*state));
    if (!state)
        return -ENOMEM;
    state->fd = evix__epoll_watch_open();
    if (state->fd < 0) {
        int error = state->fd;
        free(state);
        return error;
    }
    state->count = 0;
    loop->backend_data = state;
    return 0;
}

static void epoll_close(struct evix_loop *loop)
{
    struct epoll_state *state = loop->backend_data;
    close(state->fd);
    free(state);
}

/* Adding reports at once what is ready already, so nothing is lost before. */
static int epoll_arm(struct evix_loop *loop, struct evix_socket *socket)
{
    struct epoll_state *state = loop->backend_data;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = socket};
    assert(!(event.data.u64 & IO_TOKEN_BIT));
    if (epoll_ctl(state->fd, EPOLL_CTL_ADD, socket->fd, &event) < 0)
        return -errno;
    socket->events |= SOCKET_REGISTERED;
    return 0;
}

/*
 * Closing is not enough: while a child or another process has the same open socket (a listener that
 * a parent keeps), the kernel would go on reporting it under the address of freed memory.
 */
static void epoll_forget(struct evix_loop *loop, struct evix_socket *socket)
{
    struct epoll_state *state = loop->backend_data;
    if (!(socket->events & SOCKET_REGISTERED))
        return;
    struct epoll_event event = {0};
    epoll_ctl(state->fd, EPOLL_CTL_DEL, socket->fd, &event);
}

static int epoll_watch(struct evix_loop *loop, int fd, unsigned was, unsigned wanted,
                       uint64_t token)
{
    struct epoll_state *state = loop->backend_data;
    return evix__epoll_watch_change(state->fd, fd, was, wanted, token);
}

/* Rounded up: waking before the deadline would only turn the loop in vain. */
static int to_ms(uint64_t timeout_ns)
{
    if (timeout_ns == BACKEND_FOREVER)
        return -1;
    uint64_t ms = timeout_ns / 1000000u + (timeout_ns % 1000000u != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static int epoll_backend_wait(struct evix_loop *loop, uint64_t timeout_ns)
{
    struct epoll_state *state = loop->backend_data;
    int count = epoll_wait(state->fd, state->events, EVENTS, to_ms(timeout_ns));
    state->count = count > 0 ? count : 0;
    return count < 0 ? -errno : count;
}

static void dispatch_socket(struct evix_loop *loop, const struct epoll_event *event)
{
    unsigned events = 0;
    if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        events |= EVIX_READ;
    if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        events |= EVIX_WRITE;
    if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        events |= EVIX_HANGUP;
    evix__ready_event(loop, event->data.ptr, events);
}

/* No socket goes away within the batch: close.c sees to that. Watchers may; io.c sees to them. */
static void epoll_dispatch(struct evix_loop *loop)
{
    struct epoll_state *state = loop->backend_data;
    int count = state->count;
    state->count = 0;
    if (loop->ready.retry.first)
        evix__ready_run_retries(loop);
    for (int i = 0; i < count; i++) {
        const struct epoll_event *event = &state->events[i];
        if (event->data.u64 & IO_TOKEN_BIT)
            evix__epoll_watch_dispatch(loop, event);
        else
            dispatch_socket(loop, event);
        if ((i + 1) % DISPATCH_STRIDE == 0)
            evix__ops_submit_early(loop);
    }
}

const struct backend evix__backend_epoll = {
    .id = EVIX_BACKEND_EPOLL,
    .name = "epoll",
    .capabilities = BACKEND_SOCKETS | BACKEND_READY | BACKEND_EDGE,
    .open = epoll_open,
    .close = epoll_close,
    .submit = evix__ready_submit,
    .cancel = evix__ready_cancel,
    .await_room = evix__ready_await_room,
    .push = evix__ready_push,
    .forget = epoll_forget,
    .wait = epoll_backend_wait,
    .dispatch = epoll_dispatch,
    .watch = epoll_watch,
    .arm = epoll_arm,
};
