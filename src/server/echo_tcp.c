/* SPDX-License-Identifier: MIT */
/*
 * RFC 862 over TCP: each piece that comes is sent back before the next one is received.
 * It knows no protocol, and gives a silent peer as long as a kept-alive connection.
 * Called by listener.c.
 */
#include "server/echo_tcp.h"

#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "server/deadline.h"
#include "server/rate.h"
#include "server/transport.h"
#include "server/worker_state.h"

/* malloc(3)ed bytes. */
struct echo_bytes {
    char *data;
    size_t length;
};

struct echo_session {
    struct transport transport;
    struct deadline deadline;
    struct worker *worker;
    struct echo_session *next, *previous;
    struct evix_op operation;
    struct iovec piece;
    struct echo_bytes sending; /* on its way back */
    struct echo_bytes waiting; /* came meanwhile */
    uint64_t progress_mark;    /* of bytes that the peer had taken when that was asked last */
    uint64_t sent_bytes;
    bool is_finishing; /* no more is taken */
    bool is_lingering; /* all is sent, and the end; what comes is dropped until the peer's */
    bool is_delivered; /* and the peer's kernel has it: not long from now */
    bool is_closing, input_ended;
};

static struct echo_session *session_of(struct transport *transport)
{
    return EVIX_CONTAINER_OF(transport, struct echo_session, transport);
}

/* Of the piece that is on its way, what the kernel has. */
static uint64_t progress_of_piece(const struct echo_session *session)
{
    return session->sending.length != 0 ? evix_op_progress(&session->operation) : 0;
}

static void close_session(struct echo_session *session)
{
    if (session->is_closing)
        return;
    session->is_closing = true;
    deadline_stop(&session->deadline);
    transport_close(&session->transport);
}

/*
 * All that came has been sent back, to the kernel. A close now would be answered by a reset if the
 * peer has sent more, and that destroys what it has not taken yet: so it is told of the end, and
 * read on for a while.
 */
static void end_session(struct echo_session *session)
{
    uint32_t linger_ms = retire_linger_ms(session->worker);

    if (session->input_ended || linger_ms == 0 ||
        (!transport_has_unread(&session->transport) &&
         transport_is_delivered(&session->transport))) {
        close_session(session);
        return;
    }
    session->is_lingering = true;
    transport_shutdown(&session->transport);
    transport_receive(&session->transport);
    deadline_start(&session->deadline, session->worker->config->timeouts.keep_alive_ms, linger_ms);
}

static void on_closed(struct transport *transport)
{
    struct echo_session *session = session_of(transport);
    struct worker *worker = session->worker;

    if (session->next != NULL)
        session->next->previous = session->previous;
    if (session->previous != NULL)
        session->previous->next = session->next;
    else
        worker->echo_sessions = session->next;
    counters_add(&worker->slot->data.counts[COUNTER_SENT], progress_of_piece(session));
    free(session->sending.data);
    free(session->waiting.data);
    free(session);
    counters_subtract(&worker->slot->data.echo_sessions, 1);
    worker_connection_closed(worker);
}

static void wait_anew(struct echo_session *session)
{
    deadline_move(&session->deadline, evix_now_ms(session->worker->loop),
                  session->worker->config->timeouts.keep_alive_ms);
}

static bool keep(struct echo_bytes *bytes, const char *data, size_t length)
{
    char *larger = realloc(bytes->data, bytes->length + length);

    if (larger == NULL)
        return false;
    memcpy(larger + bytes->length, data, length);
    bytes->data = larger;
    bytes->length += length;
    return true;
}

/* Sends what waits, receives while nothing does, ends when the peer has, or we do, and all is sent.
 */
static void proceed(struct echo_session *session)
{
    if (session->sending.length == 0 && session->waiting.length != 0) {
        session->sending = session->waiting;
        session->waiting = (struct echo_bytes){0};
        session->piece =
            (struct iovec){.iov_base = session->sending.data, .iov_len = session->sending.length};
        transport_send(&session->transport, &session->operation, &session->piece, 1, false);
    }
    bool is_last = session->input_ended || session->is_finishing;
    if (session->waiting.length != 0 || is_last)
        transport_pause(&session->transport);
    else
        transport_receive(&session->transport);
    if (is_last && session->sending.length == 0)
        end_session(session);
}

