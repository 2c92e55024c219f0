/* SPDX-License-Identifier: MIT */
/*
 * Takes listening sockets over from a service manager, and finds the one that a listener means.
 * It opens none: sockets.c does, where none was given.
 * master.c takes them, sockets.c asks for them.
 */

#include "daemon/activation.h"

#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

/* ---- finding ----------------------------------------------------------------------------- */

static bool is_same_v6(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
    const struct sockaddr_in6 *left = (const struct sockaddr_in6 *)one;
    const struct sockaddr_in6 *right = (const struct sockaddr_in6 *)other;
    return left->sin6_port == right->sin6_port && left->sin6_scope_id == right->sin6_scope_id &&
           memcmp(&left->sin6_addr, &right->sin6_addr, sizeof(left->sin6_addr)) == 0;
}

static bool is_same_v4(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
    const struct sockaddr_in *left = (const struct sockaddr_in *)one;
    const struct sockaddr_in *right = (const struct sockaddr_in *)other;
    return left->sin_port == right->sin_port && left->sin_addr.s_addr == right->sin_addr.s_addr;
}

static bool is_same_path(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
    return strcmp(((const struct sockaddr_un *)one)->sun_path,
                  ((const struct sockaddr_un *)other)->sun_path) == 0;
}

/* [::]:80 that was given as :80 stands for 0.0.0.0:80 as well, where there is no IPv6. */
static bool stands_for(const struct config_listen *listen, const struct sockaddr_storage *v4)
{
    const struct sockaddr_in *address = (const struct sockaddr_in *)v4;
    return listen->wildcard && address->sin_addr.s_addr == htonl(INADDR_ANY) &&
           address->sin_port == ((const struct sockaddr_in6 *)&listen->sockaddr)->sin6_port;
}

static bool is_meant(const struct config_listen *listen, const struct activated *socket)
{
    const struct sockaddr_storage *address = &socket->address;
    if (listen->sockaddr.ss_family == AF_INET6 && address->ss_family == AF_INET)
        return stands_for(listen, address);
    if (listen->sockaddr.ss_family != address->ss_family)
        return false;
    switch (address->ss_family) {
    case AF_INET6:
        return is_same_v6(&listen->sockaddr, address);
    case AF_INET:
        return is_same_v4(&listen->sockaddr, address);
    default:
        return is_same_path(&listen->sockaddr, address);
    }
}

/* How many listeners before this one have its name. */
static size_t rank_of(const struct config *config, size_t listener)
{
    size_t rank = 0;
    for (size_t i = 0; i < listener; i++)
        rank += strcmp(config->listen[i].name, config->listen[listener].name) == 0;
    return rank;
}

static const struct activated *find_by_name(const struct activation *activation, const char *name,
                                            size_t rank)
{
    for (size_t i = 0; i < activation->count; i++) {
        if (strcmp(activation->table[i].name, name) == 0 && rank-- == 0)
            return &activation->table[i];
    }
    return NULL;
}

const struct activated *activation_find(const struct activation *activation,
                                        const struct config *config, size_t listener)
{
    const struct config_listen *listen = &config->listen[listener];
    const struct activated *found = NULL;
    if (listen->name[0] != '\0')
        found = find_by_name(activation, listen->name, rank_of(config, listener));
    for (size_t i = 0; found == NULL && i < activation->count; i++) {
        if (is_meant(listen, &activation->table[i]))
            found = &activation->table[i];
    }
    return found;
}

