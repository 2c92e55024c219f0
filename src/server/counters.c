/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of the counters: made, given out slot by slot, noted once a second.
 * It does not say what they mean (counters_table.c) or add them up (counters_read.c).
 * Called by the daemon's master, and by worker.c.
 */
#include "server/counters.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static_assert(sizeof(struct counters_data) % sizeof(uint64_t) == 0, "words and nothing else");

static int64_t read_clock(clockid_t id, long *nanoseconds)
{
    struct timespec now = {0};

    (void)clock_gettime(id, &now);
    *nanoseconds = now.tv_nsec;
    return now.tv_sec;
}

/* Of the many slots only those that are used cost memory: the kernel gives it when it is touched.
 */
int counters_new(struct counters **out)
{
    struct counters *counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long nanoseconds;

    *out = NULL;
    if (counters == MAP_FAILED)
        return -errno;
    counters->started = read_clock(CLOCK_REALTIME, &nanoseconds);
    counters->started_ns = (uint64_t)read_clock(CLOCK_MONOTONIC, &nanoseconds) * COUNTERS_SECOND_NS;
    counters->started_ns += (uint64_t)nanoseconds;
    (void)gethostname(counters->host, sizeof(counters->host) - 1);
    *out = counters;
    return 0;
}

void counters_free(struct counters **counters)
{
    if (*counters != NULL)
        (void)munmap(*counters, sizeof(**counters));
    *counters = NULL;
}

/* What is so now, as opposed to what has happened, ends with its process. */
static void clear_gauges(struct counters_data *data)
{
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        __atomic_store_n(&data->connections[i], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&data->echo_sessions, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&data->cache.entries, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&data->cache.descriptors, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&data->cache.bytes, 0, __ATOMIC_RELAXED);
}

/* One that this worker had, else one that nobody had, else any. */
static struct counters_slot *find_free(struct counters *counters, unsigned worker)
{
    struct counters_slot *found = NULL;

    for (uint32_t i = 0; i < counters->used; i++) {
        struct counters_slot *slot = &counters->slots[i];

        if (!slot->is_taken && slot->worker == worker)
            return slot;
        if (!slot->is_taken)
            found = slot;
    }
    if (counters->used < COUNTERS_SLOTS)
        found = &counters->slots[counters->used];
    return found;
}

struct counters_slot *counters_take(struct counters *counters, unsigned worker, unsigned generation)
{
    struct counters_slot *slot = find_free(counters, worker);

    if (slot == NULL)
        return NULL;
    slot->worker = worker;
    slot->generation = generation;
    slot->is_away = 0;
    slot->pid = 0;
    slot->pulse = 0;
    clear_gauges(&slot->data);
    __atomic_store_n(&slot->is_taken, 1, __ATOMIC_RELEASE);
    if (slot == &counters->slots[counters->used])
        __atomic_store_n(&counters->used, counters->used + 1, __ATOMIC_RELEASE);
    return slot;
}

void counters_give_back(struct counters_slot *slot)
{
    if (slot == NULL)
        return;
    assert(slot->is_taken);
    clear_gauges(&slot->data);
    __atomic_store_n(&slot->is_taken, 0, __ATOMIC_RELEASE);
}

void counters_note_reload(struct counters *counters)
{
    counters_add(&counters->reloads, 1);
}

void counters_note_respawn(struct counters *counters)
{
    counters_add(&counters->respawns, 1);
}

void counters_note_away(struct counters_slot *slot, bool is_away)
{
    if (slot != NULL)
        __atomic_store_n(&slot->is_away, is_away, __ATOMIC_RELAXED);
}

void counters_set_away(struct counters *counters, unsigned count)
{
    __atomic_store_n(&counters->away, count, __ATOMIC_RELAXED);
}

uint64_t counters_away(const struct counters *counters)
{
    return __atomic_load_n(&counters->away, __ATOMIC_RELAXED);
}

/* ---- the worker -------------------------------------------------------------------------- */

void counters_start(struct counters_slot *slot, uint64_t now_ns)
{
    __atomic_store_n(&slot->started_ns, now_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->beat_ns, now_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->pid, (int32_t)getpid(), __ATOMIC_RELEASE);
}

static uint64_t sum_requests(const struct counters_data *data)
{
    uint64_t sum = 0;

    for (unsigned method = 0; method < HTTP_METHOD_COUNT; method++)
        for (unsigned class = 0; class < COUNTERS_CLASSES; class ++)
            sum += data->requests[method][class];
    return sum;
}

/* What is written between two stores of the stamp, 0 and then the true one, is not read by halves.
 */
static void begin_entry(uint64_t *stamp)
{
    __atomic_store_n(stamp, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void note_totals(struct counters_second *entry, const struct counters_data *data,
                        uint64_t second, uint64_t lag_ns)
{
    if (entry->second == second)
        return; /* by the worker that had the slot before */
    begin_entry(&entry->second);
    __atomic_store_n(&entry->requests, sum_requests(data), __ATOMIC_RELAXED);
    __atomic_store_n(&entry->received, data->counts[COUNTER_RECEIVED], __ATOMIC_RELAXED);
    __atomic_store_n(&entry->sent, data->counts[COUNTER_SENT], __ATOMIC_RELAXED);
    __atomic_store_n(&entry->cpu_ns, data->counts[COUNTER_CPU_NS], __ATOMIC_RELAXED);
    __atomic_store_n(&entry->lag_ns, lag_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->second, second, __ATOMIC_RELEASE);
}

static void note_period(struct counters_period *entry, const struct counters_data *data,
                        uint64_t period)
{
    if (entry->period == period)
        return;
    begin_entry(&entry->period);
    for (unsigned i = 0; i < COUNTERS_BUCKETS; i++)
        __atomic_store_n(&entry->latency[i], (uint32_t)data->latency[i], __ATOMIC_RELAXED);
    __atomic_store_n(&entry->period, period, __ATOMIC_RELEASE);
}

bool counters_is_first_report(struct counters *counters, const struct counters_slot *slot)
{
    uint32_t now = slot->generation + 1;

    return __atomic_exchange_n(&counters->reported, now, __ATOMIC_RELAXED) != now;
}

void counters_note_second(struct counters_slot *slot, uint64_t now_ns, uint64_t lag_ns)
{
    uint64_t second = now_ns / COUNTERS_SECOND_NS;
    uint64_t period = second / COUNTERS_PERIOD_S;

    __atomic_store_n(&slot->beat_ns, now_ns, __ATOMIC_RELAXED);
    note_totals(&slot->seconds[second % COUNTERS_SECONDS], &slot->data, second, lag_ns);
    note_period(&slot->periods[period % COUNTERS_PERIODS], &slot->data, period);
}
