/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_STEERING_H
#define EVIXD_DAEMON_STEERING_H

/*
 * Which workers of a table of sockets get new connections. Each has its share, but one that is away
 * (stuck, or dead again and again): its share goes to the others until it is back. Where all are
 * away, each has its share again, since somebody has to have it. What waits in the queue of one
 * that is away stays there, for it or its successor.
 *
 * This is about addresses where each worker has a socket of its own. A shared one, a unix socket or
 * the service manager's, needs none of it: whichever worker is there accepts.
 */

#include "daemon/sockets.h"

/* Takes note, and has the kernel do so on every listener. */
void steering_set_away(struct sockets *sockets, unsigned worker, bool is_away);

/* Has the kernel do what the table says, on one listener. 0, or a negative errno. */
CONFIG_MUST_CHECK int steering_apply(const struct sockets *sockets,
                                     const struct sockets_listener *listener);

/* The same on all, where others may have changed it since. */
void steering_apply_all(const struct sockets *sockets);

/*
 * Sockets are about to be added to the group of `fd`, of whose first `count` the table `sockets` is
 * the owner: they are to get nothing yet.
 */
void steering_confine(const struct sockets *sockets, int fd, unsigned count);

#endif
