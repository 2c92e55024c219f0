/* SPDX-License-Identifier: MIT */
/*
 * Looks whether workers' loops turn while somebody waits for them.
 * It does nothing about it: children.c does.
 * children.c calls it.
 */

#include "daemon/liveness.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

/* Looks that find nothing new, until the next connection is waited for instead. */
#define QUIET_LOOKS (2000 / LIVENESS_LOOK_MS)

struct liveness_worker {
    const struct counters_slot *slot; /* NULL: no process, or one of which nothing is known */
    uint64_t pulse;                   /* as seen at the last look */
    unsigned missed;                  /* looks in a row without a turn that was due */
    uint64_t turned_ms;               /* when a look last saw that, or when it began */
    uint64_t asked_ms;                /* if is_asked */
    bool is_running;
    bool is_asked; /* for the sake of its clients, without a turn since */
    bool owes_turn;
    enum liveness_state state;
};

/* As a worker: each of them. */
#define ALL_WORKERS UINT_MAX

/* A listening socket, watched while nothing happens. */
struct liveness_socket {
    struct liveness *liveness;
    unsigned worker; /* whose own it is */
    struct evix_io io;
};

static void set_state(struct liveness *liveness, unsigned index, enum liveness_state state)
{
    struct liveness_worker *worker = &liveness->workers[index];
    const struct liveness_events *events = &liveness->options.events;
    if (worker->state == state)
        return;
    worker->state = state;
    events->changed(events->data, index, state);
}

/* ---- what can be seen of a worker ---------------------------------------------------------- */

static bool has_queue(const struct liveness *liveness, unsigned index)
{
    for (size_t i = 0; i < liveness->listening_count; i++) {
        const struct liveness_socket *socket = &liveness->listening[i];
        struct pollfd entry = {.fd = socket->io.fd, .events = POLLIN};
        if (socket->worker == index && poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0)
            return true;
    }
    return false;
}

/* Notes the pulse. Whether it has moved since the last look. */
static bool has_turned(struct liveness_worker *worker)
{
    if (worker->slot == NULL)
        return false;
    uint64_t pulse = __atomic_load_n(&worker->slot->pulse, __ATOMIC_RELAXED);
    bool has_moved = pulse != worker->pulse;
    worker->pulse = pulse;
    return has_moved;
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool has_clients(const struct liveness_worker *worker)
{
    const struct counters_slot *slot = worker->slot;
    uint64_t sum = 0;
    for (unsigned i = 0; slot != NULL && i < WAIT_COUNT; i++)
        sum += load(&slot->data.connections[i]);
    if (slot != NULL)
        sum += load(&slot->data.echo_sessions);
    return sum != 0;
}

/* Odd: it runs callbacks. */
static bool is_due(const struct liveness *liveness, unsigned index)
{
    const struct liveness_worker *worker = &liveness->workers[index];
    if (worker->is_running && worker->slot == NULL)
        return false;
    return (worker->pulse & 1) != 0 || worker->owes_turn || has_queue(liveness, index);
}

/* ---- looking ------------------------------------------------------------------------------- */

static enum liveness_state judge(const struct liveness *liveness,
                                 const struct liveness_worker *worker)
{
    unsigned stuck_looks = liveness->options.stuck_ms / LIVENESS_LOOK_MS;
    if (worker->missed < LIVENESS_AWAY_LOOKS)
        return worker->state;
    if (liveness->options.stuck_ms != 0 && worker->missed >= stuck_looks && worker->is_running)
        return LIVENESS_STUCK;
    return worker->missed >= LIVENESS_MISSING_LOOKS ? LIVENESS_MISSING : LIVENESS_AWAY;
}

/*
 * One that sleeps with clients, or while a queue is not empty that all workers empty, may have
 * nothing to do or may be stopped: only an answer tells which. It has a second for that, so that a
 * busy machine is no reason to take it for away.
 */
static void ask_sleeper(struct liveness *liveness, unsigned index)
{
    const struct liveness_events *events = &liveness->options.events;
    struct liveness_worker *worker = &liveness->workers[index];
    uint64_t now_ms = evix_now_ms(liveness->options.loop);
    if (worker->is_asked) {
        worker->owes_turn = worker->owes_turn || now_ms - worker->asked_ms >= LIVENESS_IDLE_MS;
    } else if (worker->slot != NULL && now_ms - worker->turned_ms >= LIVENESS_IDLE_MS &&
               (has_clients(worker) || has_queue(liveness, ALL_WORKERS))) {
        worker->is_asked = events->ask(events->data, index);
        worker->asked_ms = now_ms;
    }
}

static void note_turn(struct liveness *liveness, unsigned index)
{
    struct liveness_worker *worker = &liveness->workers[index];
    worker->turned_ms = evix_now_ms(liveness->options.loop);
    worker->missed = 0;
    worker->is_asked = false;
    worker->owes_turn = false;
    set_state(liveness, index, LIVENESS_SERVES);
}

static void look_at(struct liveness *liveness, unsigned index)
{
    const struct liveness_events *events = &liveness->options.events;
    struct liveness_worker *worker = &liveness->workers[index];
    if (has_turned(worker)) {
        note_turn(liveness, index);
        return;
    }
    ask_sleeper(liveness, index);
    if (is_due(liveness, index)) {
        if (++worker->missed == 1 && worker->is_running) {
            worker->owes_turn = true;
            (void)!events->ask(events->data, index);
        }
        set_state(liveness, index, judge(liveness, worker));
    } else if (worker->state == LIVENESS_SERVES) {
        worker->missed = 0;
    }
}

static bool is_suspect(const struct liveness *liveness)
{
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++) {
        if (liveness->workers[i].missed != 0 || liveness->workers[i].state != LIVENESS_SERVES)
            return true;
    }
    return false;
}

