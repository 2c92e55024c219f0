/* SPDX-License-Identifier: MIT */
/*
 * Adds the workers' counters up, and says what they were a while ago.
 * It writes nothing to the shared memory and formats nothing.
 * Called by handler_status.c and its pages, and by the daemon.
 */
#include "server/counters_read.h"

#define WORDS (sizeof(struct counters_data) / sizeof(uint64_t))

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* ---- totals ------------------------------------------------------------------------------ */

static void add(const struct counters_slot *slot, struct counters_data *sum)
{
    const uint64_t *from = (const uint64_t *)&slot->data;
    uint64_t *to = (uint64_t *)sum;

    for (size_t i = 0; i < WORDS; i++)
        to[i] += load(&from[i]);
}

void counters_read(const struct counters_slot *slot, struct counters_data *out)
{
    *out = (struct counters_data){0};
    add(slot, out);
}

unsigned counters_slots(const struct counters *counters)
{
    return __atomic_load_n(&counters->used, __ATOMIC_ACQUIRE);
}

void counters_sum(const struct counters *counters, struct counters_data *out)
{
    *out = (struct counters_data){0};
    for (unsigned i = 0; i < counters_slots(counters); i++)
        add(&counters->slots[i], out);
}

uint64_t counters_requests(const struct counters_data *data, unsigned class)
{
    uint64_t sum = 0;

    for (unsigned method = 0; method < HTTP_METHOD_COUNT; method++)
        for (unsigned i = 0; i < COUNTERS_CLASSES; i++)
            if (class == COUNTERS_CLASSES || class == i)
                sum += data->requests[method][i];
    return sum;
}

uint64_t counters_connections(const struct counters_data *data)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < WAIT_COUNT; i++)
        sum += data->connections[i];
    return sum;
}

const struct counters_slot *counters_taken(const struct counters *counters, unsigned index)
{
    const struct counters_slot *slot = &counters->slots[index];

    return __atomic_load_n(&slot->is_taken, __ATOMIC_ACQUIRE) ? slot : NULL;
}

unsigned counters_workers(const struct counters *counters)
{
    unsigned count = 0;

    for (unsigned i = 0; i < counters_slots(counters); i++)
        count += counters_taken(counters, i) != NULL;
    return count;
}

/* ---- spans of time ----------------------------------------------------------------------- */

/* A copy of an entry that nobody wrote to meanwhile; false if it is not valid. */
static bool copy_second(const struct counters_second *entry, struct counters_second *out)
{
    uint64_t second = __atomic_load_n(&entry->second, __ATOMIC_ACQUIRE);

    *out = (struct counters_second){
        .second = second,
        .requests = load(&entry->requests),
        .received = load(&entry->received),
        .sent = load(&entry->sent),
        .cpu_ns = load(&entry->cpu_ns),
        .lag_ns = load(&entry->lag_ns),
    };
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return second != 0 && load(&entry->second) == second;
}

static void copy_now(const struct counters_slot *slot, struct counters_second *out)
{
    struct counters_data data;

    counters_read(slot, &data);
    *out = (struct counters_second){
        .second = UINT64_MAX,
        .requests = counters_requests(&data, COUNTERS_CLASSES),
        .received = data.counts[COUNTER_RECEIVED],
        .sent = data.counts[COUNTER_SENT],
        .cpu_ns = data.counts[COUNTER_CPU_NS],
    };
}

/* Totals when a second began: nothing was counted between then and the next entry. */
static void totals_at(const struct counters_second seconds[COUNTERS_SECONDS],
                      const struct counters_second *now, uint64_t second,
                      struct counters_second *out)
{
    *out = *now;
    for (unsigned i = 0; i < COUNTERS_SECONDS; i++)
        if (seconds[i].second >= second && seconds[i].second < out->second)
            *out = seconds[i];
}

static uint64_t longest_lag(const struct counters_second seconds[COUNTERS_SECONDS], uint64_t from,
                            uint64_t to)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < COUNTERS_SECONDS; i++)
        if (seconds[i].second > from && seconds[i].second <= to && seconds[i].lag_ns > longest)
            longest = seconds[i].lag_ns;
    return longest;
}

