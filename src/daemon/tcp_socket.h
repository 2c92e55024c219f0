/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_TCP_SOCKET_H
#define EVIXD_DAEMON_TCP_SOCKET_H

/*
 * Listening TCP sockets. Those of one address form a group of the kernel's (SO_REUSEPORT), which
 * shares new connections out among them. A socket that is closed takes its queue with it: whoever
 * waits there is reset. So before one goes, new connections are kept away from it.
 */

#include "config/config.h"

/*
 * Opens one: non-blocking, close-on-exec, listening. The first of an address is refused with
 * -EADDRINUSE if anybody listens there. A descriptor, or a negative errno.
 */
CONFIG_MUST_CHECK int tcp_socket_open(const struct config_listen *config,
                                      const struct sockaddr_storage *address, socklen_t length,
                                      bool is_first);

/*
 * From now on new connections go to the first `count` sockets of the group that `fd` belongs to,
 * in the order in which they began to listen, but to none that `is_away` (NULL: no such) names; at
 * random, each as likely as another. At least one has to stay. 0, or a negative errno.
 */
CONFIG_MUST_CHECK int tcp_socket_steer(int fd, unsigned count, const bool *is_away);

/*
 * From now on no new connection begins at this socket; those that have begun come to their queue.
 * Clients that are turned away hear nothing, and ask again after a second. 0, or a negative errno.
 */
CONFIG_MUST_CHECK int tcp_socket_refuse(int fd);

/*
 * Who has connected and sent nothing comes to the queue within a second or so; until then the
 * kernel has kept him back, if workers have asked for that (TCP_DEFER_ACCEPT).
 */
void tcp_socket_admit_silent(int fd);

/* HOST:PORT with both as numbers, IPv6 in brackets. 0, or -EAFNOSUPPORT. */
CONFIG_MUST_CHECK int tcp_socket_describe(const struct sockaddr_storage *address, socklen_t length,
                                          char *out, size_t size);

#endif
