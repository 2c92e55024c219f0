/* SPDX-License-Identifier: MIT */
/*
 * Writes log lines to a descriptor of any kind without ever waiting for it.
 * It does not buffer, count or format.
 * access_log.c and the daemon's error log call it.
 */

#include <config.h>

#include "server/log_output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_kind(int fd, enum log_output_kind *kind)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (S_ISREG(status.st_mode))
        *kind = LOG_OUTPUT_FILE;
    else if (S_ISSOCK(status.st_mode))
        *kind = LOG_OUTPUT_SOCKET;
    else
        *kind = LOG_OUTPUT_STREAM;
    return 0;
}

int log_output_open(struct log_output *output, enum config_target target, const char *path)
{
    *output = (struct log_output){.fd = -1};
    if (target == CONFIG_TARGET_FILE) {
        /* O_NONBLOCK, so that a FIFO without a reader is an error and not a hang. */
        output->fd =
            open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
        if (output->fd < 0)
            return -errno;
        output->is_owned = true;
    } else {
        output->fd = target == CONFIG_TARGET_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
    }
    int error = find_kind(output->fd, &output->kind);
    if (error < 0)
        log_output_close(output);
    return error;
}

/* As many whole lines as fit into PIPE_BUF, which a pipe takes whole or not at all. */
static size_t atomic_length(const char *lines, size_t length)
{
    if (length <= PIPE_BUF)
        return length;
    const char *end = memrchr(lines, '\n', PIPE_BUF);
    return end == NULL ? PIPE_BUF : (size_t)(end - lines) + 1;
}

/* A pipe that polls as writable takes PIPE_BUF bytes at once. */
static ssize_t write_stream(int fd, const char *lines, size_t length)
{
    size_t taken = 0;
    int error = -EAGAIN;
    while (taken < length) {
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        if (poll(&room, 1, 0) <= 0)
            break;
        ssize_t written = write(fd, lines + taken, atomic_length(lines + taken, length - taken));
        if (written < 0) {
            error = -errno;
            break;
        }
        taken += (size_t)written;
    }
    return taken != 0 || length == 0 ? (ssize_t)taken : error;
}

ssize_t log_output_write(const struct log_output *output, const char *lines, size_t length)
{
    assert(output->fd >= 0);
    ssize_t written;
    switch (output->kind) {
    case LOG_OUTPUT_STREAM:
        return write_stream(output->fd, lines, length);
    case LOG_OUTPUT_SOCKET:
        written = send(output->fd, lines, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        break;
    default:
        written = write(output->fd, lines, length);
        break;
    }
    return written < 0 ? -errno : written;
}

void log_output_close(struct log_output *output)
{
    if (output->is_owned)
        close(output->fd);
    *output = (struct log_output){.fd = -1};
}
