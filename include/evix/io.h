/* SPDX-License-Identifier: MIT */
#ifndef EVIX_IO_H
#define EVIX_IO_H

/*
 * Readiness watchers, for descriptors that another library reads and writes. Sockets of our own
 * are better served by operations (op.h). Level-triggered.
 */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_io;

enum {
    EVIX_READ = 1,     /* readable, or at its end */
    EVIX_WRITE = 2,    /* writable */
    EVIX_HANGUP = 4,   /* delivered only: error or hang-up; comes with READ or WRITE if watched */
    EVIX_ONE_SHOT = 8, /* asked for only: stops before its callback runs */
};

typedef void evix_io_fn(struct evix_io *io, unsigned events);

/* Embedded and owned by the caller; its memory is the caller's whenever it is stopped. */
struct evix_io {
    struct evix_handle handle;
    evix_io_fn *fn;
    int fd;
    unsigned events;       /* private, as all below */
    struct evix_link link; /* among the watchers of the descriptor */
};

EVIX_EXPORT void evix_io_init(struct evix_io *io, struct evix_loop *loop, int fd, evix_io_fn *fn);

/*
 * Watches for `events` (READ, WRITE or both, with ONE_SHOT or without). Starting a started watcher
 * changes its events. Several watchers may share a descriptor. Errors: -EBADF, -EPERM (a regular
 * file: it is always ready, do not watch it), -EINVAL (neither READ nor WRITE), -EEXIST (a socket
 * that operations wait on), -ENOMEM.
 */
EVIX_EXPORT EVIX_MUST_CHECK int evix_io_start(struct evix_io *io, unsigned events);

/*
 * Stops it. Safe from any callback, for any watcher: events that the current batch still holds for
 * it are dropped. Stop a watcher before its descriptor is closed; the number may then be used
 * again at once, even within the batch.
 */
EVIX_EXPORT void evix_io_stop(struct evix_io *io);

#ifdef __cplusplus
}
#endif

#endif
