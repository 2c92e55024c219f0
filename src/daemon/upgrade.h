/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_UPGRADE_H
#define EVIXD_DAEMON_UPGRADE_H

/*
 * Starts the program that is installed now, in a process of its own, and leaves it the sockets.
 * It reads its configuration and starts its workers as always; when they serve it reports, and this
 * one makes way. If it does not come to that, this one goes on.
 */

#include "daemon/sockets.h"

#include <evix/io.h>
#include <evix/timer.h>

#include <limits.h>

struct upgrade_events {
    void (*done)(void *data);   /* the sockets' kept_count is set; the process is its own now */
    void (*failed)(void *data); /* logged; nothing is left of it */
    void *data;
};

struct upgrade {
    struct evix_loop *loop; /* private, as all here but the pid */
    struct upgrade_events events;
    struct sockets *sockets;
    pid_t pid;     /* 0: none is under way */
    int stream_fd; /* -1: closed */
    struct evix_io io;
    struct evix_timer deadline;
    unsigned char *report; /* as much as has come */
    size_t reported;
};

/*
 * Where the program is: its name with a slash is taken as it is (from the folder that we are in),
 * so that a link that leads to another version is followed again; else it is what the kernel says.
 * 0, or a negative errno.
 */
CONFIG_MUST_CHECK int upgrade_find_program(const char *name, char out[PATH_MAX]);

void upgrade_init(struct upgrade *upgrade, struct evix_loop *loop,
                  const struct upgrade_events *events);

/* 0, or a negative errno, logged; nothing follows then. The sockets are read until the end. */
CONFIG_MUST_CHECK int upgrade_start(struct upgrade *upgrade, const char *program, char **arguments,
                                    struct sockets *sockets);

/* Takes note of the end of a process; false if it is not this one. */
bool upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status);

/* We stop: so does the other. */
void upgrade_cancel(struct upgrade *upgrade);

#endif
