/* SPDX-License-Identifier: MIT */
/*
 * Writes and removes the file with the master's process id.
 * It does not judge by such a file whether another master runs: the sockets tell that.
 * master.c calls it.
 */

#include "daemon/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int write_number(int fd)
{
    char text[24];
    int length = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    ssize_t written = write(fd, text, (size_t)length);
    if (written == length)
        return 0;
    return written < 0 ? -errno : -ENOSPC;
}

int pid_file_write(const char *path)
{
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof(temporary))
        return -ENAMETOOLONG;

    /* With this number in its name it can only be a leftover of a process long gone. */
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    int error = write_number(fd);
    if (close(fd) != 0 && error == 0)
        error = -errno;
    if (error == 0 && rename(temporary, path) != 0)
        error = -errno;
    if (error < 0)
        unlink(temporary);
    return error;
}

void pid_file_remove(const char *path, pid_t pid)
{
    char text[24];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return;
    text[length] = '\0';
    if (strtol(text, NULL, 10) == (long)pid)
        unlink(path);
}
