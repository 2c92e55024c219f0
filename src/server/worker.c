/* SPDX-License-Identifier: MIT */
/*
 * A worker's life: set up, serve, stop as gracefully as it was told to.
 * It does not fork, open sockets or drop privileges: the master has.
 * Called by the daemon, in the worker's process.
 */
#include "server/connection.h"
#include "server/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "http/date.h"
#include "http/uri.h"
#include "log/log.h"
#include "server/access_log.h"
#include "server/http1.h"
#include "server/listener.h"
#include "server/worker_state.h"

/* Exit codes, design: could not start, failed while running. */
#define EXIT_NO_START 2
#define EXIT_FAILED   3

/* How often and after what a ring is tried to be had again. */
#define RING_TRIES 20
/* An order to stop that comes twice within this is one. */
#define SAME_ORDER_MS 1000
#define RING_PAUSE_NS 25000000

static const int watched_signals[WORKER_SIGNALS] = {SIGTERM, SIGQUIT, SIGINT, SIGUSR1, SIGHUP};

/* ---- connections and limits -------------------------------------------------------------- */

void worker_connection_opened(struct worker *worker)
{
    if (++worker->connection_count < worker->budget.connections)
        return;
    counters_add(&worker->slot->data.counts[COUNTER_LIMIT_CONNECTIONS], 1);
    for (size_t i = 0; i < worker->listener_count; i++)
        listener_pause(&worker->listeners[i]);
}

void worker_connection_closed(struct worker *worker)
{
    worker->connection_count--;
    if (worker->is_stopping)
        return;
    for (size_t i = 0; i < worker->listener_count; i++)
        listener_resume(&worker->listeners[i]);
}

const char *worker_client(const struct exchange *exchange, char out[WORKER_CLIENT_BYTES])
{
    return connection_peer(exchange->carrier, out);
}

bool worker_client_address(const struct exchange *exchange, struct in6_addr *out)
{
    const struct connection *connection = exchange->carrier;

    *out = connection->address;
    return connection->local_port != 0 || !IN6_IS_ADDR_UNSPECIFIED(out);
}

/* ---- counting ---------------------------------------------------------------------------- */

static uint64_t read_cpu_ns(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * COUNTERS_SECOND_NS + (uint64_t)used.tv_nsec;
}

void worker_note_second(struct worker *worker)
{
    uint64_t now_ns = evix_now_ns(worker->loop);
    uint64_t *counts = worker->slot->data.counts;
    uint64_t cpu_ns = read_cpu_ns();
    struct evix_counters loop;

    evix_loop_counters(worker->loop, &loop);
    counters_add(&counts[COUNTER_LOOP_ITERATIONS], loop.iterations - worker->iterations_counted);
    counters_add(&counts[COUNTER_CPU_NS], cpu_ns - worker->cpu_counted_ns);
    worker->iterations_counted = loop.iterations;
    worker->cpu_counted_ns = cpu_ns;
    counters_note_second(worker->slot, now_ns, evix_loop_take_lag_ns(worker->loop));
    worker->next_second_ns = (now_ns / COUNTERS_SECOND_NS + 1) * COUNTERS_SECOND_NS;
}

static int open_counters(struct worker *worker)
{
    if (worker->slot == NULL) {
        int error = counters_new(&worker->own);
        if (error != 0)
            return error;
        worker->slot = counters_take(worker->own, worker->index, 0);
    }
    counters_start(worker->slot, evix_now_ns(worker->loop));
    return 0;
}

/* ---- stopping ---------------------------------------------------------------------------- */

/* Who signals the whole group of processes tells us as well as the master, which passes it on. */
static void take_stop_order(struct worker *worker)
{
    uint64_t now_ms = evix_now_ms(worker->loop);

    if (!worker->retire.is_finishing) {
        worker->stop_told_ms = now_ms;
        retire_finish(worker);
    } else if (now_ms - worker->stop_told_ms >= SAME_ORDER_MS) {
        retire_now(worker);
    }
}

static void on_signal(struct evix_signal *signal, int number)
{
    struct worker *worker = EVIX_CONTAINER_OF(signal, struct worker_signal, signal)->worker;

    switch (number) {
    case SIGTERM:
    case SIGQUIT:
        take_stop_order(worker);
        break;
    case SIGINT:
        retire_now(worker);
        break;
    case SIGUSR1:
        for (size_t i = 0; i < worker->config->host_count; i++)
            (void)access_log_reopen(&worker->access_logs[i]);
        break;
    default:
        break; /* HUP is the master's */
    }
}

