/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SOCKETS_H
#define EVIXD_DAEMON_SOCKETS_H

/*
 * The listening sockets of all workers. The master opens and keeps them: a worker that dies leaves
 * its queue of connections to its successor. Over TCP each worker has a socket of its own
 * (SO_REUSEPORT); a unix socket is one that all share.
 */

#include "config/config.h"

/* Room for "unix:" and the longest path that a socket can have. */
#define SOCKETS_ADDRESS_BYTES 128

struct sockets_listener {
    char address[SOCKETS_ADDRESS_BYTES]; /* really bound: with the port that the kernel chose for 0
                                          */
    dev_t device;                        /* of a unix socket's file, so that only ours is removed */
    ino_t inode;
};

struct sockets {
    const struct config *config; /* private, as all here but the addresses */
    struct sockets_listener *listeners;
    int *fds; /* worker by worker, in the order of the listeners; -1: closed */
    unsigned workers;
};

/*
 * Opens everything: non-blocking, close-on-exec, listening. `config` outlives the sockets. 0, or a
 * negative errno after one line in the log; then nothing is left open.
 */
CONFIG_MUST_CHECK int sockets_open(struct sockets *sockets, const struct config *config,
                                   unsigned workers);

/* The descriptors of one worker, as many as the configuration has listeners. */
const int *sockets_of_worker(const struct sockets *sockets, unsigned worker);

/*
 * Closes the master's descriptors (workers have theirs) and removes the files of unix sockets that
 * are still ours. Calling it twice is fine.
 */
void sockets_stop_listening(struct sockets *sockets);

/* The same, and frees the rest. */
void sockets_close(struct sockets *sockets);

#endif
