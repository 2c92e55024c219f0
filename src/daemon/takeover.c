/* SPDX-License-Identifier: MIT */
/*
 * Passes listening sockets from one table to the next, and keeps clients from those that go.
 * It opens none (sockets.c), and closes none under a worker: workers drain what goes.
 * master.c calls it when the next workers serve.
 */

#include "daemon/takeover.h"

#include "daemon/steering.h"
#include "daemon/tcp_socket.h"
#include "daemon/unix_socket.h"

#include <stdlib.h>
#include <string.h>

static bool is_successor(const struct sockets_listener *listener,
                         const struct sockets_listener *former)
{
    return listener->is_inherited && listener->v6_only == former->v6_only &&
           listener->bound_length == former->bound_length &&
           memcmp(&listener->bound, &former->bound, former->bound_length) == 0;
}

static const struct sockets_listener *find_successor(const struct sockets *sockets,
                                                     const struct sockets_listener *former)
{
    for (size_t i = 0; i < sockets->count; i++) {
        if (is_successor(&sockets->listeners[i], former))
            return &sockets->listeners[i];
    }
    return NULL;
}

/* The address is gone: no new connection begins there. */
static void end_address(struct sockets_listener *former)
{
    if (former->is_activated)
        return; /* nor do we end what is not ours */
    if (former->bound.ss_family == AF_UNIX) {
        unix_socket_remove(&former->bound, former->device, former->inode);
        return;
    }
    for (unsigned i = 0; i < former->fd_count; i++) {
        tcp_socket_admit_silent(former->fds[i]);
        (void)!tcp_socket_refuse(former->fds[i]); /* else some come late, and may be reset */
    }
}

/*
 * Fewer sockets, or more, or as many, of which the former workers may have been kept from some:
 * new connections go to all of those that are, and to no other.
 */
static void share_out(const struct sockets *sockets, const struct sockets_listener *listener,
                      const struct sockets_listener *former)
{
    if (listener->is_shared)
        return;
    for (unsigned i = listener->fd_count; i < former->fd_count; i++)
        tcp_socket_admit_silent(former->fds[i]);
    if (steering_apply(sockets, listener) == 0)
        return;
    for (unsigned i = listener->fd_count; i < former->fd_count; i++)
        (void)!tcp_socket_refuse(former->fds[i]); /* its clients ask again, and reach others */
}

static void pass_on(const struct sockets *sockets, struct sockets_listener *former)
{
    const struct sockets_listener *listener = find_successor(sockets, former);
    if (listener == NULL) {
        end_address(former);
        return;
    }
    former->kept_count =
        listener->fd_count < former->fd_count ? listener->fd_count : former->fd_count;
    share_out(sockets, listener, former);
}

void takeover_commit(struct sockets *sockets, struct sockets *former)
{
    for (size_t i = 0; i < former->count; i++)
        pass_on(sockets, &former->listeners[i]);
    for (size_t i = 0; i < sockets->count; i++) {
        struct sockets_listener *listener = &sockets->listeners[i];
        /* listen(2) on a socket that listens sets the length of its queue, and nothing else. */
        for (unsigned k = 0; listener->is_inherited && k < listener->fd_count; k++)
            (void)listen(listener->fds[k], (int)sockets->config->listen[i].backlog);
        listener->is_inherited = false;
    }
    sockets_release(former);
}

void takeover_note_kept(struct sockets *former, size_t listener, unsigned count)
{
    former->listeners[listener].kept_count = count;
}

bool takeover_leaves(const struct sockets *former, unsigned worker, size_t index)
{
    const struct sockets_listener *listener = &former->listeners[index];
    return listener->is_shared ? listener->kept_count == 0 : worker >= listener->kept_count;
}
