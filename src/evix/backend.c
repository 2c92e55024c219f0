/* SPDX-License-Identifier: MIT */
/*
 * The ladder of backends: which are compiled in, which the machine allows, which is taken.
 * Knows none of them from inside: a capability decides, and open() says no.
 * Called by loop.c and by users who ask what there is.
 */
#include "backend.h"

#include <errno.h>

/* The best first. */
static const struct backend *const ladder[] = {
#ifdef HAVE_LIBURING
    &evix__backend_uring,
#endif
#ifdef HAVE_SYS_EPOLL_H
    &evix__backend_epoll,
#endif
#ifdef HAVE_SYS_EVENT_H
    &evix__backend_kqueue,
#endif
    &evix__backend_poll,
};

enum { RUNGS = sizeof(ladder) / sizeof(ladder[0]) };

static const char *const names[] = {
    [EVIX_BACKEND_AUTO] = "auto",   [EVIX_BACKEND_IO_URING] = "io_uring",
    [EVIX_BACKEND_EPOLL] = "epoll", [EVIX_BACKEND_KQUEUE] = "kqueue",
    [EVIX_BACKEND_POLL] = "poll",
};

static const struct backend *find(enum evix_backend id)
{
    for (int i = 0; i < RUNGS; i++)
        if (ladder[i]->id == id)
            return ladder[i];
    return NULL;
}

static int open_one(struct evix_loop *loop, const struct backend *backend,
                    const struct evix_options *options)
{
    loop->backend = backend;
    int error = backend->open(loop, options);
    if (error < 0)
        evix__trace_report(&loop->trace, "backend %s is not available: %s", backend->name,
                           evix_strerror(error));
    return error;
}

static int open_best(struct evix_loop *loop, const struct evix_options *options)
{
    int error = -ENOSYS;
    for (int i = 0; i < RUNGS && error < 0; i++)
        if (ladder[i]->capabilities & BACKEND_SOCKETS)
            error = open_one(loop, ladder[i], options);
    return error;
}

int evix__backend_open(struct evix_loop *loop, const struct evix_options *options)
{
    if (options->backend == EVIX_BACKEND_AUTO)
        return open_best(loop, options);
    const struct backend *backend = find(options->backend);
    if (backend)
        return open_one(loop, backend, options);
    evix__trace_report(&loop->trace, "backend %s is not compiled in",
                       evix_backend_name(options->backend));
    return -ENOSYS;
}

const char *evix_backend_name(enum evix_backend backend)
{
    size_t index = (size_t)backend;
    return index < sizeof(names) / sizeof(names[0]) ? names[index] : "unknown";
}

bool evix_backend_built(enum evix_backend backend)
{
    return backend == EVIX_BACKEND_AUTO || find(backend) != NULL;
}
