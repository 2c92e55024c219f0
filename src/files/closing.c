/* SPDX-License-Identifier: MIT */
/*
 * Closes what may take its time off the loop. It decides not which that is.
 * Called where the last reference to an open file is dropped.
 */

#include "files/closing.h"

#include <evix/evix.h>
#include <stdlib.h>
#include <unistd.h>

/* A file system that does not answer must not hold up the close of all others' files at once. */
static const struct evix_work_class closings = {.threads = 2};

struct closing {
    struct evix_work work;
    int fd;
};

static void run(struct evix_work *work)
{
    close(EVIX_CONTAINER_OF(work, struct closing, work)->fd);
}

static void on_closed(struct evix_work *work, int error)
{
    struct closing *closing = EVIX_CONTAINER_OF(work, struct closing, work);

    if (error < 0) /* given up before it ran */
        close(closing->fd);
    free(closing);
}

void closing_start(struct evix_loop *loop, int fd)
{
    struct closing *closing = malloc(sizeof(*closing));

    if (closing == NULL) {
        close(fd);
        return;
    }
    closing->fd = fd;
    if (evix_work_start_in(&closing->work, loop, &closings, run, on_closed) == 0)
        return;
    close(fd);
    free(closing);
}