/* Since the last look. */
static bool has_accepted(struct liveness *liveness)
{
    uint64_t before = liveness->accepted;
    liveness->accepted = 0;
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++) {
        const struct counters_slot *slot = liveness->workers[i].slot;
        if (slot != NULL)
            liveness->accepted += load(&slot->data.counts[COUNTER_ACCEPTED]);
    }
    return liveness->accepted != before;
}

static bool is_in_use(const struct liveness *liveness)
{
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++) {
        if (has_clients(&liveness->workers[i]))
            return true;
    }
    return false;
}

/* ---- when to look next --------------------------------------------------------------------- */

static void look_in(struct liveness *liveness, uint64_t interval_ms)
{
    evix_timer_start(&liveness->timer, interval_ms, 0);
    evix_unref(&liveness->timer.handle); /* the loop goes on for the processes, not for this */
}

static void look_soon(struct liveness *liveness)
{
    if (liveness->has_begun)
        look_in(liveness, LIVENESS_LOOK_MS);
}

static void end_waiting(struct liveness *liveness)
{
    for (size_t i = 0; i < liveness->listening_count; i++)
        evix_io_stop(&liveness->listening[i].io);
    liveness->is_waiting = false;
}

static void on_connection(struct evix_io *io, unsigned events)
{
    struct liveness *liveness = EVIX_CONTAINER_OF(io, struct liveness_socket, io)->liveness;
    (void)events;
    end_waiting(liveness);
    liveness->quiet = 0;
    look_soon(liveness);
}

/* False if it cannot be waited for. */
static bool wait_for_connection(struct liveness *liveness)
{
    for (size_t i = 0; !liveness->is_waiting && i < liveness->listening_count; i++) {
        struct evix_io *io = &liveness->listening[i].io;
        if (evix_io_start(io, EVIX_READ) < 0) {
            end_waiting(liveness);
            return false;
        }
        evix_unref(&io->handle);
    }
    liveness->is_waiting = true;
    return true;
}

