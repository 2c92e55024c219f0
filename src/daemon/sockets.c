/* SPDX-License-Identifier: MIT */
/*
 * Opens one TCP socket a worker and address, and keeps the table of all listening sockets.
 * It accepts nothing; what is particular to a kind of socket is in tcp_socket.c and unix_socket.c.
 * generation.c opens them, children.c hands them to workers.
 */

#include "daemon/sockets.h"

#include "config/address.h"
#include "daemon/activation.h"
#include "daemon/steering.h"
#include "daemon/tcp_socket.h"
#include "daemon/unix_socket.h"
#include "log/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_port(struct sockaddr_storage *address, unsigned port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
}

static bool is_unix(const struct sockets_listener *listener)
{
    return listener->wanted.ss_family == AF_UNIX;
}

/* ---- what a table before has --------------------------------------------------------------- */

static bool is_same(const struct sockets_listener *listener, const struct sockets_listener *former)
{
    return former->fd_count != 0 && former->v6_only == listener->v6_only &&
           former->wanted_length == listener->wanted_length &&
           memcmp(&former->wanted, &listener->wanted, listener->wanted_length) == 0;
}

/* Two listeners may want port 0: each gets one, in their order. */
static const struct sockets_listener *find_former(const struct sockets *sockets, size_t index,
                                                  const struct sockets *before)
{
    const struct sockets_listener *listener = &sockets->listeners[index];
    size_t skip = 0;
    for (size_t i = 0; i < index; i++)
        skip += is_same(listener, &sockets->listeners[i]);
    for (size_t i = 0; before != NULL && i < before->count; i++) {
        if (is_same(listener, &before->listeners[i]) && skip-- == 0)
            return &before->listeners[i];
    }
    return NULL;
}

/* Where the file of a unix socket is gone, or is another's, nobody can reach the socket any more.
 */
static bool is_reachable(const struct sockets_listener *former)
{
    return former->is_activated || former->bound.ss_family != AF_UNIX ||
           unix_socket_is_ours(&former->bound, former->device, former->inode);
}

/* An address that overlaps one of ours, such as [::]:80 beside 127.0.0.1:80, is not in use. */
static bool is_our_port(const struct sockets *before, const struct sockaddr_storage *address)
{
    unsigned port = address_port(address);
    for (size_t i = 0; before != NULL && port != 0 && i < before->count; i++) {
        if (address_port(&before->listeners[i].bound) == port)
            return true;
    }
    return false;
}

static int inherit(struct sockets_listener *listener, const struct sockets_listener *former)
{
    memcpy(listener->address, former->address, sizeof(listener->address));
    listener->bound = former->bound;
    listener->bound_length = former->bound_length;
    listener->device = former->device;
    listener->inode = former->inode;
    listener->is_shared = former->is_shared;
    listener->is_activated = former->is_activated;
    listener->is_inherited = true;
    unsigned most = former->is_shared ? 1 : listener->fd_count;
    listener->fd_count = most < former->fd_count ? most : former->fd_count;
    for (unsigned i = 0; i < listener->fd_count; i++) {
        listener->fds[i] = fcntl(former->fds[i], F_DUPFD_CLOEXEC, 0);
        if (listener->fds[i] < 0)
            return -errno;
    }
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Where IPv6 is switched off, "every address" is that of IPv4. */
static bool falls_back_to_v4(const struct config_listen *config, int error)
{
    return config->wildcard && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL);
}

static int open_where_free(const struct config_listen *config,
                           const struct sockets_listener *listener, const struct sockets *before)
{
    int fd = tcp_socket_open(config, &listener->bound, listener->bound_length, true);
    if (fd == -EADDRINUSE && is_our_port(before, &listener->bound))
        fd = tcp_socket_open(config, &listener->bound, listener->bound_length, false);
    return fd;
}

