/* SPDX-License-Identifier: MIT */
/*
 * A connection's socket life: open, receive, keep what can't be consumed yet, wait, close.
 * It does not know HTTP: what the bytes mean is http1.c's.
 * Called by listener.c, worker.c and http1.c, and by the loop.
 */
#include "server/connection.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "server/http1.h"
#include "server/rate.h"
#include "server/worker_state.h"

/* An idle connection costs the process 400 bytes at most, with what its block has besides. */
static_assert(sizeof(struct connection) <= 352, "an idle connection is small");

/* What a client's kernel takes at once: a connection's initial window (RFC 6928), 10 segments. */
#define INITIAL_WINDOW_BYTES 14600

static const struct transport_events events;
static void on_deadline(struct evix_timer *timer);

static struct connection *connection_of(struct transport *transport)
{
    return EVIX_CONTAINER_OF(transport, struct connection, transport);
}

/* ---- open and close ---------------------------------------------------------------------- */

static void link_in(struct connection *connection)
{
    struct worker *worker = connection->worker;

    connection->next = worker->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    worker->connections = connection;
}

static void link_out(struct connection *connection)
{
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        connection->worker->connections = connection->next;
}

/* Asked at once, since a client that has gone has no address any more; only if it is wanted. */
static void learn_address(struct connection *connection, int fd)
{
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof(peer);

    if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0)
        return;
    if (peer.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&peer;

        connection->address = in6->sin6_addr;
    } else if (peer.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&peer;

        connection->address.s6_addr[10] = connection->address.s6_addr[11] = 0xff;
        memcpy(connection->address.s6_addr + 12, &in->sin_addr, 4);
    }
}

const char *connection_peer(struct connection *connection, char out[CONNECTION_PEER_BYTES])
{
    const struct in6_addr *address = &connection->address;

    if (!connection->worker->wants_address)
        learn_address(connection, connection->transport.socket.fd);
    if (IN6_IS_ADDR_UNSPECIFIED(address))
        return connection->local_port == 0 ? "unix:" : "-";
    /* A client of IPv4 that came in by a dual-stack socket is known by its IPv4 address. */
    if (IN6_IS_ADDR_V4MAPPED(address))
        return inet_ntop(AF_INET, address->s6_addr + 12, out, CONNECTION_PEER_BYTES);
    return inet_ntop(AF_INET6, address, out, CONNECTION_PEER_BYTES);
}

static bool enter_address(struct connection *connection)
{
    connection->is_counted =
        !IN6_IS_ADDR_UNSPECIFIED(&connection->address) &&
        address_limit_enter(&connection->worker->addresses, &connection->address);
    return connection->is_counted || IN6_IS_ADDR_UNSPECIFIED(&connection->address);
}

void connection_open(struct worker *worker, int fd, uint16_t local_port)
{
    struct connection *connection = slab_take(&worker->connection_memory);

    if (connection == NULL) {
        log_event(LOG_LEVEL_ERROR, "no memory for a connection: closed");
        close(fd);
        return;
    }
    *connection = (struct connection){.worker = worker, .local_port = local_port};
    if (worker->wants_address)
        learn_address(connection, fd);
    if (!enter_address(connection)) {
        char peer[CONNECTION_PEER_BYTES];

        counters_add(&worker->slot->data.counts[COUNTER_LIMIT_ADDRESS], 1);
        log_event(LOG_LEVEL_INFO, "%s has too many connections: closed",
                  connection_peer(connection, peer));
        close(fd);
        slab_give(&worker->connection_memory, connection);
        return;
    }
    transport_plain_init(&connection->transport, worker->loop, fd, &events);
    deadline_init(&connection->deadline, worker->loop, on_deadline);
    deadline_start(&connection->deadline, worker->config->timeouts.head_ms,
                   worker->deadline_tick_ms);
    connection->wait = WAIT_HEAD;
    counters_add(&worker->slot->data.connections[WAIT_HEAD], 1);
    link_in(connection);
    worker_connection_opened(worker);
    transport_receive(&connection->transport);
}

static void close_now(struct connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    deadline_stop(&connection->deadline);
    http1_cancel(connection);
    transport_close(&connection->transport);
}