/* A master that can't be told has gone, which on_control() sees. */
void worker_say(const struct worker *worker, enum worker_word word)
{
    char byte = (char)word;

    if (worker->control.fd >= 0)
        (void)!write(worker->control.fd, &byte, 1);
}

/* The other end is the master's: its end means that the master is gone, however that came. */
static void on_control(struct evix_io *io, unsigned events)
{
    struct worker *worker = EVIX_CONTAINER_OF(io, struct worker, control);
    char words[64];
    ssize_t length = read(io->fd, words, sizeof(words));

    (void)events;
    for (ssize_t i = 0; i < length; i++) {
        if (words[i] == WORKER_ASKED)
            worker_say(worker, WORKER_ALIVE);
        else if (words[i] == WORKER_FINISH)
            take_stop_order(worker);
        else
            retire_take_order(worker, words[i]);
    }
    if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    evix_io_stop(io);
    if (worker->is_stopping)
        return;
    log_event(LOG_LEVEL_WARNING, "worker %u: the master is gone, stopping", worker->index);
    retire_finish(worker);
}

/* ---- setting up -------------------------------------------------------------------------- */

static void on_report(void *data, const char *text)
{
    const struct worker *worker = data;
    enum log_level level = LOG_LEVEL_WARNING;

    if (worker->is_trying)
        return;
    /* Of a backend that is not to be had: mostly the same for all workers. */
    if (worker->loop == NULL && worker->slot != NULL &&
        !counters_is_first_report(worker->counters, worker->slot))
        level = LOG_LEVEL_INFO;
    log_event(level, "worker %u: %s", worker->index, text);
}

/* Once: it is the same for all of them. */
static void tell_what_is_missing(const struct worker *worker, int ring_error)
{
    if (worker->index > 0)
        return;
    if (ring_error < 0)
        log_event(LOG_LEVEL_NOTICE, "files go through threads, io_uring is not available: %s",
                  evix_strerror(ring_error));
    if (!evix_openat2_exists())
        log_event(LOG_LEVEL_NOTICE,
                  "openat2(2) is not available: files are opened step by step, which takes longer");
}

/*
 * The kernel counts the memory of rings against RLIMIT_MEMLOCK of the user (again, since 6.14), and
 * gives it back some time after the process that had a ring has ended. After a reload that may be
 * just now, so the lack of it is not taken as final at once.
 */
static int open_loop_patiently(struct worker *worker, const struct evix_options *options)
{
    const struct timespec pause = {.tv_nsec = RING_PAUSE_NS};
    struct evix_options with_ring = *options;
    int error = -ENOMEM;

    if (options->backend != EVIX_BACKEND_AUTO && options->backend != EVIX_BACKEND_IO_URING)
        return evix_loop_new(&worker->loop, options);
    with_ring.backend = EVIX_BACKEND_IO_URING;
    worker->is_trying = true;
    for (int i = 0; error == -ENOMEM && i < RING_TRIES; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        error = evix_loop_new(&worker->loop, &with_ring);
    }
    worker->is_trying = false;
    return error == 0 ? 0 : evix_loop_new(&worker->loop, options);
}

static int open_loop(struct worker *worker, struct counters_slot *slot)
{
    static const enum evix_backend backends[] = {
        [CONFIG_BACKEND_AUTO] = EVIX_BACKEND_AUTO,
        [CONFIG_BACKEND_IO_URING] = EVIX_BACKEND_IO_URING,
        [CONFIG_BACKEND_EPOLL] = EVIX_BACKEND_EPOLL,
        [CONFIG_BACKEND_POLL] = EVIX_BACKEND_POLL,
    };
    struct evix_options options = {.backend = backends[worker->config->backend],
                                   .report = on_report,
                                   .report_data = worker,
                                   .pulse = slot != NULL ? &slot->pulse : NULL};
    int error = open_loop_patiently(worker, &options);

    if (error != 0)
        log_event(LOG_LEVEL_ERROR, "worker %u: cannot start the event loop (%s): %s", worker->index,
                  evix_backend_name(options.backend), evix_strerror(error));
    else
        tell_what_is_missing(worker, evix_file_prepare(worker->loop));
    return error;
}

/* For the store, which knows nothing of HTTP. */
static int format_date(int64_t seconds, char out[30])
{
    out[HTTP_DATE_LENGTH] = '\0';
    return http_date_format(seconds, out);
}

static size_t encode_path(const char *path, size_t length, char *out)
{
    return http_path_encode((struct http_text){path, length}, out);
}

