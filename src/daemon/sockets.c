/* SPDX-License-Identifier: MIT */
/*
 * Opens one TCP socket a worker and address, and keeps the table of all listening sockets.
 * It accepts nothing; what is particular to unix sockets is in unix_socket.c.
 * master.c opens them, children.c hands them to workers.
 */

#include "daemon/sockets.h"

#include "daemon/unix_socket.h"
#include "log/log.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

static void set_port(struct sockaddr_storage *address, in_port_t port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = port;
    else
        ((struct sockaddr_in *)address)->sin_port = port;
}

static in_port_t get_port(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                          : ((const struct sockaddr_in *)address)->sin_port;
}

/* Accepted sockets inherit TCP_NODELAY on Linux, which spares a call for each connection. */
static int set_options(int fd, const struct config_listen *listen, int family)
{
    int error = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (error == 0 && family == AF_INET6)
        error = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, listen->v6_only);
    if (error == 0)
        error = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    return error;
}

/*
 * The first socket of an address is bound without SO_REUSEPORT, which fails if anybody listens
 * there: with it, another evixd of the same user would be let in without a word, and get half of
 * our clients. Once it is bound, the option lets its siblings in.
 */
static int bind_socket(int fd, const struct sockaddr_storage *address, socklen_t length,
                       bool is_first)
{
    int error;
    if (!is_first) {
        error = set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
        if (error < 0)
            return error;
    }
    if (bind(fd, (const struct sockaddr *)address, length) != 0)
        return -errno;
    return is_first ? set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0;
}

static int open_tcp(const struct config_listen *config, const struct sockaddr_storage *address,
                    socklen_t length, bool is_first)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = set_options(fd, config, address->ss_family);
    if (error == 0)
        error = bind_socket(fd, address, length, is_first);
    if (error == 0 && listen(fd, (int)config->backlog) != 0)
        error = -errno;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Where IPv6 is switched off, "every address" is that of IPv4. */
static bool falls_back_to_v4(const struct config_listen *config, int error)
{
    return config->wildcard && (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL);
}

/* The first worker's socket; *address becomes what was really bound. */
static int open_first_tcp(const struct config_listen *config, struct sockaddr_storage *address,
                          socklen_t *length)
{
    int fd = open_tcp(config, address, *length, true);
    if (falls_back_to_v4(config, fd)) {
        in_port_t port = get_port(address);
        *address = (struct sockaddr_storage){.ss_family = AF_INET}; /* INADDR_ANY is zero */
        *length = sizeof(struct sockaddr_in);
        set_port(address, port);
        fd = open_tcp(config, address, *length, true);
    }
    if (fd < 0)
        return fd;
    if (getsockname(fd, (struct sockaddr *)address, length) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int *socket_slot(struct sockets *sockets, unsigned worker, size_t listener)
{
    return &sockets->fds[worker * sockets->config->listen_count + listener];
}

/* HOST:PORT with both as numbers, IPv6 in brackets. */
static int format_address(const struct sockaddr_storage *address, socklen_t length,
                          char out[SOCKETS_ADDRESS_BYTES])
{
    char host[64], port[8];
    if (getnameinfo((const struct sockaddr *)address, length, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -EAFNOSUPPORT;
    snprintf(out, SOCKETS_ADDRESS_BYTES, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
    return 0;
}

static int open_tcp_listener(struct sockets *sockets, size_t index)
{
    const struct config_listen *config = &sockets->config->listen[index];
    struct sockaddr_storage address = config->sockaddr;
    socklen_t length = config->sockaddr_length;
    int fd = open_first_tcp(config, &address, &length);
    for (unsigned worker = 0;; worker++) {
        if (fd < 0)
            return fd;
        *socket_slot(sockets, worker, index) = fd;
        if (worker + 1 == sockets->workers)
            break;
        fd = open_tcp(config, &address, length, false);
    }
    return format_address(&address, length, sockets->listeners[index].address);
}

/* One descriptor, in every worker's row. */
static int open_unix_listener(struct sockets *sockets, size_t index)
{
    const struct config_listen *config = &sockets->config->listen[index];
    struct sockets_listener *listener = &sockets->listeners[index];
    int fd = unix_socket_open(config, &listener->device, &listener->inode);
    if (fd < 0)
        return fd;
    for (unsigned worker = 0; worker < sockets->workers; worker++)
        *socket_slot(sockets, worker, index) = fd;
    snprintf(listener->address, SOCKETS_ADDRESS_BYTES, "%s", config->address);
    return 0;
}

static bool is_unix(const struct config_listen *config)
{
    return config->sockaddr.ss_family == AF_UNIX;
}

static const char *failure_reason(const struct config_listen *config, int error)
{
    if (is_unix(config) && error == -EEXIST)
        return "a file that is no socket stands there";
    if (is_unix(config) && error == -ESRCH)
        return "its owner or group is not known here";
    return strerror(-error);
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

int sockets_open(struct sockets *sockets, const struct config *config, unsigned workers)
{
    assert(workers > 0);
    *sockets = (struct sockets){.config = config};
    size_t count = workers * config->listen_count;
    int error = -ENOMEM;
    sockets->listeners = calloc(config->listen_count, sizeof(*sockets->listeners));
    sockets->fds = malloc(count * sizeof(*sockets->fds));
    if (sockets->listeners == NULL || sockets->fds == NULL)
        goto close_sockets;
    for (size_t i = 0; i < count; i++)
        sockets->fds[i] = -1;
    sockets->workers = workers;

    for (size_t i = 0; i < config->listen_count; i++) {
        const struct config_listen *listen = &config->listen[i];
        error = is_unix(listen) ? open_unix_listener(sockets, i) : open_tcp_listener(sockets, i);
        if (error < 0) {
            log_event(LOG_LEVEL_ERROR, "cannot listen on %s: %s", listen->address,
                      failure_reason(listen, error));
            goto close_sockets;
        }
    }
    warn_of_backlog(config);
    return 0;

close_sockets:
    sockets_close(sockets);
    return error;
}

const int *sockets_of_worker(const struct sockets *sockets, unsigned worker)
{
    assert(worker < sockets->workers);
    return &sockets->fds[worker * sockets->config->listen_count];
}

static void close_listener(struct sockets *sockets, size_t index)
{
    const struct sockets_listener *listener = &sockets->listeners[index];
    bool was_open = *socket_slot(sockets, 0, index) >= 0;
    bool is_shared = is_unix(&sockets->config->listen[index]);
    for (unsigned worker = 0; worker < sockets->workers; worker++) {
        int *fd = socket_slot(sockets, worker, index);
        if (*fd >= 0 && (worker == 0 || !is_shared))
            close(*fd);
        *fd = -1;
    }
    if (was_open && is_shared)
        unix_socket_remove(&sockets->config->listen[index], listener->device, listener->inode);
}

void sockets_stop_listening(struct sockets *sockets)
{
    if (sockets->workers == 0)
        return;
    for (size_t i = 0; i < sockets->config->listen_count; i++)
        close_listener(sockets, i);
}

void sockets_close(struct sockets *sockets)
{
    sockets_stop_listening(sockets);
    free(sockets->listeners);
    free(sockets->fds);
    *sockets = (struct sockets){0};
}