static void on_closed(struct transport *transport)
{
    struct connection *connection = connection_of(transport);
    struct worker *worker = connection->worker;

    http1_release(connection);
    free(connection->input);
    if (connection->is_counted)
        address_limit_leave(&worker->addresses, &connection->address);
    counters_subtract(&worker->slot->data.connections[connection->wait], 1);
    link_out(connection);
    slab_give(&worker->connection_memory, connection);
    worker_connection_closed(worker);
}

void connection_abort(struct connection *connection)
{
    if (connection->is_closing)
        return;
    if (connection_is_busy(connection))
        transport_reset(&connection->transport);
    close_now(connection);
}

/*
 * The last response has left. If the client may have sent what we did not read, closing now would
 * make the kernel answer with a reset, which can destroy the response on its way (RFC 9112 9.6):
 * say that we are done, and read on for a while.
 */
static void end(struct connection *connection)
{
    /* That this was its last request a client knows when it has read so, unless it said it itself:
       another one may be on its way, or be sent while the response is still waiting to leave.
       Clients that said it must not send more (RFC 9112 9.6), but some do, if only an empty line
       (2.2). That can destroy only what the client's kernel has not taken yet. */
    bool may_send = !connection->is_waived || connection->exceeds_window;
    bool is_unread = connection->is_refused || connection->input_length != 0 || may_send;

    if (connection->input_ended || retire_linger_ms(connection->worker) == 0) {
        close_now(connection);
        return;
    }
    /* First the end, and with it what the kernel held back for it: then nothing that comes between
       the look and the close can destroy the response. */
    transport_shutdown(&connection->transport);
    if (!is_unread && !transport_has_unread(&connection->transport)) {
        close_now(connection);
        return;
    }
    connection->is_lingering = true;
    connection->input_length = 0;
    transport_receive(&connection->transport);
}

/* Nothing of a request is here, nothing of a response is on its way. */
static bool is_idle(const struct connection *connection)
{
    return !connection_is_busy(connection) && !connection->is_lingering &&
           connection->input_length == 0;
}

/* A request may have been sent before its client could know that we end: it gets a moment. */
static void wait_for_last(struct connection *connection)
{
    uint32_t idle_ms = retire_idle_ms(connection->worker);

    deadline_start(&connection->deadline, idle_ms, idle_ms);
}

void connection_retire(struct connection *connection)
{
    /* What is under way, or has come already, is answered: with a close, since we stop. */
    if (!connection->is_closing && is_idle(connection))
        wait_for_last(connection);
}

/* ---- the deadline ------------------------------------------------------------------------ */

bool connection_is_busy(const struct connection *connection)
{
    return connection->exchange != NULL || connection->sending != NULL ||
           connection->is_sending_file || connection->output != NULL;
}

static bool is_sending(const struct connection *connection)
{
    return connection->sending != NULL || connection->is_sending_file;
}

/*
 * Content that is sent back is measured as such, or the wait would begin anew with each byte that
 * goes the other way; but not while the client keeps us from taking it, for it does not take what
 * came of it. Content that no handler wants is read when there is an answer, and that comes first.
 */
static bool owes_content(const struct connection *connection)
{
    const struct exchange *exchange = connection->exchange;

    if (!http1_awaits_content(connection))
        return false;
    if (exchange->wants_content)
        return connection->input_length == 0 || !is_sending(connection);
    return exchange->status != 0 && !is_sending(connection);
}

static enum connection_wait wait_of(const struct connection *connection)
{
    if (connection->is_lingering)
        return WAIT_LINGER;
    if (owes_content(connection))
        return WAIT_CONTENT;
    if (is_sending(connection))
        return WAIT_SEND;
    if (connection->exchange != NULL)
        return WAIT_NOTHING;
    if (connection->input_length != 0 || connection->request_count == 0)
        return WAIT_HEAD;
    return WAIT_KEEP_ALIVE;
}

static uint64_t timeout_of(const struct connection *connection)
{
    const struct config_timeouts *timeouts = &connection->worker->config->timeouts;

    switch ((enum connection_wait)connection->wait) {
    case WAIT_HEAD:
        return timeouts->head_ms;
    case WAIT_KEEP_ALIVE:
        return timeouts->keep_alive_ms;
    case WAIT_CONTENT:
        return timeouts->body_ms;
    case WAIT_SEND:
        return timeouts->send_ms;
    case WAIT_LINGER:
        return retire_linger_ms(connection->worker);
    case WAIT_NOTHING:
        break;
    }
    return 0;
}

