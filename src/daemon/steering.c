/* SPDX-License-Identifier: MIT */
/*
 * Shares new connections out among the workers that are there.
 * It decides nothing: liveness.c finds who is away, and takeover.c which sockets stay.
 * children.c, sockets.c, succession.c and takeover.c call it.
 */

#include "daemon/steering.h"

#include "daemon/tcp_socket.h"

/* NULL if none is away, or all are. */
static const bool *those_away(const struct sockets *sockets, unsigned count)
{
    unsigned away = 0;
    for (unsigned i = 0; sockets->is_away != NULL && i < count; i++)
        away += sockets->is_away[i];
    return away != 0 && away < count ? sockets->is_away : NULL;
}

int steering_apply(const struct sockets *sockets, const struct sockets_listener *listener)
{
    if (listener->is_shared || listener->fd_count == 0 || listener->fds[0] < 0)
        return 0;
    return tcp_socket_steer(listener->fds[0], listener->fd_count,
                            those_away(sockets, listener->fd_count));
}

void steering_apply_all(const struct sockets *sockets)
{
    /* A kernel that cannot do it shares out as before. */
    for (size_t i = 0; i < sockets->count; i++)
        (void)!steering_apply(sockets, &sockets->listeners[i]);
}

void steering_set_away(struct sockets *sockets, unsigned worker, bool is_away)
{
    if (sockets->is_away[worker] == is_away)
        return;
    sockets->is_away[worker] = is_away;
    steering_apply_all(sockets);
}

void steering_confine(const struct sockets *sockets, int fd, unsigned count)
{
    (void)!tcp_socket_steer(fd, count, those_away(sockets, count));
}
