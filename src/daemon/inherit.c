/* SPDX-License-Identifier: MIT */
/*
 * Writes down the listening sockets for the next program, and reads that in the next program.
 * It neither executes it (upgrade.c) nor decides what to keep (takeover.c).
 * upgrade.c and master.c call it.
 */

#include "daemon/inherit.h"

#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VARIABLE "EVIXD_UPGRADE"
#define FORMAT   "evixd sockets 1\n"

/* More than any host has; a text that says more is not ours. */
#define MOST_LISTENERS 65536
#define MOST_SOCKETS   65536

static int set_inherited(int fd, bool is_inherited)
{
    return fcntl(fd, F_SETFD, is_inherited ? 0 : FD_CLOEXEC) == 0 ? 0 : -errno;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_bytes(FILE *file, const struct sockaddr_storage *address, socklen_t length)
{
    const unsigned char *bytes = (const unsigned char *)address;
    fprintf(file, " %u:", (unsigned)length);
    for (socklen_t i = 0; i < length; i++)
        fprintf(file, "%02x", bytes[i]);
}

static int write_listener(FILE *file, const struct sockets_listener *listener)
{
    fprintf(file, "%d %d %d %ju %ju %u", listener->v6_only, listener->is_shared,
            listener->is_activated, (uintmax_t)listener->device, (uintmax_t)listener->inode,
            listener->fd_count);
    write_bytes(file, &listener->wanted, listener->wanted_length);
    write_bytes(file, &listener->bound, listener->bound_length);
    for (unsigned i = 0; i < listener->fd_count; i++) {
        int error = set_inherited(listener->fds[i], true);
        if (error < 0)
            return error;
        fprintf(file, " %d", listener->fds[i]);
    }
    fprintf(file, " %s\n", listener->address);
    return 0;
}

static int write_table(FILE *file, const struct sockets *sockets)
{
    fprintf(file, FORMAT "%zu\n", sockets->count);
    for (size_t i = 0; i < sockets->count; i++) {
        int error = write_listener(file, &sockets->listeners[i]);
        if (error < 0)
            return error;
    }
    return fflush(file) == 0 ? 0 : -errno;
}

/* Our own number, by which the program knows that it is meant, and no child of its. */
static int set_variable(int table_fd, int stream_fd, pid_t from, int stderr_fd)
{
    char value[96];
    snprintf(value, sizeof(value), "%ld %d %d %ld %d", (long)getpid(), table_fd, stream_fd,
             (long)from, stderr_fd);
    return setenv(VARIABLE, value, true) == 0 ? 0 : -errno;
}

/* What is open at a failure is closed by the end of the process, which follows. */
int inherit_prepare(const struct sockets *sockets, int stream_fd, pid_t from, int stderr_fd)
{
    int fd = memfd_create("evixd-sockets", 0);
    if (fd < 0)
        return -errno;
    FILE *file = fdopen(fd, "w+");
    if (file == NULL)
        return -errno;
    int error = write_table(file, sockets);
    if (error == 0)
        error = set_inherited(stream_fd, true);
    return error < 0 ? error : set_variable(fd, stream_fd, from, stderr_fd);
}

/* ---- reading ------------------------------------------------------------------------------- */

static int read_bytes(FILE *file, struct sockaddr_storage *address, socklen_t *length)
{
    unsigned char *bytes = (unsigned char *)address;
    unsigned count, byte;
    if (fscanf(file, " %u:", &count) != 1 || count > sizeof(*address))
        return -EINVAL;
    for (unsigned i = 0; i < count; i++) {
        if (fscanf(file, "%2x", &byte) != 1)
            return -EINVAL;
        bytes[i] = (unsigned char)byte;
    }
    *length = count;
    return 0;
}

/* A number that is no listening socket would be accepted from for ever, in vain. */
static int read_socket(FILE *file, int *out)
{
    int is_listening = 0;
    socklen_t length = sizeof(is_listening);
    if (fscanf(file, "%d", out) != 1 || *out <= STDERR_FILENO)
        return -EINVAL;
    if (getsockopt(*out, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &length) != 0)
        return -errno;
    return is_listening ? set_inherited(*out, false) : -EINVAL;
}

static int read_listener(FILE *file, struct sockets_listener *listener)
{
    int v6_only, is_shared, is_activated;
    uintmax_t device, inode;
    unsigned count;
    if (fscanf(file, "%d %d %d %ju %ju %u", &v6_only, &is_shared, &is_activated, &device, &inode,
               &count) != 6 ||
        count == 0 || count > MOST_SOCKETS)
        return -EINVAL;
    listener->v6_only = v6_only;
    listener->is_shared = is_shared;
    listener->is_activated = is_activated;
    listener->device = (dev_t)device;
    listener->inode = (ino_t)inode;
    int error = read_bytes(file, &listener->wanted, &listener->wanted_length);
    if (error == 0)
        error = read_bytes(file, &listener->bound, &listener->bound_length);
    if (error < 0)
        return error;
    listener->fds = calloc(count, sizeof(*listener->fds));
    if (listener->fds == NULL)
        return -ENOMEM;
    for (; error == 0 && listener->fd_count < count; listener->fd_count++)
        error = read_socket(file, &listener->fds[listener->fd_count]);
    /* SOCKETS_ADDRESS_BYTES */
    if (error == 0 && fscanf(file, " %127[^\n]", listener->address) != 1)
        error = -EINVAL;
    return error;
}

static int read_table(FILE *file, struct sockets *sockets)
{
    char version[sizeof(FORMAT)];
    size_t count;
    if (fgets(version, sizeof(version), file) == NULL || strcmp(version, FORMAT) != 0)
        return -EPROTONOSUPPORT;
    if (fscanf(file, "%zu", &count) != 1 || count > MOST_LISTENERS)
        return -EINVAL;
    sockets->listeners = calloc(count + 1, sizeof(*sockets->listeners));
    if (sockets->listeners == NULL)
        return -ENOMEM;
    int error = 0;
    for (; error == 0 && sockets->count < count; sockets->count++)
        error = read_listener(file, &sockets->listeners[sockets->count]);
    return error;
}

static int read_from(int table_fd, struct inheritance *inheritance)
{
    int error = set_inherited(inheritance->stream_fd, false);
    FILE *file = error == 0 ? fdopen(table_fd, "r") : NULL;
    if (file == NULL)
        return error < 0 ? error : -errno;
    rewind(file);
    error = read_table(file, &inheritance->sockets);
    fclose(file);
    return error;
}

/* What the former one listened to until now; from here on there is the log. */
static int put_stderr_back(int stderr_fd)
{
    if (stderr_fd <= STDERR_FILENO)
        return 0;
    int error = dup2(stderr_fd, STDERR_FILENO) < 0 ? -errno : 0;
    close(stderr_fd);
    return error;
}

int inherit_take(struct inheritance *inheritance)
{
    int table_fd, stream_fd, error = -EINVAL;
    int stderr_fd = -1; /* an older program leaves none */
    long heir, from;
    *inheritance = (struct inheritance){.stream_fd = -1};
    const char *value = getenv(VARIABLE);
    if (value == NULL)
        return 0;
    bool is_ours =
        sscanf(value, "%ld %d %d %ld %d", &heir, &table_fd, &stream_fd, &from, &stderr_fd) >= 4;
    unsetenv(VARIABLE);
    if (is_ours && heir != (long)getpid())
        return 0; /* meant for another process, which has passed its environment on */
    if (is_ours) {
        inheritance->stream_fd = stream_fd;
        inheritance->from = (pid_t)from;
        error = read_from(table_fd, inheritance);
        if (error == 0)
            error = put_stderr_back(stderr_fd);
    }
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot take over the sockets of the former program: %s",
                  strerror(-error));
        inherit_close(inheritance);
    }
    return error;
}

void inherit_report(struct inheritance *inheritance)
{
    const struct sockets *sockets = &inheritance->sockets;
    for (size_t i = 0; i < sockets->count; i++) {
        uint32_t kept = sockets->listeners[i].kept_count;
        /* If nobody is there to be told, nobody has to make way. */
        (void)!send(inheritance->stream_fd, &kept, sizeof(kept), MSG_NOSIGNAL);
    }
}

void inherit_close(struct inheritance *inheritance)
{
    sockets_release(&inheritance->sockets);
    sockets_close(&inheritance->sockets);
    if (inheritance->stream_fd >= 0)
        close(inheritance->stream_fd);
    inheritance->stream_fd = -1;
}
