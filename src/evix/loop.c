/* SPDX-License-Identifier: MIT */
/*
 * The loop: its iteration, phase by phase, what keeps it alive, its making and its end.
 * Leaves the phases to the files named after them, and the kernel to a backend.
 * Called by users of the loop.
 */
#include "backend.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG_NS = 100000000 }; /* more than a busy machine makes of a short sleep */

/* ---- clock ---- */

uint64_t evix__clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t evix_now_ns(const struct evix_loop *loop)
{
    return loop->now_ns;
}

uint64_t evix_now_ms(const struct evix_loop *loop)
{
    return loop->now_ns / 1000000u;
}

void evix_now_update(struct evix_loop *loop)
{
    loop->now_ns = evix__clock_now_ns();
}

/* ---- liveness ---- */

/* How much a handle counts: a socket once for each of its operations too. */
static size_t weigh(const struct evix_handle *handle)
{
    size_t weight = handle->flags & HANDLE_ACTIVE ? 1 : 0;
    if (handle->kind == HANDLE_SOCKET) {
        const struct evix_socket *socket = (const void *)handle;
        weight += (socket->reader != NULL) + (socket->writer != NULL);
    }
    return weight;
}

void evix_ref(struct evix_handle *handle)
{
    if (!(handle->flags & HANDLE_UNREFERENCED))
        return;
    handle->flags &= (uint16_t)~HANDLE_UNREFERENCED;
    handle->loop->referenced += weigh(handle);
}

void evix_unref(struct evix_handle *handle)
{
    if (handle->flags & HANDLE_UNREFERENCED)
        return;
    handle->flags |= HANDLE_UNREFERENCED;
    handle->loop->referenced -= weigh(handle);
}

bool evix_is_active(const struct evix_handle *handle)
{
    return weigh(handle) > 0;
}

bool evix_loop_alive(const struct evix_loop *loop)
{
    return loop->referenced > 0;
}

/* ---- phase 2: the poll ---- */

static bool has_work(const struct evix_loop *loop)
{
    return loop->completed.first || loop->ready.retry.first || loop->turns.first || loop->closing ||
           !list_is_empty(&loop->posts);
}

static uint64_t sleep_ns(const struct evix_loop *loop, enum evix_run_mode mode, uint64_t now_ns)
{
    if (mode == EVIX_RUN_NOWAIT || loop->is_stopping || loop->referenced == 0 || has_work(loop))
        return 0;
    uint64_t due_ns = evix__timers_due_ns(loop);
    if (due_ns == UINT64_MAX)
        return BACKEND_FOREVER;
    return due_ns > now_ns ? due_ns - now_ns : 0;
}

/*
 * The submit step of a readiness-based backend has tried the calls already. If something came of
 * it, its callbacks may run before the kernel is asked again: that halves the calls to epoll_wait
 * of a server that receives in one iteration and sends in the next. Never twice in a row, so that
 * I/O cannot be starved, nor after a long time, so that timers come after what is ready by then.
 */
static bool may_skip_poll(struct evix_loop *loop, enum evix_run_mode mode, uint64_t busy_ns)
{
    bool is_fruitful = loop->completed.first || loop->ready.retry.first;
    loop->has_skipped_poll = is_fruitful && !loop->turns.first && busy_ns < LONG_NS &&
                             !loop->has_skipped_poll && mode == EVIX_RUN_DEFAULT &&
                             (loop->backend->capabilities & BACKEND_READY);
    return loop->has_skipped_poll;
}

/* Others read it while this thread alone writes. */
static inline void beat(struct evix_loop *loop)
{
    __atomic_store_n(loop->pulse, *loop->pulse + 1, __ATOMIC_RELAXED);
}

/*
 * Whoever was stopped, frozen or starved hears of what came meanwhile before timers tell him that
 * the time for it is over: a wait that was interrupted, or whose time was up, may not have looked.
 */
static int sleep_well(struct evix_loop *loop, uint64_t timeout_ns, uint64_t now_ns)
{
    int count = loop->backend->wait(loop, timeout_ns);
    loop->now_ns = evix__clock_now_ns();
    uint64_t slept_ns = loop->now_ns - now_ns;
    uint64_t overslept_ns = slept_ns > timeout_ns ? slept_ns - timeout_ns : 0;
    loop->absence_ns = now_ns - loop->busy_since_ns + overslept_ns;
    if (count == -EINTR || (count == 0 && overslept_ns > LONG_NS))
        count = loop->backend->wait(loop, 0);
    return count;
}

static int poll_kernel(struct evix_loop *loop, enum evix_run_mode mode)
{
    uint64_t now_ns = evix__clock_now_ns();
    uint64_t busy_ns = now_ns - loop->busy_since_ns;
    if (may_skip_poll(loop, mode, busy_ns)) {
        loop->now_ns = now_ns;
        return 0;
    }
    loop->counters.busy_ns += busy_ns;
    if (busy_ns > loop->counters.lag_max_ns)
        loop->counters.lag_max_ns = busy_ns;
    if (busy_ns > loop->lag_ns)
        loop->lag_ns = busy_ns;

    beat(loop);
    int count = sleep_well(loop, sleep_ns(loop, mode, now_ns), now_ns);
    beat(loop);
    loop->counters.waits++;
    loop->busy_since_ns = loop->now_ns;
    return count < 0 && count != -EINTR ? count : 0;
}

/* ---- the iteration, in the order of evix/loop.h ---- */