/* The first worker's socket; what was really bound is noted. */
static int open_first_tcp(const struct config_listen *config, struct sockets_listener *listener,
                          const struct sockets *before)
{
    int fd = open_where_free(config, listener, before);
    if (falls_back_to_v4(config, fd)) {
        unsigned port = address_port(&listener->bound);
        listener->bound = (struct sockaddr_storage){.ss_family = AF_INET}; /* INADDR_ANY is zero */
        listener->bound_length = sizeof(struct sockaddr_in);
        set_port(&listener->bound, port);
        fd = open_where_free(config, listener, before);
    }
    if (fd < 0)
        return fd;
    if (getsockname(fd, (struct sockaddr *)&listener->bound, &listener->bound_length) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int open_tcp(struct sockets_listener *listener, const struct config_listen *config,
                    unsigned workers, const struct sockets *before)
{
    listener->bound = listener->wanted;
    listener->bound_length = listener->wanted_length;
    int fd = open_first_tcp(config, listener, before);
    if (fd < 0)
        return fd;
    listener->fds[0] = fd;
    listener->fd_count = workers;
    return tcp_socket_describe(&listener->bound, listener->bound_length, listener->address,
                               sizeof(listener->address));
}

/*
 * The sockets that are not there yet. While they may still have to go, because the rest of the
 * configuration turns out not to work, nobody is sent to them.
 */
static int open_more(const struct sockets *sockets, size_t index, const struct sockets *before)
{
    const struct config_listen *config = &sockets->config->listen[index];
    struct sockets_listener *listener = &sockets->listeners[index];
    if (listener->is_shared || listener->fd_count >= sockets->workers)
        return 0;
    if (listener->is_inherited) /* without it some would wait there */
        steering_confine(before, listener->fds[0], listener->fd_count);
    while (listener->fd_count < sockets->workers) {
        int fd = tcp_socket_open(config, &listener->bound, listener->bound_length, false);
        if (fd < 0)
            return fd;
        listener->fds[listener->fd_count++] = fd;
    }
    return 0;
}

static int open_unix(struct sockets_listener *listener, const struct config_listen *config)
{
    int fd = unix_socket_open(config, &listener->device, &listener->inode);
    if (fd < 0)
        return fd;
    listener->fds[0] = fd;
    listener->fd_count = 1;
    listener->is_shared = true;
    listener->bound = listener->wanted;
    listener->bound_length = listener->wanted_length;
    snprintf(listener->address, sizeof(listener->address), "%s", config->address);
    return 0;
}

/* The service manager's: there is one, whatever the number of workers. */
static int take_over(struct sockets_listener *listener, const struct activated *given)
{
    listener->bound = given->address;
    listener->bound_length = given->length;
    listener->is_shared = true;
    listener->is_activated = true;
    listener->fd_count = 1;
    listener->fds[0] = fcntl(given->fd, F_DUPFD_CLOEXEC, 0);
    if (listener->fds[0] < 0)
        return -errno;
    activation_describe(given, listener->address, sizeof(listener->address));
    return 0;
}

static const struct activated *find_given(const struct sockets *sockets, size_t index)
{
    return sockets->activation != NULL
               ? activation_find(sockets->activation, sockets->config, index)
               : NULL;
}

static int open_listener(struct sockets *sockets, size_t index, const struct sockets *before)
{
    const struct config_listen *config = &sockets->config->listen[index];
    struct sockets_listener *listener = &sockets->listeners[index];
    listener->wanted = config->sockaddr;
    listener->wanted_length = config->sockaddr_length;
    listener->v6_only = config->v6_only;
    const struct sockets_listener *former = find_former(sockets, index, before);
    if (former != NULL && !is_reachable(former))
        former = NULL;
    const struct activated *given = find_given(sockets, index);
    listener->fds = malloc(sockets->workers * sizeof(*listener->fds));
    if (listener->fds == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < sockets->workers; i++)
        listener->fds[i] = -1;
    listener->fd_count = sockets->workers;
    int error = former != NULL      ? inherit(listener, former)
                : given != NULL     ? take_over(listener, given)
                : is_unix(listener) ? open_unix(listener, config)
                                    : open_tcp(listener, config, 1, before);
    return error < 0 ? error : open_more(sockets, index, before);
}

static const char *failure_reason(const struct sockets_listener *listener, int error)
{
    if (is_unix(listener) && error == -EEXIST)
        return "a file that is no socket stands there";
    if (is_unix(listener) && error == -ESRCH)
        return "its owner or group is not known here";
    return strerror(-error);
}

/* What was named nowhere, the default address, has an empty source. */
static void report(const struct config_listen *listen, const char *reason)
{
    bool has_place = listen->source != NULL && listen->source[0] != '\0';
    bool is_default = listen->source != NULL && !has_place;

    log_event(LOG_LEVEL_ERROR, "%s%scannot listen on %s: %s%s", has_place ? listen->source : "",
              has_place ? ": " : "", listen->address, reason,
              is_default ? "; --listen takes another address" : "");
}

/* The kernel cuts a longer backlog down without a word, and bursts of clients then wait. */
static void warn_of_backlog(const struct config *config)
{
    unsigned limit;
    FILE *file = fopen("/proc/sys/net/core/somaxconn", "re");
    if (file == NULL)
        return;
    int found = fscanf(file, "%u", &limit);
    fclose(file);
    for (size_t i = 0; found == 1 && i < config->listen_count; i++) {
        if (config->listen[i].backlog <= limit)
            continue;
        log_event(LOG_LEVEL_WARNING, "%s: backlog = %u is cut to net.core.somaxconn = %u",
                  config->listen[i].address, config->listen[i].backlog, limit);
        return; /* the one cause is named once */
    }
}

int sockets_open(struct sockets *sockets, const struct config *config, unsigned workers,
                 const struct sockets *before)
{
    assert(workers > 0);
    *sockets = (struct sockets){.config = config, .workers = workers};
    if (before != NULL)
        sockets->activation = before->activation;
    sockets->listeners = calloc(config->listen_count, sizeof(*sockets->listeners));
    sockets->is_away = calloc(workers, sizeof(*sockets->is_away));
    if (sockets->listeners == NULL || sockets->is_away == NULL) {
        sockets_close(sockets);
        return -ENOMEM;
    }
    for (; sockets->count < config->listen_count; sockets->count++) {
        const struct config_listen *listen = &config->listen[sockets->count];
        int error = open_listener(sockets, sockets->count, before);
        if (error < 0) {
            report(listen, failure_reason(&sockets->listeners[sockets->count], error));
            sockets->count++; /* what there is of this one is closed, too */
            sockets_close(sockets);
            return error;
        }
    }
    warn_of_backlog(config);
    return 0;
}

int sockets_descriptor(const struct sockets *sockets, unsigned worker, size_t index)
{
    const struct sockets_listener *listener = &sockets->listeners[index];
    assert(worker < sockets->workers);
    return listener->fds[listener->is_shared ? 0 : worker];
}

/* ---- closing ------------------------------------------------------------------------------- */

static void release(struct sockets_listener *listener)
{
    for (unsigned i = 0; listener->fds != NULL && i < listener->fd_count; i++) {
        if (listener->fds[i] >= 0)
            close(listener->fds[i]);
        listener->fds[i] = -1;
    }
}

static void stop_listening(struct sockets_listener *listener)
{
    if (listener->is_activated) { /* whoever comes now waits there for the next evixd */
        release(listener);
        return;
    }
    bool is_open = listener->fds != NULL && listener->fd_count != 0 && listener->fds[0] >= 0;
    if (is_open && is_unix(listener))
        unix_socket_remove(&listener->wanted, listener->device, listener->inode);
    for (unsigned i = 0; is_open && !is_unix(listener) && i < listener->fd_count; i++) {
        if (listener->fds[i] >= 0)
            (void)!tcp_socket_refuse(listener->fds[i]); /* else one may come just too late */
    }
    release(listener);
}

void sockets_release(struct sockets *sockets)
{
    for (size_t i = 0; i < sockets->count; i++)
        release(&sockets->listeners[i]);
}

void sockets_stop_listening(struct sockets *sockets)
{
    for (size_t i = 0; i < sockets->count; i++)
        stop_listening(&sockets->listeners[i]);
}

void sockets_close(struct sockets *sockets)
{
    for (size_t i = 0; i < sockets->count; i++) {
        struct sockets_listener *listener = &sockets->listeners[i];
        if (listener->is_inherited || listener->kept_count != 0)
            release(listener);
        else
            stop_listening(listener);
        free(listener->fds);
    }
    free(sockets->listeners);
    free(sockets->is_away);
    *sockets = (struct sockets){0};
}