void activation_describe(const struct activated *socket, char *out, size_t size)
{
    const struct sockaddr *address = (const struct sockaddr *)&socket->address;
    char host[64], port[8];
    if (address->sa_family == AF_UNIX)
        snprintf(out, size, "unix:%s", ((const struct sockaddr_un *)address)->sun_path);
    else if (getnameinfo(address, socket->length, host, sizeof(host), port, sizeof(port),
                         NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(out, size, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    else
        snprintf(out, size, "an unknown address");
}

void activation_warn_of_unused(const struct activation *activation, const struct config *config)
{
    for (size_t i = 0; i < activation->count; i++) {
        const struct activated *socket = &activation->table[i];
        char address[128];
        bool is_used = false;
        for (size_t k = 0; k < config->listen_count; k++)
            is_used |= activation_find(activation, config, k) == socket;
        if (is_used)
            continue;
        activation_describe(socket, address, sizeof(address));
        log_event(LOG_LEVEL_WARNING,
                  "the service manager gave a socket for %s (name \"%s\") that no listener of the "
                  "configuration is for: nobody answers there",
                  address, socket->name);
    }
}

/* ---- taking ------------------------------------------------------------------------------ */

#ifdef HAVE_LIBSYSTEMD

/* Accepted sockets inherit TCP_NODELAY on Linux; close-on-exec is set already. */
static int prepare(struct activated *socket)
{
    int flags = fcntl(socket->fd, F_GETFL);
    if (flags < 0 || fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    socket->length = sizeof(socket->address);
    if (getsockname(socket->fd, (struct sockaddr *)&socket->address, &socket->length) != 0)
        return -errno;
    if (socket->address.ss_family != AF_UNIX &&
        setsockopt(socket->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) != 0)
        return -errno;
    return 0;
}

static bool is_served(const struct activated *socket)
{
    int family = socket->address.ss_family;
    return family == AF_INET || family == AF_INET6 || family == AF_UNIX;
}

static void add(struct activation *activation, int fd, char *name)
{
    struct activated socket = {.fd = fd, .name = name};
    int error = sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, true) > 0 ? prepare(&socket) : -ENOTSUP;
    if (error == 0 && is_served(&socket)) {
        activation->table[activation->count++] = socket;
        return;
    }
    log_event(LOG_LEVEL_WARNING,
              "the service manager gave descriptor %d (name \"%s\"), which is no listening stream "
              "socket: it is closed",
              fd, name);
    close(fd);
    free(name);
}

/* A script or shell between the service manager and us: the sockets were given to that. */
static void tell_of_others(void)
{
    const char *count = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");

    if (count != NULL && pid != NULL && strtol(pid, NULL, 10) != (long)getpid())
        log_event(LOG_LEVEL_NOTICE,
                  "LISTEN_FDS=%s was meant for process %s, this is %ld: no socket is taken over",
                  count, pid, (long)getpid());
}

int activation_take(struct activation *activation)
{
    char **names = NULL;
    *activation = (struct activation){0};
    tell_of_others();
    int count = sd_listen_fds_with_names(true, &names);
    if (count > 0)
        activation->table = calloc((size_t)count, sizeof(*activation->table));
    if (count < 0 || (count > 0 && activation->table == NULL)) {
        int error = count < 0 ? count : -ENOMEM;
        log_event(LOG_LEVEL_ERROR, "cannot take over the service manager's sockets: %s",
                  strerror(-error));
        return error;
    }
    for (int i = 0; i < count; i++)
        add(activation, SD_LISTEN_FDS_START + i, names[i]);
    free(names);
    return 0;
}

/* They lie where they were given, one after the other, up to one that could not be served. */
static int count_in_place(const struct activation *activation)
{
    int count = 0;
    while ((size_t)count < activation->count &&
           activation->table[count].fd == SD_LISTEN_FDS_START + count)
        count++;
    return count;
}

static int set_variable(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    return setenv(name, text, true);
}

static int set_names(const struct activation *activation, int count)
{
    char *names = NULL;
    size_t length;
    FILE *file = open_memstream(&names, &length);
    if (file == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%s", i == 0 ? "" : ":", activation->table[i].name);
    int error = fclose(file);
    if (error == 0)
        error = setenv("LISTEN_FDNAMES", names, true);
    free(names);
    return error;
}

void activation_before_exec(const struct activation *activation)
{
    int count = count_in_place(activation);
    if (count == 0)
        return;
    for (int i = 0; i < count; i++)
        (void)fcntl(activation->table[i].fd, F_SETFD, 0);
    if (set_names(activation, count) != 0 || set_variable("LISTEN_FDS", count) != 0 ||
        set_variable("LISTEN_PID", (int)getpid()) != 0)
        unsetenv("LISTEN_PID"); /* no memory: what listens already is handed on all the same */
}

#else

void activation_before_exec(const struct activation *activation)
{
    (void)activation;
}

int activation_take(struct activation *activation)
{
    *activation = (struct activation){0};
    return 0;
}

#endif

void activation_fini(struct activation *activation)
{
    for (size_t i = 0; i < activation->count; i++) {
        close(activation->table[i].fd);
        free(activation->table[i].name);
    }
    free(activation->table);
    *activation = (struct activation){0};
}
