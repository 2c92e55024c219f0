/* SPDX-License-Identifier: MIT */
#ifndef SERVER_CONNECTION_H
#define SERVER_CONNECTION_H

/*
 * A client's connection: its socket's life, its input, its one deadline. What the bytes mean is
 * http1.c's. An idle one is this struct and nothing else.
 */

#include <netinet/in.h>

#include "server/wait.h"
#include "server/deadline.h"
#include "server/exchange.h"
#include "server/output.h"
#include "server/transport.h"

struct worker;

struct connection {
    struct transport transport;
    struct deadline deadline;
    struct worker *worker;
    struct connection *next, *previous; /* the worker's list */

    /* Bytes received and not consumed: there only while a head is incomplete or an answer is under
       way; malloc(3)ed. */
    char *input;
    uint32_t input_start, input_length, input_capacity;
    uint32_t scanned; /* of what follows input_start, by http_head_end() */

    struct exchange *exchange; /* whose request or response is not complete; the carrier's */
    struct output *output;     /* being gathered; NULL: nothing */
    struct output *sending;    /* on its way; NULL: nothing */

    uint64_t progress_mark; /* what the client has taken, when it was asked last; of what was sent
                               since the connection's beginning */
    uint32_t request_count;
    uint8_t wait; /* enum connection_wait */
    bool is_sending_file : 1;
    bool is_running : 1;     /* proceeding: what happens meanwhile is looked at before the end */
    bool is_last : 1;        /* no request after the one under way */
    bool is_waived : 1;      /* so said the client */
    bool exceeds_window : 1; /* more was sent than a client surely takes at once */
    bool is_refused : 1;     /* what comes is no request any more: read and dropped */
    bool is_lingering : 1;
    bool is_closing : 1;
    bool input_ended : 1;    /* the client sends no more */
    bool is_counted : 1;     /* in the limit of its address */
    uint16_t local_port;     /* of the listener; 0: none */
    struct in6_addr address; /* IPv4 mapped; all zero: not known, or a Unix socket */
    uint32_t sent_bytes;     /* that the kernel took, modulo 2^32 */
};

/* Takes over an accepted descriptor; closes it if the connection can't be had. */
void connection_open(struct worker *worker, int fd, uint16_t local_port);

/* Ends it at once; what is being sent is cut off, and the client sees that (a reset). */
void connection_abort(struct connection *connection);

/* The worker stops: no request after the one under way; an idle connection closes now. */
void connection_retire(struct connection *connection);

/* After something has changed: goes on with input, output, the deadline, or the end. */
void connection_proceed(struct connection *connection);

/* True while a response, or a request, is under way. */
bool connection_is_busy(const struct connection *connection);

/*
 * True if the connection ends as soon as what is queued now has left, and the client knows: it has
 * said so itself. What it would send after that could be answered by a reset, and the answer lost.
 */
bool connection_is_ending(const struct connection *connection);

/*
 * The client's address as text: IPv4 as such, "unix:" for a Unix socket's; "-" if it is not known,
 * since the client of a TCP socket reset it before its address was asked for.
 */
#define CONNECTION_PEER_BYTES INET6_ADDRSTRLEN
const char *connection_peer(struct connection *connection, char out[CONNECTION_PEER_BYTES]);

#endif
