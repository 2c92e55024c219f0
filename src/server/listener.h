/* SPDX-License-Identifier: MIT */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

/* A listening socket of a worker: accepts, up to the limit and as descriptors last. */

#include <evix/evix.h>

#include "config/config.h"

struct listener;
struct worker;

typedef void listener_closed_fn(struct listener *listener);

struct listener {
    struct worker *worker;
    const struct config_listen *config;
    struct evix_socket socket;
    struct evix_op accepting;
    struct evix_timer retry; /* after descriptors ran out */
    uint16_t port;           /* 0: a Unix socket */
    bool is_paused;          /* at the limit of connections, or stopping */
    bool is_closed;
    bool is_handed_on; /* other workers accept from the same socket */
    listener_closed_fn *closed;
    uint64_t say_next_ms; /* when it may be said again that descriptors ran out */
};

/* Takes over a listening descriptor, and accepts from it. */
void listener_open(struct listener *listener, struct worker *worker,
                   const struct config_listen *config, int fd);

/* At the limit: clients wait in the backlog, at no cost. */
void listener_pause(struct listener *listener);
void listener_resume(struct listener *listener);

/* Takes what is in the backlog: clients that were there before the end are still served. */
void listener_drain(struct listener *listener);

/* Stops accepting; `closed` is called when the descriptor is. Once closed, it stays that. */
void listener_close(struct listener *listener, listener_closed_fn *closed);

#endif
