/* SPDX-License-Identifier: MIT */
#ifndef SERVER_TRANSPORT_H
#define SERVER_TRANSPORT_H

/*
 * What carries a connection's bytes: a plain socket; later, one that encrypts. Embedded in the
 * connection; one receive and one send at a time.
 */

#include <evix/op.h>

struct transport;

/* Where a transport reports to. */
struct transport_events {
    /* Bytes, lent for the length of the call; 0: the peer sends no more; < 0: it failed. */
    void (*received)(struct transport *transport, const char *data, ssize_t length);
    /* A send is over: all of it (the count), less (of a file: it ended, or the peer was slow), or
       a negative errno. */
    void (*sent)(struct transport *transport, ssize_t result);
    /* After transport_close(): nothing is pending any more, the memory is the owner's. */
    void (*closed)(struct transport *transport);
};

struct transport_ops {
    bool sends_files; /* else send_file must not be called: read the file into memory */
    void (*receive)(struct transport *transport);
    void (*pause)(struct transport *transport);
    void (*send)(struct transport *transport, struct evix_op *op, struct iovec *iov, unsigned count,
                 bool more);
    void (*send_file)(struct transport *transport, struct evix_op *op, int fd, int64_t offset,
                      uint32_t length);
    bool (*has_unread)(const struct transport *transport);
    bool (*has_peer)(const struct transport *transport);
    void (*shutdown)(struct transport *transport);
    void (*reset)(struct transport *transport);
    void (*close)(struct transport *transport);
};

struct transport {
    const struct transport_ops *ops;
    const struct transport_events *events;
    struct evix_socket socket;
    struct evix_op receiving;
    bool wants; /* the owner wants to receive; `receiving` follows when it can */
    bool ended; /* the peer sends no more */
    bool closing;
};

/* Takes over `fd`. */
void transport_plain_init(struct transport *transport, struct evix_loop *loop, int fd,
                          const struct transport_events *events);

/* Receives from now on, until transport_pause() or the end. Calling it again is harmless. */
static inline void transport_receive(struct transport *transport)
{
    if (!transport->wants)
        transport->ops->receive(transport);
}

/* Receives no more. What was on its way may still be reported. */
static inline void transport_pause(struct transport *transport)
{
    if (transport->wants)
        transport->ops->pause(transport);
}

/*
 * Sends; `op` and what it sends belong to the transport until `sent`. With `more`, bytes may be
 * held back until the next send, transport_shutdown() or transport_close(), which must follow at
 * once.
 */
static inline void transport_send(struct transport *transport, struct evix_op *op,
                                  struct iovec *iov, unsigned count, bool more)
{
    transport->ops->send(transport, op, iov, count, more);
}

static inline void transport_send_file(struct transport *transport, struct evix_op *op, int fd,
                                       int64_t offset, uint32_t length)
{
    transport->ops->send_file(transport, op, fd, offset, length);
}

/* Whether bytes have come that were not received, after a pause. */
static inline bool transport_has_unread(const struct transport *transport)
{
    return transport->ops->has_unread(transport);
}

/* False once a TCP connection has failed, or the peer has reset it. */
static inline bool transport_has_peer(const struct transport *transport)
{
    return transport->ops->has_peer(transport);
}

/* Says that no more will be sent; receiving goes on. */
static inline void transport_shutdown(struct transport *transport)
{
    transport->ops->shutdown(transport);
}

/*
 * Before a close that gives the client up: what was not delivered is dropped, and the client is
 * told by a reset. Without it the kernel goes on sending, for as long as a slow client likes.
 */
static inline void transport_reset(struct transport *transport)
{
    transport->ops->reset(transport);
}

static inline void transport_close(struct transport *transport)
{
    transport->ops->close(transport);
}

/* How many bytes the peer has acknowledged. False where the kernel doesn't tell: no TCP. */
bool transport_acknowledged(const struct transport *transport, uint64_t *bytes);

/*
 * Whether the peer's kernel has all that was sent, the end included: what is not there yet is lost
 * if the socket is closed and the peer sends anything.
 */
bool transport_is_delivered(const struct transport *transport);

#endif
