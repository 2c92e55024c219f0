/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_INHERIT_H
#define EVIXD_DAEMON_INHERIT_H

/*
 * How one program leaves its listening sockets to the next: as open descriptors, and a text that
 * says which is which, in memory that has a descriptor, too. An environment variable names the
 * heir, that text, the stream to the former program, the former program's process, and its standard
 * error if the heir was given another, which it takes until it takes the sockets.
 *
 * The text begins with a version. A program that does not know it does not start, and the former
 * one goes on.
 */

#include "daemon/sockets.h"

/* Once the heir has reported, by the former program: whoever listened to it listens to the heir. */
#define INHERIT_INTRODUCED 'i'

struct inheritance {
    struct sockets sockets; /* as the former program left them; empty: there was none */
    int stream_fd;          /* to the former program; -1: there is none */
    pid_t from;
};

/*
 * The former program, in the child that is about to execute the next: makes the text, sets the
 * variable, and lets descriptors be inherited. 0, or a negative errno.
 */
CONFIG_MUST_CHECK int inherit_prepare(const struct sockets *sockets, int stream_fd, pid_t from,
                                      int stderr_fd);

/*
 * The next program: takes what it was left, if anything. 0, or a negative errno, logged. The
 * variable is gone then in any case.
 */
CONFIG_MUST_CHECK int inherit_take(struct inheritance *inheritance);

/*
 * The next program serves, and takeover_commit() was told: tells the former one how many sockets
 * of each listener were kept. That is a number (uint32_t) a listener, and nothing else.
 */
void inherit_report(struct inheritance *inheritance);

/* Closes what is left, the stream if it was not taken out. Twice is fine. */
void inherit_close(struct inheritance *inheritance);

#endif
