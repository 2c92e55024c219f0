/* SPDX-License-Identifier: MIT */
/*
 * The closing queue: sockets whose operations have ended, until their `closed` callback in the
 * last phase. A descriptor is closed here and nowhere else, when no event of the batch is left.
 * Called by users of the loop, by op.c and by loop.c.
 */
#include "backend.h"

#include <unistd.h>

/* The queue is empty or `closing_end` points into its last socket. */
void evix__socket_close_if_idle(struct evix_socket *socket)
{
    struct evix_loop *loop = socket->handle.loop;
    if ((socket->events & SOCKET_CLOSE_QUEUED) || socket->reader || socket->writer)
        return;
    socket->events |= SOCKET_CLOSE_QUEUED;
    socket->next = NULL;
    *loop->closing_end = socket;
    loop->closing_end = &socket->next;
}

/* Closing keeps the loop alive, even for a socket that did not. */
void evix_socket_close(struct evix_socket *socket, evix_socket_fn *closed)
{
    if (socket->events & SOCKET_CLOSING)
        return;
    socket->events |= SOCKET_CLOSING;
    socket->closed = closed;
    evix_ref(&socket->handle);
    handle_activate(&socket->handle);
    if (socket->reader)
        evix_cancel(socket->reader);
    if (socket->writer)
        evix_cancel(socket->writer);
    evix__socket_close_if_idle(socket);
}

static void finish_close(struct evix_loop *loop, struct evix_socket *socket)
{
    loop->backend->forget(loop, socket);
    if (socket->fd >= 0)
        close(socket->fd);
    socket->fd = -1;
    handle_stop(&socket->handle);
    if (socket->closed)
        TRACE_CALL(loop, HANDLE_SOCKET, socket->closed, socket);
}

void evix__sockets_run_closing(struct evix_loop *loop)
{
    struct evix_socket *socket = loop->closing, *next;
    loop->closing = NULL;
    loop->closing_end = &loop->closing;
    for (; socket; socket = next) {
        next = socket->next;
        finish_close(loop, socket);
    }
}

/* Whoever asked for the descriptor to be closed has given it away: it must not leak. */
void evix__closing_fini(struct evix_loop *loop)
{
    for (struct evix_socket *socket = loop->closing; socket; socket = socket->next) {
        if (socket->fd >= 0)
            close(socket->fd);
        socket->fd = -1;
        handle_stop(&socket->handle);
    }
}