static void on_received(struct transport *transport, const char *data, ssize_t length)
{
    struct echo_session *session = session_of(transport);

    worker_note_turn(session->worker);
    if (length > 0)
        counters_add(&session->worker->slot->data.counts[COUNTER_RECEIVED], (uint64_t)length);
    if (session->is_lingering && length > 0)
        return;
    if (length < 0 || session->is_lingering ||
        (length > 0 && !keep(&session->waiting, data, (size_t)length))) {
        close_session(session);
        return;
    }
    /* After the order to finish, some that came before it may still follow: it is sent back. */
    session->input_ended |= length == 0;
    wait_anew(session);
    proceed(session);
}

static void on_sent(struct transport *transport, ssize_t result)
{
    struct echo_session *session = session_of(transport);

    if (result < 0) {
        close_session(session);
        return;
    }
    worker_note_turn(session->worker);
    counters_add(&session->worker->slot->data.counts[COUNTER_SENT], (uint64_t)result);
    session->sent_bytes += (uint64_t)result;
    free(session->sending.data);
    session->sending = (struct echo_bytes){0};
    wait_anew(session);
    proceed(session);
}

static const struct transport_events events = {
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
};

/* A peer that takes its bytes slowly may go on as a client that takes a response does. */
static bool takes_enough(struct echo_session *session)
{
    if (session->sending.length == 0 && transport_is_delivered(&session->transport))
        return false; /* it is owed nothing */

    const struct config *config = session->worker->config;
    uint64_t now_ms = evix_now_ms(session->worker->loop);
    uint64_t before = session->progress_mark;

    if (!transport_acknowledged(&session->transport, &session->progress_mark))
        session->progress_mark = session->sent_bytes + progress_of_piece(session);
    session->deadline.due_ms =
        rate_due_ms(session->deadline.due_ms, now_ms, session->progress_mark - before,
                    config->timeouts.keep_alive_ms, config->limits.min_rate);
    return session->deadline.due_ms > now_ms;
}

/* The linger proper begins when the peer has all; whether it has is looked at once a tick. */
static void look_for_delivery(struct echo_session *session)
{
    session->is_delivered = transport_is_delivered(&session->transport);
    if (session->is_delivered)
        deadline_move(&session->deadline, evix_now_ms(session->worker->loop),
                      retire_linger_ms(session->worker));
}

static void on_deadline(struct evix_timer *timer)
{
    struct deadline *deadline = EVIX_CONTAINER_OF(timer, struct deadline, timer);
    struct echo_session *session = EVIX_CONTAINER_OF(deadline, struct echo_session, deadline);
    uint64_t tick_ms = session->is_lingering ? retire_linger_ms(session->worker)
                                             : session->worker->deadline_tick_ms;

    if (session->is_lingering && !session->is_delivered)
        look_for_delivery(session);
    if (!deadline_passed(deadline, tick_ms))
        return;
    if (!session->is_delivered && takes_enough(session))
        (void)deadline_passed(deadline, tick_ms);
    else
        close_session(session);
}

void echo_tcp_open(struct worker *worker, int fd)
{
    struct echo_session *session = calloc(1, sizeof(*session));

    if (session == NULL) {
        log_event(LOG_LEVEL_ERROR, "no memory for an echo session: closed");
        close(fd);
        return;
    }
    session->worker = worker;
    session->next = worker->echo_sessions;
    if (session->next != NULL)
        session->next->previous = session;
    worker->echo_sessions = session;
    counters_add(&worker->slot->data.echo_sessions, 1);
    worker_connection_opened(worker);
    transport_plain_init(&session->transport, worker->loop, fd, &events);
    deadline_init(&session->deadline, worker->loop, on_deadline);
    deadline_start(&session->deadline, worker->config->timeouts.keep_alive_ms,
                   worker->deadline_tick_ms);
    transport_receive(&session->transport);
}

void echo_tcp_close_all(struct worker *worker)
{
    for (struct echo_session *session = worker->echo_sessions; session != NULL;
         session = session->next)
        close_session(session);
}

void echo_tcp_finish_all(struct worker *worker)
{
    struct echo_session *next;

    for (struct echo_session *session = worker->echo_sessions; session != NULL; session = next) {
        next = session->next;
        if (session->is_closing || session->is_lingering)
            continue;
        session->is_finishing = true;
        proceed(session);
    }
}
