/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_SERVER_LOG_OUTPUT_H
#define EVIXD_SERVER_LOG_OUTPUT_H

/*
 * Where the lines of a log go: a file, standard output or error, whatever that is (a file, a pipe,
 * a terminal, a socket). Writing never waits, and leaves the descriptor's flags as they are: the
 * open file may be shared with the shell that started us.
 */

#include "config/config.h"

enum log_output_kind {
    LOG_OUTPUT_FILE,   /* takes any length, appended in one piece */
    LOG_OUTPUT_SOCKET, /* can be asked not to wait */
    LOG_OUTPUT_STREAM, /* a pipe or a device: has to be asked for room first */
};

struct log_output {
    int fd; /* -1: closed */
    enum log_output_kind kind;
    bool is_owned; /* ours to close */
};

/*
 * Opens CONFIG_TARGET_FILE (appending, made with mode 0640), or takes STDOUT or STDERR as it is.
 * 0 or a negative errno.
 */
CONFIG_MUST_CHECK int log_output_open(struct log_output *output, enum config_target target,
                                      const char *path);

/*
 * Writes lines. Returns how many bytes were taken, which may be fewer than `length`, or a negative
 * errno if none was: -EAGAIN where one would have to wait. Lines are not torn by others that write
 * to the same place, but for lines over PIPE_BUF bytes on a pipe.
 */
CONFIG_MUST_CHECK ssize_t log_output_write(const struct log_output *output, const char *lines,
                                           size_t length);

void log_output_close(struct log_output *output);

#endif
