/* SPDX-License-Identifier: MIT */
/*
 * Writes log lines to a descriptor of any kind without ever waiting for it.
 * It does not buffer, count or format.
 * access_log.c and the daemon's error log call it.
 */

#include "server/log_output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a stream socket takes in one piece: well below half of the least send buffer in use. */
#define SOCKET_LINE_BYTES 16384

/* At the end of a file: so many in a row that see the same, of so many at most. */
#define LOOKS     10
#define LOOKS_MAX 100

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
    *output = (struct log_output){.fd = -1, .torn_at = -1};
    if (target == CONFIG_TARGET_FILE) {
        /* O_NONBLOCK, so that a FIFO without a reader is an error and not a hang. */
        output->fd =
            open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
        if (output->fd < 0)
            return -errno;
        output->is_owned = true;
        output->path = path;
    } else {
        output->fd = target == CONFIG_TARGET_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
    }
    int error = find_kind(output->fd, &output->kind);
    if (error < 0)
        log_output_close(output);
    return error;
}

size_t log_output_line_bytes(const struct log_output *output)
{
    switch (output->kind) {
    case LOG_OUTPUT_STREAM:
        return PIPE_BUF; /* which a pipe takes whole or not at all */
    case LOG_OUTPUT_SOCKET:
        return SOCKET_LINE_BYTES;
    default:
        return SIZE_MAX;
    }
}

/* As many whole lines as are taken in one piece. */
static size_t atomic_length(const char *lines, size_t length, size_t most)
{
    if (length <= most)
        return length;
    const char *end = memrchr(lines, '\n', most);
    return end == NULL ? most : (size_t)(end - lines) + 1;
}

/*
 * A pipe that polls as writable takes PIPE_BUF bytes at once, if no other process was faster: then
 * write(2) would wait for the pipe's reader. Kernels whose pipes or terminals know no RWF_NOWAIT
 * (pipes before Linux 6.4) leave that risk.
 */
static ssize_t write_to_stream(const struct log_output *output, const char *lines, size_t length)
{
    struct iovec piece = {(void *)(uintptr_t)lines, length};
    ssize_t written = pwritev2(output->fd, &piece, 1, -1, RWF_NOWAIT);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return written;
    return write(output->fd, lines, length);
}

static ssize_t write_piece(const struct log_output *output, const char *lines, size_t length)
{
    if (output->kind == LOG_OUTPUT_SOCKET)
        return send(output->fd, lines, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct pollfd room = {.fd = output->fd, .events = POLLOUT};
    if (poll(&room, 1, 0) > 0)
        return output->kind == LOG_OUTPUT_STREAM ? write_to_stream(output, lines, length)
                                                 : write(output->fd, lines, length);
    errno = EAGAIN;
    return -1;
}

static ssize_t write_pieces(const struct log_output *output, const char *lines, size_t length)
{
    size_t most = log_output_line_bytes(output);
    size_t taken = 0;
    while (taken < length) {
        ssize_t written =
            write_piece(output, lines + taken, atomic_length(lines + taken, length - taken, most));
        if (written < 0)
            return taken != 0 ? (ssize_t)taken : -errno;
        taken += (size_t)written;
    }
    return (ssize_t)taken;
}

static int64_t size_of(const struct log_output *output)
{
    struct stat status;
    return fstat(output->fd, &status) == 0 ? (int64_t)status.st_size : -1;
}

/* The last byte of a file, and its size; '\n' where nothing is known. */
static char last_byte(const struct log_output *output, int reader, int64_t *size)
{
    char last = '\n';

    *size = size_of(output);
    if (*size <= 0 || pread(reader, &last, 1, *size - 1) != 1)
        return '\n';
    return last;
}

/*
 * A file grows while another process is still in the middle of its write(2), and then ends inside a
 * line as well. Writing nothing waits for the other's end on most file systems; only an end that
 * stays where it is was left like that.
 */
static bool stays_inside_line(const struct log_output *output, int reader)
{
    int64_t size, former = -1;
    unsigned same = 0;

    for (unsigned looks = 0; looks < LOOKS_MAX && same < LOOKS; looks++) {
        if (write(output->fd, "", 0) < 0 || last_byte(output, reader, &size) == '\n')
            return false;
        same = size == former ? same + 1 : 0;
        former = size;
        sched_yield();
    }
    return same == LOOKS;
}

/* The file is open for writing alone, so that its last byte needs another descriptor. */
static bool ends_inside_line(const struct log_output *output)
{
    struct log_output again = {.fd = output->fd};
    bool is_inside;

    if (output->path != NULL)
        again.fd = open(output->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (again.fd < 0)
        return false; /* it may not be read: nothing is known */
    is_inside = log_output_is_same(output, &again) && stays_inside_line(output, again.fd);
    if (again.fd != output->fd)
        close(again.fd);
    return is_inside;
}

static ssize_t write_file(struct log_output *output, const char *lines, size_t length)
{
    char newline = '\n';
    struct iovec pieces[2] = {{&newline, 1}, {(void *)(uintptr_t)lines, length}};
    size_t skipped = output->is_end_known || !ends_inside_line(output) ? 1 : 0;
    ssize_t written = writev(output->fd, pieces + skipped, (int)(2 - skipped));
    int error = -errno;

    output->is_end_known = written == (ssize_t)(length + 1 - skipped);
    if (written < 0)
        return error;
    if (!output->is_end_known)
        output->torn_at = size_of(output);
    return written - (ssize_t)(skipped == 0 && written != 0);
}

ssize_t log_output_write(struct log_output *output, const char *lines, size_t length)
{
    assert(output->fd >= 0);
    return output->kind == LOG_OUTPUT_FILE ? write_file(output, lines, length)
                                           : write_pieces(output, lines, length);
}

bool log_output_resume(struct log_output *output)
{
    if (output->kind != LOG_OUTPUT_FILE)
        return true;
    output->is_end_known = output->torn_at >= 0 && size_of(output) == output->torn_at;
    return output->is_end_known;
}

bool log_output_is_same(const struct log_output *a, const struct log_output *b)
{
    struct stat one, other;
    return fstat(a->fd, &one) == 0 && fstat(b->fd, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

void log_output_close(struct log_output *output)
{
    if (output->is_owned)
        close(output->fd);
    *output = (struct log_output){.fd = -1};
}
