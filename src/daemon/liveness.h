/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_LIVENESS_H
#define EVIXD_DAEMON_LIVENESS_H

/*
 * Which workers serve. A worker's loop writes a pulse into its slot of the counters (struct
 * evix_options), and the master looks at it now and then. One that runs callbacks at two looks in
 * a row without a turn between them is suspect, and so is one that sleeps while connections wait in
 * its queue: it is asked for a turn. If it takes none it is away: a process that was stopped, that
 * hangs in a system call, that is in an endless loop, or one that is not there. One that has slept
 * for a second while it has clients, or while connections wait in a queue that all workers share,
 * is asked as well, and owes a turn a second later.
 *
 * The looks are 50 ms apart while clients come or somebody is suspect, a second apart while there
 * are connections, and none while there are none: then the first one that waits in a queue begins
 * them. They are what is counted, not the time, so that a machine or a master that was stopped
 * itself blames nobody.
 */

#include "daemon/sockets.h"
#include "server/counters.h"

#include <evix/io.h>
#include <evix/timer.h>

#define LIVENESS_LOOK_MS 50
#define LIVENESS_IDLE_MS 1000
/* Looks in a row without a turn. At two intervals of 50 ms it is known within 150 ms. */
#define LIVENESS_AWAY_LOOKS    3
#define LIVENESS_MISSING_LOOKS (1000 / LIVENESS_LOOK_MS)

enum liveness_state {
    LIVENESS_SERVES,
    LIVENESS_AWAY,    /* others should get its share */
    LIVENESS_MISSING, /* still, after about a second: on a busy machine a worker may be away for a
                         moment, and nobody has to be told; this is another matter */
    LIVENESS_STUCK,   /* still, after timeouts.stuck */
};

struct liveness_events {
    bool (*ask)(void *data, unsigned worker); /* have its loop turn once; false: cannot be */
    void (*changed)(void *data, unsigned worker, enum liveness_state state);
    void *data;
};

struct liveness_options {
    struct evix_loop *loop;
    const struct sockets *sockets; /* outlives it, and so does the loop */
    uint32_t stuck_ms;             /* 0: no worker is ever stuck */
    struct liveness_events events;
};

struct liveness_worker;
struct liveness_socket;

struct liveness {
    struct liveness_options options; /* private, as all here */
    struct liveness_worker *workers; /* NULL: freed */
    struct liveness_socket *listening;
    size_t listening_count;
    uint64_t accepted; /* by all, at the last look */
    unsigned quiet;    /* looks since then that found nothing new */
    bool has_begun;
    bool has_left;   /* the sockets */
    bool is_waiting; /* for the first connection */
    struct evix_timer timer;
};

/* No process of a worker is there yet. 0, or -ENOMEM; then liveness_fini() has been done. */
CONFIG_MUST_CHECK int liveness_init(struct liveness *liveness,
                                    const struct liveness_options *options);

/* Every worker serves: from here on it looks. */
void liveness_begin(struct liveness *liveness);

/*
 * A process has begun that will be the worker; it counts in `slot` (NULL: nowhere, so that nothing
 * can be known of it).
 */
void liveness_note_start(struct liveness *liveness, unsigned worker,
                         const struct counters_slot *slot);

/* The process has ended. `is_away`: there is no hope that its successor fares better soon. */
void liveness_note_end(struct liveness *liveness, unsigned worker, bool is_away);

/* The worker was told something that takes it a turn. */
void liveness_expect_turn(struct liveness *liveness, unsigned worker);

/* To be called before the sockets are closed; their queues are not looked at any more. */
void liveness_leave_sockets(struct liveness *liveness);

/* How many are away. */
unsigned liveness_count_away(const struct liveness *liveness);

/* No event follows. Twice is fine. */
void liveness_fini(struct liveness *liveness);

#endif
