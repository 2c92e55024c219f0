/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_UPGRADE_H
#define EVIXD_DAEMON_UPGRADE_H

/*
 * Starts the program that is installed now, in a process of its own, and leaves it the sockets.
 * It reads its configuration and starts its workers as always; when they serve it reports, and this
 * one makes way. If it does not come to that, this one goes on.
 */

#include "daemon/attendant.h"
#include "daemon/complaints.h"
#include "daemon/sockets.h"

#include <evix/io.h>
#include <evix/timer.h>

#include <limits.h>

struct upgrade_events {
    void (*done)(void *data);   /* the sockets' kept_count is set; it is nobody's child of ours */
    void (*failed)(void *data); /* logged; nothing is left of it */
    void *data;
};

struct upgrade {
    bool is_under_way;
    struct attendant attendant; /* its `program` is the new one */
    pid_t killed;               /* the new one, because we stop; 0: none was */
    struct evix_loop *loop;     /* private, as all from here on */
    struct upgrade_events events;
    struct sockets *sockets;
    int stream_fd; /* to the new one, as long as both live; -1: closed */
    struct evix_io io;
    struct evix_timer deadline;
    struct complaints complaints;
    uint32_t *report; /* a number a listener: inherit.h */
    size_t reported;  /* bytes that have come */
    bool is_reported; /* all: it serves */
};

/*
 * Where the program is: its name with a slash is taken as it is (from the folder that we are in),
 * so that a link that leads to another version is followed again; else it is what the kernel says.
 * 0, or a negative errno; `out`, which was empty, is so then.
 */
CONFIG_MUST_CHECK int upgrade_find_program(const char *name, char out[PATH_MAX]);

void upgrade_init(struct upgrade *upgrade, struct evix_loop *loop,
                  const struct upgrade_events *events);

/*
 * 0, or a negative errno, logged; nothing follows then. The sockets are read until the end. What
 * the new one says before it takes them is logged, unless the log is standard error as well.
 */
CONFIG_MUST_CHECK int upgrade_start(struct upgrade *upgrade, const char *program, char **arguments,
                                    struct sockets *sockets, bool is_log_stderr);

/* Takes note of the end of a process; false if it has nothing to do with this. */
bool upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status);

/* After `done`: tells the new one that whoever listens to us knows of it now. */
void upgrade_introduce(const struct upgrade *upgrade);

/*
 * Passes an order on, to the program that starts or to the one that serves in our place. It takes
 * it as soon as it can: signals wait until it is ready for them. False if there is no such program.
 */
bool upgrade_pass_on(const struct upgrade *upgrade, int signal_number);

/*
 * We stop: so does the other. As long as it has not reported it is killed, since it may never be
 * ready for a signal that waits, and would hold the listening sockets for good.
 */
void upgrade_cancel(struct upgrade *upgrade);

/* The new one learns by this that we are gone. */
void upgrade_fini(struct upgrade *upgrade);

#endif
