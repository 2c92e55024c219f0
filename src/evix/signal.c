/* SPDX-License-Identifier: MIT */
/*
 * Signals as events: one pipe for the process, whose byte says "look at the flags", so that a full
 * pipe loses nothing. Whichever loop reads the byte shares the flags out to all.
 * Knows nothing of what signals mean. Called by users of the loop, and by loop.c.
 */
#include <evix/signal.h>

#include "platform.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { SIGNALS = LOOP_SIGNALS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never taken in the handler */
static struct evix_link loops = {&loops, &loops};        /* that watch signals; under the lock */
static struct {
    unsigned watchers;
    struct sigaction former;
} kinds[SIGNALS + 1];              /* by number; under the lock */
static int pipe_fds[2] = {-1, -1}; /* opened once, since a handler may run at any time */
static uint64_t raised;            /* bit n - 1: signal n; atomic */

static uint64_t bit_of(int number)
{
    return (uint64_t)1 << (number - 1);
}

/* ---- in the handler ---- */

static void on_raised(int number)
{
    int saved = errno;
    __atomic_fetch_or(&raised, bit_of(number), __ATOMIC_SEQ_CST);
    ssize_t count = write(pipe_fds[1], "", 1);
    (void)count; /* a full pipe will be read, and the flag is set */
    errno = saved;
}

/* ---- from the pipe to the loops ---- */

/* The pipe is emptied before the flags are taken: a flag set later has a byte of its own. */
static void on_pipe(struct evix_io *io, unsigned events)
{
    struct evix_loop *self = io->handle.loop;
    (void)events;
    evix__pipe_drain(io->fd);
    pthread_mutex_lock(&lock);
    uint64_t bits = __atomic_exchange_n(&raised, 0, __ATOMIC_SEQ_CST);
    for (struct evix_link *link = loops.next; link != &loops; link = link->next) {
        struct evix_loop *loop = EVIX_CONTAINER_OF(link, struct evix_loop, signals.link);
        if (!(bits & loop->signals.watched))
            continue;
        __atomic_fetch_or(&loop->signals.pending, bits & loop->signals.watched, __ATOMIC_SEQ_CST);
        if (loop != self)
            evix__loop_wake(loop);
    }
    pthread_mutex_unlock(&lock);
}

void evix__signals_run(struct evix_loop *loop)
{
    uint64_t bits = __atomic_exchange_n(&loop->signals.pending, 0, __ATOMIC_SEQ_CST);
    struct evix_link *link;
    evix__list_walk_begin(&loop->signals.walk, &loop->signals.watchers);
    while ((link = evix__list_walk_next(&loop->signals.walk))) {
        struct evix_signal *signal = EVIX_CONTAINER_OF(link, struct evix_signal, link);
        if (bits & bit_of(signal->number))
            TRACE_CALL(loop, HANDLE_SIGNAL, signal->fn, signal, signal->number);
    }
}

/* ---- joining and leaving; all with the lock held ---- */

static int open_pipe(void)
{
    if (pipe_fds[0] >= 0)
        return 0;
    return evix__platform_pipe(pipe_fds) < 0 ? -errno : 0;
}

static int join_loop(struct evix_loop *loop)
{
    if (loop->signals.is_listed)
        return 0;
    evix_io_init(&loop->signals.io, loop, pipe_fds[0], on_pipe);
    loop->signals.io.handle.kind = HANDLE_INTERNAL;
    evix_unref(&loop->signals.io.handle);
    int error = evix_io_start(&loop->signals.io, EVIX_READ);
    if (error < 0)
        return error;
    list_append(&loops, &loop->signals.link);
    loop->signals.is_listed = true;
    return 0;
}

static void leave_loop(struct evix_loop *loop)
{
    if (!loop->signals.is_listed || loop->signals.watched)
        return;
    evix_io_stop(&loop->signals.io);
    list_remove(&loop->signals.link);
    loop->signals.is_listed = false;
}