static void set_wait(struct connection *connection, enum connection_wait wait)
{
    struct counters_data *counted = &connection->worker->slot->data;

    counters_subtract(&counted->connections[connection->wait], 1);
    counters_add(&counted->connections[wait], 1);
    connection->wait = wait;
}

static void wait_anew(struct connection *connection)
{
    deadline_start(&connection->deadline, timeout_of(connection),
                   connection->worker->deadline_tick_ms);
}

/* Time that was bought and not used is worth as much when more is sent: its bytes count again. */
static void refund(struct connection *connection, uint64_t now_ms)
{
    const struct config *config = connection->worker->config;
    uint64_t granted_ms = now_ms + config->timeouts.send_ms;

    if (config->timeouts.send_ms == 0 || connection->deadline.due_ms <= granted_ms)
        return;
    uint64_t bytes = (connection->deadline.due_ms - granted_ms) * config->limits.min_rate / 1000;
    connection->progress_mark -=
        bytes < connection->progress_mark ? bytes : connection->progress_mark;
}

/* From now on, it has so long for what it waits for. */
static void begin_wait(struct connection *connection, enum connection_wait wait)
{
    uint64_t now_ms = evix_now_ms(connection->worker->loop);

    if (connection->wait == WAIT_SEND)
        refund(connection, now_ms);
    set_wait(connection, wait);
    deadline_move(&connection->deadline, now_ms, timeout_of(connection));
    if (wait == WAIT_CONTENT && connection->exchange->content_paid_ms < connection->deadline.due_ms)
        connection->exchange->content_paid_ms = connection->deadline.due_ms;
}

/* Sets the deadline if its reason has changed. */
static void update_deadline(struct connection *connection)
{
    enum connection_wait wait = wait_of(connection);

    if (wait == connection->wait)
        return;
    begin_wait(connection, wait);
    if (connection->worker->is_stopping && is_idle(connection))
        wait_for_last(connection);
    else if (connection->worker->retire.is_finishing && wait == WAIT_LINGER)
        wait_anew(connection); /* for less than a tick, maybe */
}

/* What the client has taken since this was asked last. Without TCP: what the kernel has. */
static uint64_t take_progress(struct connection *connection)
{
    uint64_t before = connection->progress_mark;
    uint32_t sent = connection->sent_bytes;

    if (transport_acknowledged(&connection->transport, &connection->progress_mark))
        return connection->progress_mark - before;
    if (connection->sending != NULL)
        sent += (uint32_t)evix_op_progress(&connection->sending->op);
    else if (connection->is_sending_file)
        sent += (uint32_t)evix_op_progress(&connection->exchange->file_op);
    connection->progress_mark = sent;
    return sent - (uint32_t)before;
}

/* Whether what the client takes of its response, however slowly, is enough to go on. */
static bool takes_enough(struct connection *connection)
{
    const struct worker *worker = connection->worker;
    uint64_t now_ms = evix_now_ms(worker->loop);
    uint64_t moved = take_progress(connection);

    connection->deadline.due_ms =
        rate_due_ms(connection->deadline.due_ms, now_ms, moved, worker->config->timeouts.send_ms,
                    worker->config->limits.min_rate);
    return connection->deadline.due_ms > now_ms;
}

/* The same of its content, which we see as it comes: so that it stands still is seen, too. */
static bool brings_enough(struct connection *connection)
{
    const struct worker *worker = connection->worker;
    struct exchange *exchange = connection->exchange;
    uint64_t *paid_ms = &exchange->content_paid_ms, *due_ms = &connection->deadline.due_ms;
    uint64_t now_ms = evix_now_ms(worker->loop);
    uint64_t timeout_ms = worker->config->timeouts.body_ms;
    uint64_t moved = exchange->content_bytes - exchange->content_mark;

    if (moved == 0)
        return false;
    exchange->content_mark = exchange->content_bytes;
    if (*paid_ms < *due_ms) /* it was put off */
        *paid_ms = *due_ms;
    *paid_ms = rate_due_ms(*paid_ms, now_ms, moved, timeout_ms, worker->config->limits.min_rate);
    *due_ms = *paid_ms < now_ms + timeout_ms ? *paid_ms : now_ms + timeout_ms;
    return *paid_ms > now_ms;
}

/* The linger is for a client that has everything; until then it is measured as any that reads. */
static bool lingers_on(struct connection *connection)
{
    if (connection->wait == WAIT_LINGER && !transport_is_delivered(&connection->transport)) {
        begin_wait(connection, WAIT_SEND);
        return true;
    }
    return connection->wait == WAIT_SEND && takes_enough(connection);
}

