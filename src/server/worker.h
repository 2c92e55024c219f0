/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_SERVER_WORKER_H
#define EVIXD_SERVER_WORKER_H

/*
 * One worker: a loop, its listeners, its store, its connections. It runs in a process that the
 * master forked for it, and all of a worker's life is this one call.
 */

#include "config/config.h"

struct counters;
struct counters_slot;

/*
 * What is said on the stream between master and worker, a byte a word. The master retires a worker
 * by as many words as there are listeners: whether each stays, with other workers, or goes for
 * good.
 */
enum worker_word {
    WORKER_SERVES = 's',   /* the worker, once */
    WORKER_ASKED = '?',    /* the master: does the loop turn? */
    WORKER_ALIVE = '!',    /* the worker: it does */
    WORKER_MADE_WAY = 'w', /* the retired worker: it accepts no more from listeners that stay */
    WORKER_LET_GO = 'l',   /* the retired worker: all listeners are closed */
    WORKER_FINISH = 'f',   /* the master: as TERM, for one that may not have come to signals */
    WORKER_LISTENER_STAYS = '=',
    WORKER_LISTENER_GOES = '-',
};

struct worker_options {
    const struct config *config; /* outlives the call */
    unsigned index;              /* 0-based, for the log */
    const int *listeners;        /* one a config listener, in their order: listening, non-blocking;
                                    the worker takes the descriptors over */
    size_t listener_count;
    bool is_successor; /* of one that served and died: a root, log or table of media types that it
                          cannot open does not keep it from serving the rest */
    int control_fd;    /* a stream to the master, as above; at its end the master is gone and the
                          worker stops gracefully. Taken over. -1: none */
    struct counters *counters;        /* shared with the other workers; outlives the call */
    struct counters_slot *slot;       /* this worker's; NULL: none was free */
    int (*confine)(const void *data); /* gives up rights that only the set-up needs, before anything
                                         that a client sent is read; negative: the worker ends */
    const void *confine_data;
};

/*
 * Serves until it is told to stop, then returns the exit code of the process: 0, or 2 if it could
 * not start, 3 if it failed while running (both logged). Signals: TERM and QUIT finish what is in
 * flight, for at most the configured time, and a second one stops at once; so does INT. USR1 opens
 * the access logs anew. HUP is ignored here: it is the master's.
 *
 * A worker that is retired makes room for others: it finishes what is in flight, too, but takes its
 * time for idle connections, so that no request crosses a close, and goes on accepting for a moment
 * where a listener goes for good.
 */
int worker_run(const struct worker_options *options);

#endif