static int open_store(struct worker *worker)
{
    static const enum store_freshness freshness[] = {
        [CONFIG_CACHE_OFF] = STORE_OFF,
        [CONFIG_CACHE_STAT] = STORE_STAT,
        [CONFIG_CACHE_WATCH] = STORE_WATCH,
    };
    const struct config *config = worker->config;
    worker->store_options = (struct store_options){
        .freshness = freshness[config->files.cache],
        .entries = config->files.entries,
        .descriptors = worker->budget.cached,
        .memory = config->files.memory_bytes,
        .small = (uint32_t)config->files.small_bytes,
        .mime_types = config->mime_types[0] != '\0' ? config->mime_types : NULL,
        .default_type = config->default_type,
        .format_date = format_date,
        .encode_path = encode_path,
        .counters = &worker->slot->data.cache,
    };
    int error = store_new(&worker->store, worker->loop, &worker->store_options);

    if (error != 0 && error != -ENOMEM && worker->is_successor && config->mime_types[0] != '\0') {
        log_event(LOG_LEVEL_ERROR,
                  "worker %u: cannot read %s, so only built-in media types are known: %s",
                  worker->index, config->mime_types, strerror(-error));
        worker->store_options.mime_types = NULL;
        error = store_new(&worker->store, worker->loop, &worker->store_options);
    }
    if (error != 0)
        log_event(LOG_LEVEL_ERROR, "worker %u: cannot set up the file cache: %s", worker->index,
                  strerror(-error));
    return error;
}

/* No timeout is noticed later than a tick, so a tick is no longer than the shortest of them. */
static uint64_t shortest_timeout(const struct config_timeouts *timeouts)
{
    const uint32_t all[] = {timeouts->head_ms, timeouts->body_ms, timeouts->send_ms,
                            timeouts->keep_alive_ms, timeouts->linger_ms};
    uint64_t shortest = 60000;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] != 0 && all[i] < shortest)
            shortest = all[i];
    return shortest;
}

static int open_scratch(struct worker *worker)
{
    const struct config_limits *limits = &worker->config->limits;
    struct http_field *fields = calloc(limits->fields, sizeof(*fields));

    worker->http_limits = (struct http_limits){.target_bytes = limits->target_bytes,
                                               .head_bytes = limits->head_bytes,
                                               .fields = limits->fields};
    worker->path_capacity = (size_t)limits->target_bytes + 1;
    worker->path_memory = malloc(worker->path_capacity);
    worker->header_cache = http_header_cache_new();
    if (fields == NULL || worker->path_memory == NULL || worker->header_cache == NULL) {
        free(fields);
        return -ENOMEM;
    }
    http_request_init(&worker->request, fields, limits->fields);
    return 0;
}

/* The files of passwords, for the routes that ask for them. */
static int open_auth(struct worker *worker)
{
    int error = 0;

    for (size_t i = 0; i < worker->config->host_count; i++) {
        struct route_host *host = &worker->routes.hosts[i];

        for (size_t j = 0; j < host->config->location_count && error == 0; j++) {
            const char *users = host->config->locations[j].auth.users;

            if (users[0] == '\0')
                continue;
            if (worker->auth == NULL)
                error = auth_new(&worker->auth, worker->loop, worker->index == 0);
            if (error == 0)
                error = auth_realm(worker->auth, users, &host->routes[j].realm);
        }
    }
    return error;
}

/* Each host has its log, opened before anything is served. */
static int open_access_logs(struct worker *worker)
{
    const struct config *config = worker->config;

    worker->access_logs = calloc(config->host_count + 1, sizeof(*worker->access_logs));
    if (worker->access_logs == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < config->host_count; i++) {
        struct access_log *log = &worker->access_logs[i];
        int error = worker->is_successor
                        ? access_log_open_patiently(log, worker->loop, &config->hosts[i].access_log)
                        : access_log_open(log, worker->loop, &config->hosts[i].access_log);

        if (error != 0)
            return error;
        access_log_count_in(log, worker->slot);
        worker->routes.hosts[i].access_log = log;
        worker->wants_address |= worker->routes.hosts[i].is_guarded;
        worker->wants_address |= access_log_is_on(log);
    }
    return 0;
}

/* Whatever a batch brought was received before its callbacks run, if the kernel receives. */
static void on_batch(struct evix_hook *hook)
{
    EVIX_CONTAINER_OF(hook, struct worker, batch)->is_stale = true;
}