/* Its time is over. Whether it gets more. */
static bool may_go_on(struct connection *connection)
{
    if (connection->is_lingering)
        return lingers_on(connection);
    if (connection->wait == WAIT_SEND)
        return takes_enough(connection);
    return connection->wait == WAIT_CONTENT && brings_enough(connection);
}

/* No request has come: to a worker that ends, or in time. */
static void end_idle(struct connection *connection)
{
    bool is_retired = connection->worker->is_stopping && !connection->worker->retire.is_finishing;

    /* A retired worker has the time to wait for the client to see the end. */
    if (!is_retired && transport_is_delivered(&connection->transport))
        close_now(connection);
    else
        end(connection);
    if (!connection->is_closing)
        update_deadline(connection);
}

/* What was waited for has not come. */
static void time_out(struct connection *connection)
{
    uint64_t tick_ms = connection->worker->deadline_tick_ms;

    counters_add(&connection->worker->slot->data.timeouts[connection->wait], 1);
    if (connection->wait == WAIT_SEND) {
        char peer[CONNECTION_PEER_BYTES];

        log_event(LOG_LEVEL_INFO, "%s takes its response too slowly: cut off",
                  connection_peer(connection, peer));
        if (connection->exchange != NULL)
            connection->exchange->reason = "the client takes its response too slowly";
        transport_reset(&connection->transport);
        close_now(connection);
        return;
    }
    deadline_start(&connection->deadline, 0, tick_ms);
    if (connection->wait == WAIT_KEEP_ALIVE ||
        (connection->worker->is_stopping && is_idle(connection)))
        end_idle(connection);
    else if (connection->wait == WAIT_HEAD || connection->wait == WAIT_CONTENT)
        http1_time_out(connection);
    else
        close_now(connection);
}

static void on_deadline(struct evix_timer *timer)
{
    struct deadline *deadline = EVIX_CONTAINER_OF(timer, struct deadline, timer);
    struct connection *connection = EVIX_CONTAINER_OF(deadline, struct connection, deadline);
    uint64_t tick_ms = connection->worker->deadline_tick_ms;

    if (connection->is_lingering && connection->wait == WAIT_SEND) {
        if (transport_is_delivered(&connection->transport))
            begin_wait(connection, WAIT_LINGER);
        if (tick_ms > retire_linger_ms(connection->worker))
            tick_ms = retire_linger_ms(connection->worker);
    }
    if (!deadline_passed(deadline, tick_ms))
        return;
    if (may_go_on(connection))
        (void)deadline_passed(deadline, tick_ms);
    else if (is_idle(connection) && transport_has_unread(&connection->transport))
        wait_anew(connection); /* a request has come, but not its turn yet */
    else
        time_out(connection);
}

/* ---- input ------------------------------------------------------------------------------- */

/* Keeps bytes that can't be consumed yet. Heads and pauses bound how much that can be. */
static bool keep_input(struct connection *connection, const char *data, size_t length)
{
    size_t used = (size_t)connection->input_start + connection->input_length;

    if (length == 0)
        return true;
    if (connection->input_start != 0 && used + length > connection->input_capacity) {
        memmove(connection->input, connection->input + connection->input_start,
                connection->input_length);
        connection->input_start = 0;
        used = connection->input_length;
    }
    if (used + length > connection->input_capacity) {
        size_t capacity = (used + length + 1023) & ~(size_t)1023;
        char *larger = realloc(connection->input, capacity);

        if (larger == NULL) {
            log_event(LOG_LEVEL_ERROR, "no memory for %zu bytes of input", length);
            return false;
        }
        connection->input = larger;
        connection->input_capacity = (uint32_t)capacity;
    }
    memcpy(connection->input + used, data, length);
    connection->input_length += (uint32_t)length;
    return true;
}

static void take_input(struct connection *connection)
{
    while (connection->input_length != 0 && !connection->is_closing) {
        size_t taken = http1_take(connection, connection->input + connection->input_start,
                                  connection->input_length);

        connection->input_start += (uint32_t)taken;
        connection->input_length -= (uint32_t)taken;
        if (taken == 0)
            break;
    }
    if (connection->input_length == 0 && connection->input != NULL) {
        free(connection->input);
        connection->input = NULL;
        connection->input_capacity = connection->input_start = 0;
    }
}