/* What was raised before the first watcher came is not for it. */
static int install_handler(int number)
{
    if (kinds[number].watchers++ > 0)
        return 0;
    __atomic_fetch_and(&raised, ~bit_of(number), __ATOMIC_SEQ_CST);
    struct sigaction action = {.sa_handler = on_raised, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, &kinds[number].former) == 0)
        return 0;
    kinds[number].watchers--;
    return -errno;
}

static void restore_handler(int number)
{
    assert(kinds[number].watchers > 0);
    if (--kinds[number].watchers == 0)
        sigaction(number, &kinds[number].former, NULL);
}

static int watch_number(struct evix_loop *loop, int number)
{
    int error = open_pipe();
    if (error == 0)
        error = join_loop(loop);
    if (error < 0)
        return error;
    error = install_handler(number);
    if (error < 0) {
        leave_loop(loop);
        return error;
    }
    loop->signals.counts[number]++;
    loop->signals.watched |= bit_of(number);
    return 0;
}

static void unwatch_number(struct evix_loop *loop, int number)
{
    restore_handler(number);
    if (--loop->signals.counts[number] == 0)
        loop->signals.watched &= ~bit_of(number);
    leave_loop(loop);
}

/* ---- watchers ---- */

void evix_signal_init(struct evix_signal *signal, struct evix_loop *loop, evix_signal_fn *fn)
{
    *signal = (struct evix_signal){.fn = fn};
    handle_init(&signal->handle, loop, HANDLE_SIGNAL);
    list_init(&signal->link);
}

int evix_signal_start(struct evix_signal *signal, int number)
{
    struct evix_loop *loop = signal->handle.loop;
    if (number < 1 || number > SIGNALS)
        return -EINVAL;
    evix_signal_stop(signal);
    pthread_mutex_lock(&lock);
    int error = watch_number(loop, number);
    pthread_mutex_unlock(&lock);
    if (error < 0)
        return error;
    signal->number = number;
    list_append(&loop->signals.watchers, &signal->link);
    handle_activate(&signal->handle);
    return 0;
}

void evix_signal_stop(struct evix_signal *signal)
{
    if (!evix_is_active(&signal->handle))
        return;
    list_remove(&signal->link);
    handle_stop(&signal->handle);
    pthread_mutex_lock(&lock);
    unwatch_number(signal->handle.loop, signal->number);
    pthread_mutex_unlock(&lock);
}

/* The walk's nodes are no watchers; out of it, they are lists of themselves. */
static void drop_watchers(struct evix_loop *loop)
{
    list_remove(&loop->signals.walk.here);
    list_remove(&loop->signals.walk.end);
    while (!list_is_empty(&loop->signals.watchers)) {
        struct evix_link *link = loop->signals.watchers.next;
        list_remove(link);
        handle_stop(&EVIX_CONTAINER_OF(link, struct evix_signal, link)->handle);
    }
}

/*
 * The kernel's table of a loop is shared with the parent until the child closes its copy, so the
 * pipe is not taken out of it: that would take it from the parent too.
 */
void evix_signal_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    for (int number = 1; number <= SIGNALS; number++) {
        if (kinds[number].watchers > 0)
            sigaction(number, &kinds[number].former, NULL);
        kinds[number].watchers = 0;
    }
    while (!list_is_empty(&loops)) {
        struct evix_loop *loop = EVIX_CONTAINER_OF(loops.next, struct evix_loop, signals.link);
        list_remove(&loop->signals.link);
        drop_watchers(loop);
        loop->signals.is_listed = false;
        loop->signals.watched = 0;
    }
    for (int i = 0; i < 2; i++) {
        if (pipe_fds[i] >= 0)
            close(pipe_fds[i]);
        pipe_fds[i] = -1;
    }
    __atomic_store_n(&raised, 0, __ATOMIC_SEQ_CST);
}

void evix__signals_fini(struct evix_loop *loop)
{
    while (!list_is_empty(&loop->signals.watchers))
        evix_signal_stop(EVIX_CONTAINER_OF(loop->signals.watchers.next, struct evix_signal, link));
}