/* Counters that are read one after the other may seem to fall by what was counted meanwhile. */
static uint64_t difference(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

void counters_history_read(const struct counters_slot *slot, struct counters_history *out)
{
    for (unsigned i = 0; i < COUNTERS_SECONDS; i++)
        if (!copy_second(&slot->seconds[i], &out->seconds[i]))
            out->seconds[i] = (struct counters_second){0};
    copy_now(slot, &out->now);
}

void counters_history_span(const struct counters_history *history, uint64_t from, uint64_t to,
                           struct counters_span *out)
{
    struct counters_second first, last;

    totals_at(history->seconds, &history->now, from, &first);
    totals_at(history->seconds, &history->now, to, &last);
    *out = (struct counters_span){
        .requests = difference(last.requests, first.requests),
        .received = difference(last.received, first.received),
        .sent = difference(last.sent, first.sent),
        .cpu_ns = difference(last.cpu_ns, first.cpu_ns),
        .lag_ns = longest_lag(history->seconds, from, to),
    };
}

void counters_span_of(const struct counters_slot *slot, uint64_t from, uint64_t to,
                      struct counters_span *out)
{
    struct counters_history history;

    counters_history_read(slot, &history);
    counters_history_span(&history, from, to, out);
}

void counters_span_add(struct counters_span *sum, const struct counters_span *more)
{
    sum->requests += more->requests;
    sum->received += more->received;
    sum->sent += more->sent;
    sum->cpu_ns += more->cpu_ns;
    sum->lag_ns = more->lag_ns > sum->lag_ns ? more->lag_ns : sum->lag_ns;
}

void counters_span_sum(const struct counters *counters, uint64_t from, uint64_t to,
                       struct counters_span *out)
{
    *out = (struct counters_span){0};
    for (unsigned i = 0; i < counters_slots(counters); i++) {
        struct counters_span span;

        counters_span_of(&counters->slots[i], from, to, &span);
        counters_span_add(out, &span);
    }
}

/* ---- latency ----------------------------------------------------------------------------- */

/* The entry of the first period from `period` on, or NULL: nothing was noted since. */
static const struct counters_period *find_period(const struct counters_slot *slot, uint64_t period)
{
    const struct counters_period *found = NULL;
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < COUNTERS_PERIODS; i++) {
        uint64_t own = __atomic_load_n(&slot->periods[i].period, __ATOMIC_ACQUIRE);

        if (own != 0 && own >= period && own < best) {
            best = own;
            found = &slot->periods[i];
        }
    }
    return found;
}

static void add_recent(const struct counters_slot *slot, uint64_t period,
                       uint64_t out[COUNTERS_BUCKETS])
{
    const struct counters_period *before = find_period(slot, period);

    for (unsigned i = 0; before != NULL && i < COUNTERS_BUCKETS; i++) {
        uint32_t then = __atomic_load_n(&before->latency[i], __ATOMIC_RELAXED);

        out[i] += (uint32_t)load(&slot->data.latency[i]) - then;
    }
}

void counters_recent_latency(const struct counters *counters, uint64_t now_ns,
                             uint64_t out[COUNTERS_BUCKETS])
{
    uint64_t period = now_ns / COUNTERS_SECOND_NS / COUNTERS_PERIOD_S;
    uint64_t first = period > 6 ? period - 6 : 0; /* the clock begins with the machine */

    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++)
        out[i] = 0;
    for (unsigned i = 0; i < counters_slots(counters); i++)
        add_recent(&counters->slots[i], first, out);
}

uint64_t counters_bucket_end(unsigned bucket)
{
    if (bucket == COUNTERS_BUCKETS - 1)
        return UINT64_MAX;
    if (bucket < 16)
        return bucket + 1;
    return (uint64_t)(bucket % 16 + 17) << (bucket / 16 - 1);
}

static uint64_t bucket_start(unsigned bucket)
{
    return bucket == 0 ? 0 : counters_bucket_end(bucket - 1);
}

double counters_quantile(const uint64_t buckets[COUNTERS_BUCKETS], double share)
{
    uint64_t sum = 0, below = 0;

    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++)
        sum += buckets[i];
    double wanted = share * (double)sum;
    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++) {
        if (buckets[i] == 0 || (double)(below + buckets[i]) < wanted) {
            below += buckets[i];
            continue;
        }
        double start = (double)bucket_start(i);
        double width = i == COUNTERS_BUCKETS - 1 ? 0 : (double)counters_bucket_end(i) - start;

        return start + width * (wanted - (double)below) / (double)buckets[i];
    }
    return 0;
}
