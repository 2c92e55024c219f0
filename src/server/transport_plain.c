/* SPDX-License-Identifier: MIT */
/*
 * The transport that is a plain stream socket.
 * It does not buffer, time out or know what the bytes mean.
 * Called by connection.c through the table of transport.h.
 */
#include "server/transport.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>

/* So long after it was seen, what the page cache had of a file is not counted on any more. */
#define FRESH_MS 100

static void on_received(struct evix_op *op, ssize_t result)
{
    struct transport *transport = EVIX_CONTAINER_OF(op, struct transport, receiving);
    const char *data = result > 0 ? evix_op_data(op) : NULL;

    if (transport->closing)
        return;
    if (!evix_op_more(op)) {
        if (result == -ECANCELED) {
            /* The pause came through; meanwhile the owner may have changed its mind. */
            if (transport->wants)
                evix_receive(op, &transport->socket, on_received);
            return;
        }
        if (result <= 0)
            transport->ended = true;
        else if (transport->wants)
            evix_receive(op, &transport->socket, on_received);
    }
    transport->events->received(transport, data, result);
}

static void plain_receive(struct transport *transport)
{
    transport->wants = true;
    if (!transport->ended && !evix_op_pending(&transport->receiving))
        evix_receive(&transport->receiving, &transport->socket, on_received);
}

static void plain_pause(struct transport *transport)
{
    transport->wants = false;
    evix_cancel(&transport->receiving);
}

/* The operation belongs to the output, the transport is found through the socket it was for. */
static void on_sent(struct evix_op *op, ssize_t result)
{
    struct transport *transport = EVIX_CONTAINER_OF(op->socket, struct transport, socket);

    if (!transport->closing)
        transport->events->sent(transport, result);
}

static void plain_send(struct transport *transport, struct evix_op *op, struct iovec *iov,
                       unsigned count, bool more)
{
    evix_send(op, &transport->socket, iov, count, more ? EVIX_SEND_MORE : 0, on_sent);
}

static void plain_send_file(struct transport *transport, struct evix_op *op, int fd, int64_t offset,
                            uint32_t length)
{
    evix_send_file_fresh(op, &transport->socket, fd, offset, length, FRESH_MS, on_sent);
}

static bool plain_has_unread(const struct transport *transport)
{
    char byte;

    return recv(transport->socket.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static bool plain_has_peer(const struct transport *transport)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return getpeername(transport->socket.fd, (struct sockaddr *)&peer, &length) == 0;
}

static void plain_shutdown(struct transport *transport)
{
    /* Fails only if the peer has gone already, which is seen elsewhere. */
    (void)shutdown(transport->socket.fd, SHUT_WR);
}

static void plain_reset(struct transport *transport)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    /* socket(7); if it fails, the close is a plain one. */
    (void)setsockopt(transport->socket.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static void on_closed(struct evix_socket *socket)
{
    struct transport *transport = EVIX_CONTAINER_OF(socket, struct transport, socket);

    transport->events->closed(transport);
}

static void plain_close(struct transport *transport)
{
    transport->closing = true;
    evix_socket_close(&transport->socket, on_closed);
}

static const struct transport_ops plain_ops = {
    .sends_files = true,
    .receive = plain_receive,
    .pause = plain_pause,
    .send = plain_send,
    .send_file = plain_send_file,
    .has_unread = plain_has_unread,
    .has_peer = plain_has_peer,
    .shutdown = plain_shutdown,
    .reset = plain_reset,
    .close = plain_close,
};

void transport_plain_init(struct transport *transport, struct evix_loop *loop, int fd,
                          const struct transport_events *events)
{
    *transport = (struct transport){.ops = &plain_ops, .events = events};
    evix_socket_init(&transport->socket, loop, fd);
}

/* tcp(7); false for a Unix socket, which has none, and where the kernel is too old for a member. */
static bool get_info(const struct transport *transport, struct tcp_info *info, size_t least)
{
    socklen_t length = sizeof(*info);

    return getsockopt(transport->socket.fd, IPPROTO_TCP, TCP_INFO, info, &length) == 0 &&
           length >= least;
}

bool transport_acknowledged(const struct transport *transport, uint64_t *bytes)
{
    struct tcp_info info = {0};

    if (!get_info(transport, &info,
                  offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked)))
        return false;
    *bytes = info.tcpi_bytes_acked;
    return true;
}

bool transport_is_delivered(const struct transport *transport)
{
    struct tcp_info info = {0};

    /* What a Unix socket sends is with the peer at once. */
    return !get_info(transport, &info,
                     offsetof(struct tcp_info, tcpi_notsent_bytes) +
                         sizeof(info.tcpi_notsent_bytes)) ||
           (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0);
}
