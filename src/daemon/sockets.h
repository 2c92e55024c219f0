/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SOCKETS_H
#define EVIXD_DAEMON_SOCKETS_H

/*
 * The listening sockets of one configuration. The master opens and keeps them: a worker that dies
 * leaves its queue of connections to its successor. Over TCP each worker has a socket of its own
 * (SO_REUSEPORT); a unix socket is one that all share.
 *
 * When one configuration follows another, the sockets of the addresses that both have are the
 * same: takeover.h says how they pass on, and how the rest goes.
 */

#include "config/config.h"

/* Room for "unix:" and the longest path that a socket can have. */
#define SOCKETS_ADDRESS_BYTES 128

struct sockets_listener {
    char address[SOCKETS_ADDRESS_BYTES]; /* really bound: with the port that the kernel chose for 0
                                          */
    /* Private: as configured, by which the address is known again, and as bound. */
    struct sockaddr_storage wanted, bound;
    socklen_t wanted_length, bound_length;
    bool v6_only;
    dev_t device; /* of a unix socket's file, so that only ours is removed */
    ino_t inode;
    bool is_shared;      /* one descriptor for all workers */
    bool is_activated;   /* the service manager's, who keeps it when we are gone */
    bool is_inherited;   /* from a table before this one, to which it still belongs */
    int *fds;            /* one a worker, or the one; -1: closed */
    unsigned fd_count;   /* 0: not opened */
    unsigned kept_count; /* how many of them pass on: takeover.h */
};

struct sockets {
    const struct config *config;         /* NULL: they came from another process, or are none */
    const struct activation *activation; /* passes on to the next table; NULL: none */
    struct sockets_listener *listeners;
    size_t count;
    unsigned workers;
    bool *is_away; /* one a worker: steering.h; NULL: none is */
};

/*
 * Opens everything that the configuration wants: non-blocking, close-on-exec, listening. What
 * `before` (NULL: nothing) has is taken from there, by descriptors of its own, and so is what its
 * activation has; `before` itself stays as it is. `config` outlives the sockets. 0, or a negative
 * errno after one line in the log; then nothing is left open.
 */
CONFIG_MUST_CHECK int sockets_open(struct sockets *sockets, const struct config *config,
                                   unsigned workers, const struct sockets *before);

/* The descriptor that a worker accepts from. */
int sockets_descriptor(const struct sockets *sockets, unsigned worker, size_t listener);

/* Closes the descriptors, and leaves files of unix sockets where they are. */
void sockets_release(struct sockets *sockets);

/*
 * The end: keeps new connections away, closes the descriptors (workers have theirs), removes the
 * files of unix sockets that are still ours. Calling it twice is fine.
 */
void sockets_stop_listening(struct sockets *sockets);

/*
 * Releases what passed on or belongs to a table before, stops listening on the rest, and frees
 * all. An all-zero table is fine.
 */
void sockets_close(struct sockets *sockets);

#endif
