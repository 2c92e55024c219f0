/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_COMPLAINTS_H
#define EVIXD_DAEMON_COMPLAINTS_H

/*
 * What another program says on its standard error, as lines of our own log: whoever sends a signal
 * looks there, and not where the first of all programs was once started.
 */

#include "config/config.h"
#include "log/log.h"

#include <evix/io.h>

struct complaints {
    struct evix_io io;
    int fd; /* -1: closed */
    size_t used;
    char line[LOG_LINE_BYTES / 2]; /* so much of one that has not come to its end */
};

void complaints_init(struct complaints *complaints);

/* Sets *out to where they are to be written to, which is the caller's to close. */
CONFIG_MUST_CHECK int complaints_open(struct complaints *complaints, struct evix_loop *loop,
                                      int *out);

/* Logs what is still to be read, and closes. Twice is fine. */
void complaints_close(struct complaints *complaints);

#endif
