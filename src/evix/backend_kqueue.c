/* SPDX-License-Identifier: MIT */
/*
 * kqueue (BSD, macOS): a read and a write filter a socket, EV_CLEAR for its life.
 * Only registers and waits: ready.c does the operations, io.c the watchers.
 * Called through the table by loop.c, op.c, ready.c, close.c and io.c. Empty without kqueue.
 */
#include "backend.h"

#ifdef HAVE_SYS_EVENT_H

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/event.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { EVENTS = 512 };

static_assert(sizeof(void *) >= sizeof(uint64_t), "a watcher's token must fit udata");

struct kqueue_state {
    int fd;
    int count; /* events that wait() found */
    struct kevent events[EVENTS];
};

static int kqueue_open(struct evix_loop *loop, const struct evix_options *options)
{
    (void)options;
    struct kqueue_state *state = malloc(sizeof(*state));
    if (!state)
        return -ENOMEM;
    state->count = 0;
    state->fd = kqueue();
    if (state->fd < 0) {
        int error = -errno;
        free(state);
        return error;
    }
    fcntl(state->fd, F_SETFD, FD_CLOEXEC);
    loop->backend_data = state;
    return 0;
}

static void kqueue_close(struct evix_loop *loop)
{
    struct kqueue_state *state = loop->backend_data;
    close(state->fd);
    free(state);
}

static int change(int kqueue_fd, int fd, int filter, unsigned flags, uint64_t owner)
{
    struct kevent event;
    EV_SET(&event, fd, (short)filter, (unsigned short)flags, 0, 0, (void *)(uintptr_t)owner);
    return kevent(kqueue_fd, &event, 1, NULL, 0, NULL) < 0 ? -errno : 0;
}

/* A listener has no write side on some systems: then the read filter alone will do. */
static int kqueue_arm(struct evix_loop *loop, struct evix_socket *socket)
{
    struct kqueue_state *state = loop->backend_data;
    uint64_t owner = (uintptr_t)socket;
    int error = change(state->fd, socket->fd, EVFILT_READ, EV_ADD | EV_CLEAR, owner);
    if (error < 0)
        return error;
    error = change(state->fd, socket->fd, EVFILT_WRITE, EV_ADD | EV_CLEAR, owner);
    if (error < 0 && socket->writer)
        return error;
    socket->events |= SOCKET_REGISTERED;
    return 0;
}

/* A kqueue is not inherited by a child: closing the descriptor would be enough, but for dup(2). */
static void kqueue_forget(struct evix_loop *loop, struct evix_socket *socket)
{
    struct kqueue_state *state = loop->backend_data;
    if (!(socket->events & SOCKET_REGISTERED))
        return;
    change(state->fd, socket->fd, EVFILT_READ, EV_DELETE, 0);
    change(state->fd, socket->fd, EVFILT_WRITE, EV_DELETE, 0);
}

/* kqueue takes regular files where epoll refuses them: the answer is the same on both. */
static int check_descriptor(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? -EPERM : 0;
}

static int kqueue_watch(struct evix_loop *loop, int fd, unsigned was, unsigned wanted,
                        uint64_t token)
{
    static const struct {
        unsigned event;
        int filter;
    } sides[] = {{EVIX_READ, EVFILT_READ}, {EVIX_WRITE, EVFILT_WRITE}};
    struct kqueue_state *state = loop->backend_data;
    int error = was ? 0 : check_descriptor(fd);
    for (int i = 0; i < 2 && error == 0; i++) {
        if ((was ^ wanted) & sides[i].event)
            error = change(state->fd, fd, sides[i].filter,
                           wanted & sides[i].event ? EV_ADD : EV_DELETE, token);
    }
    if (error < 0 && !was) /* the read filter may be in already */
        change(state->fd, fd, EVFILT_READ, EV_DELETE, token);
    return wanted ? error : 0;
}

static int kqueue_wait(struct evix_loop *loop, uint64_t timeout_ns)
{
    struct kqueue_state *state = loop->backend_data;
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                               .tv_nsec = (long)(timeout_ns % 1000000000u)};
    if (timeout.tv_sec > 1000000)
        timeout.tv_sec = 1000000; /* some systems refuse more; the loop only turns once more */
    int count = kevent(state->fd, NULL, 0, state->events, EVENTS,
                       timeout_ns == BACKEND_FOREVER ? NULL : &timeout);
    state->count = count > 0 ? count : 0;
    return count < 0 ? -errno : count;
}

static void dispatch_one(struct evix_loop *loop, const struct kevent *event)
{
    uint64_t owner = (uintptr_t)event->udata;
    unsigned events = event->filter == EVFILT_WRITE ? EVIX_WRITE : EVIX_READ;
    if (event->flags & (EV_EOF | EV_ERROR))
        events |= EVIX_HANGUP;
    if (owner & IO_TOKEN_BIT)
        evix__io_dispatch(loop, owner, events);
    else
        evix__ready_event(loop, (struct evix_socket *)(uintptr_t)owner, events);
}

static void kqueue_dispatch(struct evix_loop *loop)
{
    struct kqueue_state *state = loop->backend_data;
    int count = state->count;
    state->count = 0;
    if (loop->ready.retry.first)
        evix__ready_run_retries(loop);
    for (int i = 0; i < count; i++) {
        dispatch_one(loop, &state->events[i]);
        if ((i + 1) % DISPATCH_STRIDE == 0)
            evix__ops_submit_early(loop);
    }
}

const struct backend evix__backend_kqueue = {
    .id = EVIX_BACKEND_KQUEUE,
    .name = "kqueue",
    .capabilities = BACKEND_SOCKETS | BACKEND_READY | BACKEND_EDGE,
    .open = kqueue_open,
    .close = kqueue_close,
    .submit = evix__ready_submit,
    .cancel = evix__ready_cancel,
    .await_room = evix__ready_await_room,
    .push = evix__ready_push,
    .forget = kqueue_forget,
    .wait = kqueue_wait,
    .dispatch = kqueue_dispatch,
    .watch = kqueue_watch,
    .arm = kqueue_arm,
};

#else

/* A file must hold something. */
typedef int backend_kqueue_is_absent;

#endif
