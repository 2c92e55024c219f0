/* SPDX-License-Identifier: MIT */
#ifndef SERVER_COUNTERS_READ_H
#define SERVER_COUNTERS_READ_H

/*
 * The counters as a reader sees them, from any process that has the memory: sums, rates, latencies.
 * Each word is whole; that two words are of the same instant is not promised.
 */

#include "server/counters.h"

/* A slot's totals, or those of all slots, the free ones included. */
void counters_read(const struct counters_slot *slot, struct counters_data *out);
void counters_sum(const struct counters *counters, struct counters_data *out);

/* All requests in them, or those with a class of status (COUNTERS_CLASSES: any). */
uint64_t counters_requests(const struct counters_data *data, unsigned class);

/* Connections of HTTP, whatever they wait for. */
uint64_t counters_connections(const struct counters_data *data);

/* Slots that have a worker now. */
unsigned counters_workers(const struct counters *counters);

/* How many slots there are to look at, and one of them: NULL if nobody has it now. */
unsigned counters_slots(const struct counters *counters);
const struct counters_slot *counters_taken(const struct counters *counters, unsigned index);

/* What happened in the seconds [from, to) of CLOCK_MONOTONIC; not more than a minute ago. */
struct counters_span {
    uint64_t requests, received, sent, cpu_ns;
    uint64_t lag_ns; /* the longest turn of the loop */
};
void counters_span_of(const struct counters_slot *slot, uint64_t from, uint64_t to,
                      struct counters_span *out);
void counters_span_add(struct counters_span *sum, const struct counters_span *more);
void counters_span_sum(const struct counters *counters, uint64_t from, uint64_t to,
                       struct counters_span *out);

/* The same for many spans of one slot: the ring is copied once. */
struct counters_history {
    struct counters_second seconds[COUNTERS_SECONDS], now;
};
void counters_history_read(const struct counters_slot *slot, struct counters_history *out);
void counters_history_span(const struct counters_history *history, uint64_t from, uint64_t to,
                           struct counters_span *out);

/* Latencies of about the last minute: 60 to 70 seconds. */
void counters_recent_latency(const struct counters *counters, uint64_t now_ns,
                             uint64_t out[COUNTERS_BUCKETS]);

/* The first microsecond that is above the bucket, UINT64_MAX for the last one. */
uint64_t counters_bucket_end(unsigned bucket);

/* Microseconds that a share (0 to 1) of the values does not exceed; 0 if there are no values. */
double counters_quantile(const uint64_t buckets[COUNTERS_BUCKETS], double share);

#endif