/* Something is being sent, or about to be. */
static bool is_leaving(const struct connection *connection)
{
    return is_sending(connection) || connection->output != NULL;
}

/* No request follows what is under way. */
static bool is_done(const struct connection *connection)
{
    return connection->is_last || connection->is_refused || connection->input_ended;
}

bool connection_is_ending(const struct connection *connection)
{
    return connection->exchange == NULL && connection->input_length == 0 &&
           !connection->is_refused && (connection->is_waived || connection->input_ended) &&
           is_done(connection);
}

/*
 * Back-pressure: while what came can't be used, nothing more is read. Nor is it when the answers
 * are all on their way and the end follows: a receive would only have to be cancelled.
 */
static bool wants_input(const struct connection *connection)
{
    if (connection->is_refused || connection->is_lingering)
        return true;
    return !connection_is_ending(connection) &&
           !(connection->input_length != 0 && connection_is_busy(connection));
}

static void settle(struct connection *connection)
{
    if (connection->is_closing)
        return;
    /* Half of a request will never become a whole one, but earlier answers still leave. */
    if (connection->input_ended && connection->input_length == 0 &&
        http1_awaits_content(connection) && !is_leaving(connection)) {
        close_now(connection);
        return;
    }
    if (!connection_is_busy(connection) && !connection->is_lingering) {
        if (is_done(connection)) {
            end(connection);
            if (connection->is_closing)
                return;
        }
    }
    if (!wants_input(connection))
        transport_pause(&connection->transport);
    else if (!connection->input_ended)
        transport_receive(&connection->transport);
    update_deadline(connection);
}

/*
 * Sends what there is, takes what input it can, sends what came of that. What handlers and bodies
 * report meanwhile does not begin it anew: there is always another look before the end.
 */
static void run(struct connection *connection)
{
    connection->is_running = true;
    http1_send(connection);
    if (connection->input_length != 0) {
        take_input(connection);
        http1_send(connection);
    }
    connection->is_running = false;
    settle(connection);
}

void connection_proceed(struct connection *connection)
{
    if (!connection->is_running && !connection->is_closing)
        run(connection);
}

static void on_input_end(struct connection *connection)
{
    connection->input_ended = true;
    if (connection->is_lingering)
        close_now(connection);
    else
        settle(connection);
}

static void on_received(struct transport *transport, const char *data, ssize_t length)
{
    struct connection *connection = connection_of(transport);

    if (connection->is_closing)
        return;
    worker_note_turn(connection->worker);
    if (length <= 0) {
        if (length == 0)
            on_input_end(connection);
        else
            close_now(connection);
        return;
    }
    counters_add(&connection->worker->slot->data.counts[COUNTER_RECEIVED], (uint64_t)length);
    if (connection->is_refused || connection->is_lingering)
        return;
    if (connection->worker->refreshes_by_receive)
        connection->worker->is_stale = true;

    size_t taken = 0;
    connection->is_running = true;
    if (connection->input_length == 0)
        taken = http1_take(connection, data, (size_t)length);
    if (!keep_input(connection, data + taken, (size_t)length - taken))
        http1_give_up(connection);
    run(connection);
}

/* Either side of sendfile(2) may have failed: the socket, if it has no peer any more. */
static void send_failed(struct connection *connection, int error)
{
    if (!connection->is_sending_file || error == -EPIPE || error == -ECONNRESET ||
        !transport_has_peer(&connection->transport)) {
        close_now(connection);
        return;
    }
    connection->is_running = true;
    http1_piece_failed(connection, error);
    run(connection);
}

static void on_sent(struct transport *transport, ssize_t result)
{
    struct connection *connection = connection_of(transport);

    if (connection->is_closing)
        return;
    worker_note_turn(connection->worker);
    if (result < 0) {
        send_failed(connection, (int)result);
        return;
    }
    counters_add(&connection->worker->slot->data.counts[COUNTER_SENT], (uint64_t)result);
    connection->sent_bytes += (uint32_t)result;
    connection->exceeds_window |= result > INITIAL_WINDOW_BYTES ||
                                  connection->sent_bytes > INITIAL_WINDOW_BYTES ||
                                  connection->request_count > 1;
    connection->is_running = true;
    http1_sent(connection, (uint64_t)result);
    run(connection);
}

static const struct transport_events events = {
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
};
