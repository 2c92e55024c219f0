/* SPDX-License-Identifier: MIT */
/*
 * The end of a worker's life: listeners, then connections, then the loop.
 * It does not decide when: the master does, by a word or a signal.
 * Called by worker.c, connection.c and listener.c.
 */
#include "server/connection.h"
#include "server/retire.h"

#include "log/log.h"
#include "server/echo_tcp.h"
#include "server/listener.h"
#include "server/worker_state.h"

/*
 * How long a listener that goes for good still accepts. Nobody new is sent to it by then; this is
 * for handshakes under way, with time for one packet to be lost and sent again.
 */
#define LISTENERS_MS 1500

/*
 * How long an idle connection may still bring a request. Nobody waits for a worker that others have
 * replaced; but somebody waits for a server to stop.
 */
#define RETIRED_IDLE_MS   5000
#define FINISHING_IDLE_MS 500

/* Longest wait of a server that stops for a client that does not close its side. */
#define FINISHING_LINGER_MS 1000

/* ---- listeners --------------------------------------------------------------------------- */

/* With the last listener closed, only connections keep the loop alive. */
static void let_go(struct worker *worker)
{
    worker_say(worker, WORKER_LET_GO);
    evix_io_stop(&worker->control);
}

static void on_listener_closed(struct listener *listener)
{
    struct worker *worker = listener->worker;

    if (listener->is_handed_on && --worker->retire.open_stays == 0)
        worker_say(worker, WORKER_MADE_WAY);
    if (--worker->retire.open_listeners == 0)
        let_go(worker);
}

static void close_listeners(struct worker *worker)
{
    for (size_t i = 0; i < worker->listener_count; i++)
        listener_close(&worker->listeners[i], on_listener_closed);
}

/* The master has closed its own: once ours are closed, whoever waits there is reset. */
static void drain_listeners(struct worker *worker)
{
    for (size_t i = 0; i < worker->listener_count; i++)
        listener_drain(&worker->listeners[i]);
    close_listeners(worker);
}

static void on_listeners_timer(struct evix_timer *timer)
{
    drain_listeners(EVIX_CONTAINER_OF(timer, struct worker, retire.listeners_timer));
}

/* ---- ending ------------------------------------------------------------------------------ */

static void on_shutdown_timer(struct evix_timer *timer)
{
    struct worker *worker = EVIX_CONTAINER_OF(timer, struct worker, retire.shutdown_timer);

    counters_add(&worker->slot->data.counts[COUNTER_TIMEOUT_SHUTDOWN], worker->connection_count);
    log_event(LOG_LEVEL_NOTICE, "worker %u: cut off by timeouts.shutdown: %u connection%s",
              worker->index, worker->connection_count, worker->connection_count == 1 ? "" : "s");
    retire_now(worker);
}

static void begin(struct worker *worker)
{
    struct retire *retire = &worker->retire;
    uint32_t most_ms = worker->config->timeouts.shutdown_ms;

    worker->is_stopping = true;
    for (size_t i = 0; i < WORKER_SIGNALS; i++)
        evix_unref(&worker->signals[i].signal.handle);
    if (most_ms != 0) {
        evix_timer_start(&retire->shutdown_timer, most_ms, 0);
        evix_unref(&retire->shutdown_timer.handle);
    }
}

static void retire_connections(struct worker *worker)
{
    struct connection *next;

    for (struct connection *connection = worker->connections; connection != NULL;
         connection = next) {
        next = connection->next;
        connection_retire(connection);
    }
}

void retire_take_order(struct worker *worker, char word)
{
    struct retire *retire = &worker->retire;
    bool is_order = word == WORKER_LISTENER_STAYS || word == WORKER_LISTENER_GOES;

    if (!is_order || retire->ordered == worker->listener_count || worker->is_stopping)
        return;
    struct listener *listener = &worker->listeners[retire->ordered];
    if (word == WORKER_LISTENER_STAYS) {
        listener->is_handed_on = true;
        retire->open_stays++;
    }
    if (++retire->ordered < worker->listener_count)
        return;
    begin(worker);
    if (retire->open_stays == 0)
        worker_say(worker, WORKER_MADE_WAY);
    if (retire->open_stays < worker->listener_count)
        evix_timer_start(&retire->listeners_timer, LISTENERS_MS, 0);
    for (size_t i = 0; i < worker->listener_count; i++)
        if (worker->listeners[i].is_handed_on)
            listener_close(&worker->listeners[i], on_listener_closed);
    retire_connections(worker);
}

void retire_finish(struct worker *worker)
{
    worker->retire.is_finishing = true;
    if (!worker->is_stopping)
        begin(worker);
    evix_timer_stop(&worker->retire.listeners_timer);
    drain_listeners(worker);
    echo_tcp_finish_all(worker);
    retire_connections(worker);
}

void retire_now(struct worker *worker)
{
    worker->retire.is_finishing = true;
    if (!worker->is_stopping)
        begin(worker);
    evix_timer_stop(&worker->retire.listeners_timer);
    close_listeners(worker);
    echo_tcp_close_all(worker);
    for (struct connection *connection = worker->connections; connection != NULL;
         connection = connection->next)
        connection_abort(connection);
}

uint32_t retire_idle_ms(const struct worker *worker)
{
    return worker->retire.is_finishing ? FINISHING_IDLE_MS : RETIRED_IDLE_MS;
}

uint32_t retire_linger_ms(const struct worker *worker)
{
    uint32_t linger_ms = worker->config->timeouts.linger_ms;

    if (!worker->retire.is_finishing || (linger_ms != 0 && linger_ms < FINISHING_LINGER_MS))
        return linger_ms;
    return FINISHING_LINGER_MS;
}

void retire_init(struct worker *worker)
{
    struct retire *retire = &worker->retire;

    retire->open_listeners = worker->listener_count;
    evix_timer_init(&retire->listeners_timer, worker->loop, on_listeners_timer);
    evix_timer_init(&retire->shutdown_timer, worker->loop, on_shutdown_timer);
}

void retire_fini(struct worker *worker)
{
    evix_timer_stop(&worker->retire.listeners_timer);
    evix_timer_stop(&worker->retire.shutdown_timer);
}
