/* SPDX-License-Identifier: MIT */
/*
 * Reads another program's standard error, and logs it line by line.
 * It neither starts that program nor knows how it ended.
 * upgrade.c calls it.
 */

#include "daemon/complaints.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void complaints_init(struct complaints *complaints)
{
    *complaints = (struct complaints){.fd = -1};
}

static void log_line(const char *line, size_t length)
{
    if (length > 0)
        log_event(LOG_LEVEL_ERROR, "the new program says: %.*s", (int)length, line);
}

/* Logs the lines that are whole, and keeps the rest; one that is too long for that is cut. */
static void log_whole_lines(struct complaints *complaints)
{
    char *start = complaints->line, *end = complaints->line + complaints->used;
    for (;;) {
        char *newline = memchr(start, '\n', (size_t)(end - start));
        if (newline == NULL)
            break;
        log_line(start, (size_t)(newline - start));
        start = newline + 1;
    }
    complaints->used = (size_t)(end - start);
    if (complaints->used == sizeof(complaints->line)) {
        log_line(start, complaints->used);
        complaints->used = 0;
    }
    memmove(complaints->line, start, complaints->used);
}

/* Until there is nothing: 0 at the end, else -EAGAIN or what went wrong. */
static int read_all(struct complaints *complaints)
{
    for (;;) {
        ssize_t length = read(complaints->fd, complaints->line + complaints->used,
                              sizeof(complaints->line) - complaints->used);
        if (length == 0)
            return 0;
        if (length < 0 && errno != EINTR)
            return -errno;
        if (length > 0) {
            complaints->used += (size_t)length;
            log_whole_lines(complaints);
        }
    }
}

static void on_complaint(struct evix_io *io, unsigned events)
{
    struct complaints *complaints = EVIX_CONTAINER_OF(io, struct complaints, io);
    (void)events;
    if (read_all(complaints) != -EAGAIN)
        complaints_close(complaints);
}

int complaints_open(struct complaints *complaints, struct evix_loop *loop, int *out)
{
    int pair[2];
    complaints_init(complaints);
    if (pipe2(pair, O_CLOEXEC) != 0)
        return -errno;
    int error = fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
    evix_io_init(&complaints->io, loop, pair[0], on_complaint);
    if (error == 0)
        error = evix_io_start(&complaints->io, EVIX_READ);
    if (error < 0) {
        close(pair[0]);
        close(pair[1]);
        return error;
    }
    complaints->fd = pair[0];
    *out = pair[1];
    return 0;
}

void complaints_close(struct complaints *complaints)
{
    if (complaints->fd < 0)
        return;
    (void)read_all(complaints);
    log_line(complaints->line, complaints->used);
    evix_io_stop(&complaints->io);
    close(complaints->fd);
    complaints_init(complaints);
}
