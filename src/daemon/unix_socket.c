/* SPDX-License-Identifier: MIT */
/*
 * Opens and removes unix sockets in a file system that others use too.
 * It keeps nothing: sockets.c does, and is the caller.
 */

#include "daemon/unix_socket.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *path_of(const struct sockaddr_storage *address)
{
    return ((const struct sockaddr_un *)address)->sun_path;
}

static const char *socket_path(const struct config_listen *listen)
{
    return path_of(&listen->sockaddr);
}

/* 0 if nobody answers at the socket, -EADDRINUSE if somebody does, or another error. */
static int probe(const struct config_listen *listen)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = -EADDRINUSE;
    if (connect(fd, (const struct sockaddr *)&listen->sockaddr, listen->sockaddr_length) != 0) {
        if (errno == ECONNREFUSED)
            error = 0;
        else if (errno != EAGAIN) /* a full queue: alive, and busy */
            error = -errno;
    }
    close(fd);
    return error;
}

/* Makes way for a new socket, if it may. */
static int clear_path(const struct config_listen *listen)
{
    struct stat status;
    if (lstat(socket_path(listen), &status) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(status.st_mode))
        return -EEXIST;
    int error = probe(listen);
    if (error < 0)
        return error;
    return unlink(socket_path(listen)) == 0 || errno == ENOENT ? 0 : -errno;
}

/*
 * The file is born with its mode, by way of the umask: a chmod(2) afterwards could be led astray
 * by a link. The umask is the process's, and the master has one thread.
 */
static int bind_with_mode(int fd, const struct config_listen *listen)
{
    mode_t before = umask(~listen->mode & 0777);
    int error = bind(fd, (const struct sockaddr *)&listen->sockaddr, listen->sockaddr_length);
    if (error != 0)
        error = -errno;
    umask(before);
    return error;
}

static int find_owner(const char *name, uid_t *out)
{
    struct passwd *entry;

    errno = 0;
    entry = name[0] != '\0' ? getpwnam(name) : NULL;
    if (entry != NULL)
        *out = entry->pw_uid;
    return entry != NULL || name[0] == '\0' ? 0 : errno != 0 ? -errno : -ESRCH;
}

static int find_group(const char *name, gid_t *out)
{
    struct group *entry;

    errno = 0;
    entry = name[0] != '\0' ? getgrnam(name) : NULL;
    if (entry != NULL)
        *out = entry->gr_gid;
    return entry != NULL || name[0] == '\0' ? 0 : errno != 0 ? -errno : -ESRCH;
}

/* Nothing is accepted yet. No link is followed; what else were put there is no socket of ours. */
static int give_away(const struct config_listen *listen)
{
    uid_t owner = (uid_t)-1;
    gid_t group = (gid_t)-1;
    int error = find_owner(listen->owner, &owner);

    if (error == 0)
        error = find_group(listen->group, &group);
    if (error < 0 || (owner == (uid_t)-1 && group == (gid_t)-1))
        return error;
    return lchown(socket_path(listen), owner, group) == 0 ? 0 : -errno;
}

int unix_socket_open(const struct config_listen *config, dev_t *device, ino_t *inode)
{
    struct stat status;
    int error = clear_path(config);
    if (error < 0)
        return error;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    error = bind_with_mode(fd, config);
    if (error < 0)
        goto close_socket;
    error = give_away(config);
    if (error == 0 &&
        (lstat(socket_path(config), &status) != 0 || listen(fd, (int)config->backlog) != 0))
        error = -errno;
    if (error < 0)
        goto remove_file;
    *device = status.st_dev;
    *inode = status.st_ino;
    return fd;

remove_file:
    unlink(socket_path(config));
close_socket:
    close(fd);
    return error;
}

bool unix_socket_is_ours(const struct sockaddr_storage *address, dev_t device, ino_t inode)
{
    struct stat status;
    return lstat(path_of(address), &status) == 0 && status.st_dev == device &&
           status.st_ino == inode;
}

void unix_socket_remove(const struct sockaddr_storage *address, dev_t device, ino_t inode)
{
    if (unix_socket_is_ours(address, device, inode))
        unlink(path_of(address));
}
