/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_PREDECESSOR_H
#define EVIXD_DAEMON_PREDECESSOR_H

/*
 * The program in whose place we serve, as long as it is there: it names us to whoever listened to
 * it, and finishes what its clients are in the middle of.
 */

#include <evix/io.h>

struct predecessor_events {
    void (*introduced)(void *data); /* it has, or it never will: once */
    void (*gone)(void *data);       /* after that */
};

struct predecessor {
    const struct predecessor_events *events; /* private, as all here; NULL: there is none */
    void *data;
    int stream_fd;
    bool is_awaited; /* it has not introduced us yet */
    struct evix_io io;
};

/* The stream is its own from now on. If it cannot be watched, the other is gone for us at once. */
void predecessor_watch(struct predecessor *predecessor, struct evix_loop *loop, int stream_fd,
                       const struct predecessor_events *events, void *data);

bool predecessor_is_there(const struct predecessor *predecessor);
bool predecessor_is_awaited(const struct predecessor *predecessor);

/* It is not waited for any more; no event follows. One that is zero, or gone, is fine. */
void predecessor_forget(struct predecessor *predecessor);

#endif
