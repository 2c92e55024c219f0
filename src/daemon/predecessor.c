/* SPDX-License-Identifier: MIT */
/*
 * Listens to the program in whose place we serve.
 * What it has left us is taken elsewhere (inherit.c).
 * succession.c starts it, master.c asks.
 */

#include "daemon/predecessor.h"

#include "daemon/inherit.h"
#include "log/log.h"

#include <evix/loop.h>

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool predecessor_is_there(const struct predecessor *predecessor)
{
    return predecessor->events != NULL;
}

bool predecessor_is_awaited(const struct predecessor *predecessor)
{
    return predecessor_is_there(predecessor) && predecessor->is_awaited;
}

void predecessor_forget(struct predecessor *predecessor)
{
    if (!predecessor_is_there(predecessor))
        return;
    evix_io_stop(&predecessor->io);
    close(predecessor->stream_fd);
    predecessor->events = NULL;
}

static void note_introduction(struct predecessor *predecessor)
{
    bool was_awaited = predecessor->is_awaited;
    predecessor->is_awaited = false;
    if (was_awaited)
        predecessor->events->introduced(predecessor->data);
}

/* Who ends without that word has named nobody: the service manager has seen its service end. */
static void note_end(struct predecessor *predecessor)
{
    const struct predecessor_events *events = predecessor->events;
    predecessor->is_awaited = false;
    predecessor_forget(predecessor);
    events->gone(predecessor->data);
}

static void on_word(struct evix_io *io, unsigned ready)
{
    struct predecessor *predecessor = EVIX_CONTAINER_OF(io, struct predecessor, io);
    char word;
    (void)ready;
    ssize_t length = recv(predecessor->stream_fd, &word, sizeof(word), MSG_DONTWAIT);
    if (length > 0 && word == INHERIT_INTRODUCED)
        note_introduction(predecessor);
    else if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR))
        note_end(predecessor);
}

void predecessor_watch(struct predecessor *predecessor, struct evix_loop *loop, int stream_fd,
                       const struct predecessor_events *events, void *data)
{
    *predecessor = (struct predecessor){
        .events = events, .data = data, .stream_fd = stream_fd, .is_awaited = true};
    evix_io_init(&predecessor->io, loop, stream_fd, on_word);
    int error = evix_io_start(&predecessor->io, EVIX_READ);
    if (error == 0)
        return;
    log_event(LOG_LEVEL_WARNING, "cannot watch the former program: %s", evix_strerror(error));
    note_introduction(predecessor);
    note_end(predecessor);
}
