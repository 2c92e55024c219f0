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
    bool is_owned;     /* ours to close */
    bool is_end_known; /* of a file: it ends in a newline, as far as we know */
    const char *path;  /* of a file; NULL: not known */
    int64_t torn_at;   /* where our last write ended in the middle of a line */
};

/*
 * Opens CONFIG_TARGET_FILE (appending, made with mode 0640), or takes STDOUT or STDERR as it is.
 * The path must outlive the output. 0 or a negative errno.
 */
CONFIG_MUST_CHECK int log_output_open(struct log_output *output, enum config_target target,
                                      const char *path);

/* The longest line, with its newline, that other writers to the same place cannot tear. */
size_t log_output_line_bytes(const struct log_output *output);

/*
 * Writes lines. Returns how many bytes were taken, which may be fewer than `length`, or a negative
 * errno if none was: -EAGAIN where one would have to wait. If a file ends in the middle of a line
 * (a full disk, a worker that was killed), a newline goes first.
 */
CONFIG_MUST_CHECK ssize_t log_output_write(struct log_output *output, const char *lines,
                                           size_t length);

/*
 * After a write that ended in the middle of a line: whether the rest of the line can follow. False
 * if the file has changed since: then the line has to be written again from its beginning.
 */
bool log_output_resume(struct log_output *output);

/* Whether both write to the same file, pipe, socket or device. */
bool log_output_is_same(const struct log_output *a, const struct log_output *b);

void log_output_close(struct log_output *output);

#endif