static int start_watchers(struct worker *worker, int control_fd)
{
    for (size_t i = 0; i < WORKER_SIGNALS; i++) {
        worker->signals[i].worker = worker;
        evix_signal_init(&worker->signals[i].signal, worker->loop, on_signal);
        int error = evix_signal_start(&worker->signals[i].signal, watched_signals[i]);
        if (error != 0)
            return error;
    }
    worker->refreshes_by_receive = evix_loop_backend(worker->loop) != EVIX_BACKEND_IO_URING;
    evix_hook_start(&worker->batch, worker->loop, EVIX_HOOK_PREPARE, on_batch);
    evix_io_init(&worker->control, worker->loop, control_fd, on_control);
    return control_fd >= 0 ? evix_io_start(&worker->control, EVIX_READ) : 0;
}

static int set_up(struct worker *worker, const struct worker_options *options)
{
    const struct config *config = worker->config;

    worker->deadline_tick_ms = shortest_timeout(&config->timeouts);
    worker->wants_address =
        config->limits.connections_per_address != 0 || log_enabled(LOG_LEVEL_INFO);
    slab_init(&worker->connection_memory, sizeof(struct connection));
    descriptor_budget_init(&worker->budget, config);

    int error = address_limit_init(&worker->addresses, config->limits.connections_per_address);
    if (error == 0)
        error = open_loop(worker, options->slot);
    if (error == 0)
        error = open_counters(worker);
    if (error == 0)
        error = open_scratch(worker);
    if (error == 0)
        error = open_store(worker);
    if (error == 0)
        error = route_table_init(&worker->routes, config, worker->store, worker->is_successor);
    if (error == 0)
        error = open_auth(worker);
    if (error == 0)
        error = open_access_logs(worker);
    if (error != 0)
        return error;
    clock_init(&worker->clock, worker->loop);
    worker->listeners = calloc(options->listener_count, sizeof(*worker->listeners));
    if (worker->listeners == NULL)
        return -ENOMEM;
    worker->listener_count = options->listener_count;
    retire_init(worker);
    error = start_watchers(worker, options->control_fd);
    if (error != 0) {
        log_event(LOG_LEVEL_ERROR, "worker %u: cannot watch signals and the master: %s",
                  worker->index, strerror(-error));
        return error;
    }
    for (size_t i = 0; i < options->listener_count; i++)
        listener_open(&worker->listeners[i], worker, &config->listen[i], options->listeners[i]);
    return 0;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* An order to stop that comes now must not find the old dispositions: the worker has stopped. */
static void block_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void tear_down(struct worker *worker)
{
    block_signals();
    for (size_t i = 0; worker->access_logs != NULL && i < worker->config->host_count; i++)
        access_log_close(&worker->access_logs[i]);
    free(worker->access_logs);
    slab_fini(&worker->connection_memory);
    http1_pool_fini(worker);
    output_pool_fini(&worker->outputs);
    address_limit_fini(&worker->addresses);
    route_table_fini(&worker->routes);
    error_pages_fini(&worker->error_pages);
    if (worker->store != NULL)
        store_free(&worker->store);
    if (worker->loop != NULL) {
        for (size_t i = 0; i < WORKER_SIGNALS; i++)
            if (worker->signals[i].worker != NULL)
                evix_signal_stop(&worker->signals[i].signal);
        evix_hook_stop(&worker->batch);
        retire_fini(worker);
        evix_loop_free(&worker->loop);
    }
    auth_free(&worker->auth);
    free(worker->listeners);
    free(worker->request.fields);
    free(worker->path_memory);
    free(worker->header_cache);
    counters_free(&worker->own);
}

int worker_run(const struct worker_options *options)
{
    struct worker worker = {.config = options->config,
                            .index = options->index,
                            .is_successor = options->is_successor,
                            .counters = options->counters,
                            .slot = options->slot};
    int error = set_up(&worker, options);

    if (error == 0 && options->confine != NULL)
        error = options->confine(options->confine_data);
    if (error != 0) {
        log_event(LOG_LEVEL_ERROR, "worker %u could not start: %s", options->index,
                  strerror(-error));
        tear_down(&worker);
        return EXIT_NO_START;
    }
    worker_say(&worker, WORKER_SERVES);
    error = evix_loop_run(worker.loop, EVIX_RUN_DEFAULT);
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "worker %u: the event loop failed: %s", options->index,
                  evix_strerror(error));
    tear_down(&worker);
    return error < 0 ? EXIT_FAILED : 0;
}