static int iterate(struct evix_loop *loop, enum evix_run_mode mode)
{
    loop->counters.iterations++;
    if (!list_is_empty(&loop->posts))
        evix__posts_run(loop);
    if (!list_is_empty(&loop->hooks[EVIX_HOOK_PREPARE]))
        evix__hooks_run(loop, EVIX_HOOK_PREPARE);
    if (loop->started.first)
        evix__ops_submit(loop);
    if (loop->turns.first) {
        loop->backend->push(loop);
        evix__send_files_run(loop);
    }
    int error = poll_kernel(loop, mode);
    evix__ops_run_completed(loop);
    loop->backend->dispatch(loop);
    evix__ops_run_completed(loop);
    if (__atomic_load_n(&loop->signals.pending, __ATOMIC_RELAXED))
        evix__signals_run(loop);
    if (!list_is_empty(&loop->hooks[EVIX_HOOK_CHECK]))
        evix__hooks_run(loop, EVIX_HOOK_CHECK);
    evix__timers_run(loop);
    if (loop->closing)
        evix__sockets_run_closing(loop);
    return error;
}

int evix_loop_run(struct evix_loop *loop, enum evix_run_mode mode)
{
    if (loop->is_running)
        return -EBUSY;
    int error = 0;
    loop->is_running = true;
    loop->now_ns = loop->busy_since_ns = evix__clock_now_ns();
    beat(loop);
    if (mode == EVIX_RUN_DEFAULT) {
        while (error == 0 && loop->referenced > 0 && !loop->is_stopping)
            error = iterate(loop, mode);
    } else {
        error = iterate(loop, mode);
    }
    loop->is_running = loop->is_stopping = false;
    beat(loop);
    return error < 0 ? error : loop->referenced > 0;
}

void evix_loop_stop(struct evix_loop *loop)
{
    loop->is_stopping = true;
}

/* ---- making and end ---- */

static void init_lists(struct evix_loop *loop)
{
    op_queue_init(&loop->started);
    op_queue_init(&loop->completed);
    op_queue_init(&loop->turns);
    op_queue_init(&loop->ready.retry);
    list_init(&loop->posts);
    list_init(&loop->hooks[EVIX_HOOK_PREPARE]);
    list_init(&loop->hooks[EVIX_HOOK_CHECK]);
    list_init(&loop->asyncs);
    list_init(&loop->signals.watchers);
    list_init(&loop->signals.walk.here);
    list_init(&loop->signals.walk.end);
    loop->closing_end = &loop->closing;
}

int evix_loop_new(struct evix_loop **out, const struct evix_options *options)
{
    static const struct evix_options defaults;
    if (!options)
        options = &defaults;
    struct evix_loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return -ENOMEM;
    init_lists(loop);
    loop->owner = getpid();
    loop->trace = (struct trace){.slow_ns = options->slow_callback_ns,
                                 .report = options->report,
                                 .report_data = options->report_data};
    loop->ready.buffer_bytes = options->receive_buffer_bytes;
    loop->work_threads = options->work_threads;
    loop->receive_buffers = options->receive_buffers;
    loop->no_file_ring = options->no_file_ring;
    loop->pulse = options->pulse ? options->pulse : &loop->own_pulse;
    loop->now_ns = evix__clock_now_ns();

    int error = evix__backend_open(loop, options);
    if (error < 0)
        goto free_loop;
    error = evix__wake_open(loop);
    if (error < 0)
        goto close_backend;
    *out = loop;
    return 0;

close_backend:
    loop->backend->close(loop);
    evix__io_fini(loop);
free_loop:
    free(loop);
    return error;
}

void evix__loop_part_add(struct evix_loop *loop, struct loop_part *part)
{
    part->next = loop->parts;
    loop->parts = part;
}

static void free_parts(struct evix_loop *loop)
{
    while (loop->parts) {
        struct loop_part *part = loop->parts;
        loop->parts = part->next;
        part->free(loop, part);
    }
}

/* Hooks and the loop's own watchers are no leftovers. */
static void report_leftovers(struct evix_loop *loop)
{
    size_t own =
        (size_t)evix_is_active(&loop->wake.io.handle) + evix_is_active(&loop->signals.io.handle);
    if (loop->active > own)
        evix__trace_report(&loop->trace,
                           "%zu handles or operations were still active when the loop ended",
                           loop->active - own);
}

void evix_loop_free(struct evix_loop **out)
{
    struct evix_loop *loop = *out;
    if (!loop)
        return;
    assert(!loop->is_running);
    *out = NULL;
    free_parts(loop);
    evix__hooks_fini(loop);
    report_leftovers(loop);
    evix__posts_fini(loop);
    evix__asyncs_fini(loop);
    evix__signals_fini(loop);
    evix__timers_fini(loop);
    loop->backend->close(loop);
    evix__ops_fini(loop);
    evix__closing_fini(loop);
    evix__io_fini(loop);
    evix__wake_close(loop);
    evix__ready_fini(loop);
    free(loop);
}

/* ---- what it tells about itself ---- */

void evix_loop_counters(const struct evix_loop *loop, struct evix_counters *out)
{
    *out = loop->counters;
}

uint64_t evix_loop_take_lag_ns(struct evix_loop *loop)
{
    uint64_t lag_ns = loop->lag_ns;
    loop->lag_ns = 0;
    return lag_ns;
}

uint64_t evix_loop_absence_ns(const struct evix_loop *loop)
{
    return loop->absence_ns;
}

enum evix_backend evix_loop_backend(const struct evix_loop *loop)
{
    return loop->backend->id;
}

const char *evix_strerror(int error)
{
    const char *text = strerror(error < 0 ? -error : error);
    return text ? text : "unknown error";
}
