/* SPDX-License-Identifier: MIT */
#ifndef SERVER_COUNTERS_H
#define SERVER_COUNTERS_H

/*
 * What the workers count, in memory that all processes share: the master makes it before it forks.
 *
 * Each worker process has a slot of its own and is the only one that writes there: plain additions
 * and relaxed stores, no locked instruction, no shared cache line. A slot outlives its worker: the
 * next one that takes it goes on counting where the last one ended, so no total ever falls. The sum
 * over all slots is the truth about the server (counters_read.h).
 *
 * Nobody wakes up to count. What happened in which second is known because the first event of a
 * second notes the totals before it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/store_counters.h"
#include "http/method.h"
#include "server/wait.h"

/* Totals; the table in counters_table.c names them for programs and people. */
enum counter {
    COUNTER_RECEIVED,          /* bytes from clients */
    COUNTER_SENT,              /* bytes that the kernel took for clients */
    COUNTER_ACCEPTED,          /* connections */
    COUNTER_ABORTED,           /* responses that were cut off */
    COUNTER_LATENCY_NS,        /* the sum behind the histogram */
    COUNTER_LIMIT_CONNECTIONS, /* times that accepting paused at limits.connections */
    COUNTER_LIMIT_ADDRESS,     /* connections closed by limits.connections_per_address */
    COUNTER_LIMIT_DESCRIPTORS, /* times that accepting failed, mostly for want of descriptors */
    COUNTER_LIMIT_TARGET,      /* 414 */
    COUNTER_LIMIT_HEAD,        /* 431 */
    COUNTER_LIMIT_BODY,        /* 413 */
    COUNTER_LOG_LOST,          /* lines of access logs that could not be written */
    COUNTER_LOG_CUT,           /* and those whose values were cut */
    COUNTER_TIMEOUT_SHUTDOWN,  /* connections cut off at the end of a graceful stop */
    COUNTER_LOOP_ITERATIONS,   /* of the event loop; published once a second */
    COUNTER_CPU_NS,            /* of the processes; likewise */
    COUNTER_COUNT
};

/* By the first digit of the status; 0: none, the client had gone before. */
#define COUNTERS_CLASSES 6

/*
 * Latency in microseconds, log-linear: 16 buckets for each power of two, so that a value is known
 * to 6 %. The last one holds all from 65 s on.
 */
#define COUNTERS_BUCKETS 368

/* How far back rates and recent latencies reach. */
#define COUNTERS_SECONDS   64
#define COUNTERS_PERIODS   8 /* of latency */
#define COUNTERS_PERIOD_S  10
#define COUNTERS_SECOND_NS UINT64_C(1000000000)

/* Slots: more processes than this at once, draining ones included, are not counted. */
#define COUNTERS_SLOTS 1024

/* Nothing but 64-bit words: sums are taken word by word. */
struct counters_data {
    uint64_t counts[COUNTER_COUNT];
    uint64_t requests[HTTP_METHOD_COUNT][COUNTERS_CLASSES];
    uint64_t timeouts[WAIT_COUNT];
    uint64_t connections[WAIT_COUNT]; /* now */
    uint64_t echo_sessions;           /* now: of RFC 862 */
    struct store_counters cache;
    uint64_t latency[COUNTERS_BUCKETS];
};

/* The totals as they were before anything of this second was counted. */
struct counters_second {
    uint64_t second; /* of CLOCK_MONOTONIC; 0: not valid */
    uint64_t requests, received, sent, cpu_ns;
    uint64_t lag_ns; /* the longest turn of the loop since the second noted before */
};

/* Likewise for a period; the low halves are enough, since only differences are of use. */
struct counters_period {
    uint64_t period; /* CLOCK_MONOTONIC / COUNTERS_PERIOD_S; 0: not valid */
    uint32_t latency[COUNTERS_BUCKETS];
};

struct counters_slot {
    /* The master's. */
    uint32_t is_taken;
    uint32_t worker;     /* index */
    uint32_t generation; /* of the configuration */
    uint32_t is_away;    /* its loop does not turn, or its process has to prove itself first */
    /* The worker's. */
    int32_t pid;         /* 0: has not come to that */
    uint64_t started_ns; /* CLOCK_MONOTONIC */
    uint64_t beat_ns;    /* the last time that its loop was seen to turn; once a second at most */
    uint64_t pulse;      /* its loop's, see struct evix_options: moves whenever the loop turns */

    struct counters_data data __attribute__((aligned(64)));
    struct counters_second seconds[COUNTERS_SECONDS];
    struct counters_period periods[COUNTERS_PERIODS];
} __attribute__((aligned(4096)));

struct counters {
    uint64_t started_ns; /* CLOCK_MONOTONIC */
    int64_t started;     /* seconds since the epoch */
    uint64_t reloads, respawns;
    uint64_t away;     /* workers that get no new connections for now */
    char host[64];     /* the machine's name, which workers may no longer ask for */
    uint32_t used;     /* slots that were ever taken: those before it */
    uint32_t reported; /* the generation of which a worker has reported its backend, plus one */
    struct counters_slot slots[COUNTERS_SLOTS];
};

/* ---- the master -------------------------------------------------------------------------- */

/* Makes the shared memory, before any worker is forked. 0 or a negative errno. */
int counters_new(struct counters **out);
void counters_free(struct counters **counters);

/*
 * A slot for a worker that is about to be forked: one that a worker of the same index has left, if
 * possible. NULL if none is free: then the worker counts for itself alone.
 */
struct counters_slot *counters_take(struct counters *counters, unsigned worker,
                                    unsigned generation);

/* The slot's process is gone (reaped, not only told to go). NULL is fine. */
void counters_give_back(struct counters_slot *slot);

/* For people: how often it happened since the start. */
void counters_note_reload(struct counters *counters);
void counters_note_respawn(struct counters *counters);

/* Of the slot's process; none is when it is taken. NULL is fine. */
void counters_note_away(struct counters_slot *slot, bool is_away);

/* How many workers get no new connections for now. */
void counters_set_away(struct counters *counters, unsigned count);
uint64_t counters_away(const struct counters *counters);

/* ---- the worker -------------------------------------------------------------------------- */

/* Its process has begun. */
void counters_start(struct counters_slot *slot, uint64_t now_ns);

/* Whether no worker of the slot's generation has reported of its backend before. */
bool counters_is_first_report(struct counters *counters, const struct counters_slot *slot);

/* The second of `now_ns` has begun, and nothing of it has been counted yet. */
void counters_note_second(struct counters_slot *slot, uint64_t now_ns, uint64_t lag_ns);

static inline void counters_add(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

static inline void counters_subtract(uint64_t *counter, uint64_t less)
{
    __atomic_store_n(counter, *counter - less, __ATOMIC_RELAXED);
}

static inline unsigned counters_bucket(uint64_t microseconds)
{
    if (microseconds < 16)
        return (unsigned)microseconds;
    unsigned top = 63u - (unsigned)__builtin_clzll(microseconds);
    unsigned bucket = (top - 3) * 16 + (unsigned)(microseconds >> (top - 4)) - 16;

    return bucket < COUNTERS_BUCKETS ? bucket : COUNTERS_BUCKETS - 1;
}

static inline void counters_note_latency(struct counters_slot *slot, uint64_t duration_ns)
{
    counters_add(&slot->data.latency[counters_bucket(duration_ns / 1000)], 1);
    counters_add(&slot->data.counts[COUNTER_LATENCY_NS], duration_ns);
}

#endif
