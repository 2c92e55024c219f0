/* SPDX-License-Identifier: MIT */
#ifndef SERVER_WORKER_STATE_H
#define SERVER_WORKER_STATE_H

/* What a worker consists of, for the files of this room. */

#include <evix/evix.h>

#include "http/head.h"
#include "server/address_limit.h"
#include "server/clock.h"
#include "server/descriptor_budget.h"
#include "server/counters.h"
#include "server/error_page.h"
#include "server/output.h"
#include "server/retire.h"
#include "server/route.h"
#include "server/slab.h"
#include "server/worker.h"

struct connection;
struct echo_session;
struct listener;

/* Those that a worker heeds: see worker.h. */
#define WORKER_SIGNALS 5

struct worker_signal {
    struct evix_signal signal;
    struct worker *worker;
};

struct worker {
    const struct config *config;
    struct evix_loop *loop;
    struct store_options store_options;
    struct store *store;
    struct auth *auth; /* NULL: no location asks for passwords */
    struct route_table routes;
    struct clock clock;
    struct counters *counters;   /* all workers' */
    struct counters_slot *slot;  /* this one's, where all that happens is counted */
    struct counters *own;        /* holds it if none of the shared ones was free */
    uint64_t next_second_ns;     /* the loop's time from which on another second is counted */
    uint64_t next_error_page_ns; /* from which on a missing error page is warned of again */
    uint64_t iterations_counted, cpu_counted_ns; /* of the loop, of the process */
    struct http_limits http_limits;
    struct http_header_cache *header_cache;

    /* Scratch for the request that is being looked at, and pools. */
    struct http_request request;
    char *path_memory;
    size_t path_capacity;
    struct output_pool outputs;
    struct error_pages error_pages;
    struct exchange *free_exchanges;
    unsigned free_exchange_count;
    struct slab connection_memory;

    struct listener *listeners;
    size_t listener_count;
    struct connection *connections; /* all that are open */
    struct echo_session *echo_sessions;
    struct access_log *access_logs; /* one a host */
    struct address_limit addresses;
    struct descriptor_budget budget;
    unsigned connection_count; /* HTTP connections and echo sessions */
    uint64_t deadline_tick_ms; /* no timeout is shorter */
    bool wants_address;        /* somebody will ask for a client's address */
    bool refreshes_by_receive; /* the backend receives while it dispatches */
    bool is_stale;             /* requests came in since the store was refreshed */
    bool is_successor;
    bool is_stopping;
    bool is_trying; /* to have a ring; what fails is not final */

    struct worker_signal signals[WORKER_SIGNALS];
    struct evix_io control;
    struct evix_hook batch; /* what one poll brought */
    struct retire retire;
    uint64_t stop_told_ms; /* when a signal said so */
    unsigned index;
    int exit_code;
};

/* Before a lookup: what was received may be newer than what the store knows. */
static inline void worker_refresh_store(struct worker *worker)
{
    if (worker->is_stale) {
        worker->is_stale = false;
        store_refresh(worker->store);
    }
}

/* Before anything is counted: what was counted before belongs to the second before. */
void worker_note_second(struct worker *worker);

static inline void worker_note_turn(struct worker *worker)
{
    if (evix_now_ns(worker->loop) >= worker->next_second_ns)
        worker_note_second(worker);
}

/* To the master, if there is one. */
void worker_say(const struct worker *worker, enum worker_word word);

/* A connection was opened or closed: accepting pauses at the limit and goes on below it. */
void worker_connection_opened(struct worker *worker);
void worker_connection_closed(struct worker *worker);

/* The client of an exchange, as text for a log line. */
#define WORKER_CLIENT_BYTES INET6_ADDRSTRLEN
const char *worker_client(const struct exchange *exchange, char out[WORKER_CLIENT_BYTES]);

/* His address, IPv4 mapped. False for a unix socket's, which has none. */
bool worker_client_address(const struct exchange *exchange, struct in6_addr *out);

#endif
