/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_UNIX_SOCKET_H
#define EVIXD_DAEMON_UNIX_SOCKET_H

#include "config/config.h"

/*
 * Opens a listening unix socket with the configured mode and owner in force before it accepts
 * anything. What a dead server left at its path is replaced; a socket that somebody answers on
 * (-EADDRINUSE) and any other kind of file (-EEXIST) are left alone. Returns the descriptor, and
 * which file is ours.
 */
CONFIG_MUST_CHECK int unix_socket_open(const struct config_listen *listen, dev_t *device,
                                       ino_t *inode);

/* Whether the file is still the one that was made: as long as the socket is open, no other has its
   inode. */
bool unix_socket_is_ours(const struct sockaddr_storage *address, dev_t device, ino_t inode);

/* Removes the socket's file if it is still that one. */
void unix_socket_remove(const struct sockaddr_storage *address, dev_t device, ino_t inode);

#endif