static void on_look(struct evix_timer *timer)
{
    struct liveness *liveness = EVIX_CONTAINER_OF(timer, struct liveness, timer);
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++)
        look_at(liveness, i);
    liveness->quiet = has_accepted(liveness) ? 0 : liveness->quiet + 1;
    if (is_suspect(liveness) || liveness->quiet < QUIET_LOOKS)
        look_soon(liveness);
    else if (!wait_for_connection(liveness) || is_in_use(liveness))
        look_in(liveness, LIVENESS_IDLE_MS);
}

/* ---- what its owner tells ------------------------------------------------------------------ */

static int list_sockets(struct liveness *liveness)
{
    const struct sockets *sockets = liveness->options.sockets;
    liveness->listening =
        calloc(sockets->count * sockets->workers + 1, sizeof(*liveness->listening));
    if (liveness->listening == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < sockets->count; i++) {
        bool is_shared = sockets->listeners[i].is_shared;
        for (unsigned k = 0; k < (is_shared ? 1 : sockets->workers); k++) {
            struct liveness_socket *socket = &liveness->listening[liveness->listening_count++];
            *socket = (struct liveness_socket){.liveness = liveness,
                                               .worker = is_shared ? ALL_WORKERS : k};
            evix_io_init(&socket->io, liveness->options.loop, sockets_descriptor(sockets, k, i),
                         on_connection);
        }
    }
    return 0;
}

int liveness_init(struct liveness *liveness, const struct liveness_options *options)
{
    *liveness = (struct liveness){.options = *options};
    evix_timer_init(&liveness->timer, options->loop, on_look);
    liveness->workers = calloc(options->sockets->workers, sizeof(*liveness->workers));
    if (liveness->workers != NULL && list_sockets(liveness) == 0)
        return 0;
    liveness_fini(liveness);
    return -ENOMEM;
}

void liveness_begin(struct liveness *liveness)
{
    liveness->has_begun = true;
    look_soon(liveness);
}

void liveness_note_start(struct liveness *liveness, unsigned worker,
                         const struct counters_slot *slot)
{
    struct liveness_worker *one = &liveness->workers[worker];
    *one = (struct liveness_worker){.slot = slot,
                                    .turned_ms = evix_now_ms(liveness->options.loop),
                                    .is_running = true,
                                    .state = one->state};
    look_soon(liveness);
}

void liveness_note_end(struct liveness *liveness, unsigned worker, bool is_away)
{
    struct liveness_worker *one = &liveness->workers[worker];
    bool stays_away = one->state != LIVENESS_SERVES && !liveness->has_left;
    *one = (struct liveness_worker){.state = stays_away ? LIVENESS_AWAY : LIVENESS_SERVES};
    if (is_away)
        set_state(liveness, worker, LIVENESS_AWAY);
    look_soon(liveness);
}

void liveness_expect_turn(struct liveness *liveness, unsigned worker)
{
    liveness->workers[worker].owes_turn = liveness->workers[worker].is_running;
    look_soon(liveness);
}

void liveness_leave_sockets(struct liveness *liveness)
{
    end_waiting(liveness);
    liveness->listening_count = 0;
    liveness->has_left = true;
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++) {
        if (!liveness->workers[i].is_running)
            liveness->workers[i].state = LIVENESS_SERVES; /* nobody waits for its successor now */
    }
}

unsigned liveness_count_away(const struct liveness *liveness)
{
    unsigned count = 0;
    for (unsigned i = 0; i < liveness->options.sockets->workers; i++)
        count += liveness->workers[i].state != LIVENESS_SERVES;
    return count;
}

void liveness_fini(struct liveness *liveness)
{
    end_waiting(liveness);
    evix_timer_stop(&liveness->timer);
    free(liveness->listening);
    free(liveness->workers);
    liveness->listening = NULL;
    liveness->listening_count = 0;
    liveness->workers = NULL;
}
