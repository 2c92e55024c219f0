/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_SERVER_ACCESS_LOG_H
#define EVIXD_SERVER_ACCESS_LOG_H

/*
 * One access log of one worker: lines are gathered in a buffer and leave in one write(2), at the
 * latest after a second (at once on a terminal). It never waits. What cannot be written stays in
 * the buffer and is tried again; lines that find the buffer full are dropped and counted, which is
 * said once, and again when writing works. A line that is too long for where it goes has its values
 * cut: nothing that a client sends keeps its line, or those of others, out of the log.
 */

#include "server/log_format.h"
#include "server/log_output.h"

#include <evix/timer.h>

#define ACCESS_LOG_BUFFER_BYTES 65536 /* also the longest line in a file */

struct counters_slot;

struct access_log {
    struct log_format format; /* private, as all here */
    struct log_output output;
    struct log_clock clock;
    struct evix_timer flush_timer; /* running while something is buffered */
    const struct config_access_log *config;
    struct counters_slot *slot; /* NULL: not counted for the status */
    char *buffer;               /* NULL: the log is off; whole lines */
    size_t used;
    size_t begun;      /* bytes of the first line that were written already */
    uint64_t lost;     /* lines dropped since writing failed */
    uint32_t delay_ms; /* until buffered lines are written */
    bool is_failing;   /* only the timer tries */
    bool is_told;      /* that it is; not yet that it is not any more */
    uint64_t told_ms;  /* when that was said last */
};

/*
 * Opens the log that the configuration (which outlives the log) describes; CONFIG_TARGET_OFF is
 * fine, and every call below then does nothing. 0 or a negative errno, logged.
 */
CONFIG_MUST_CHECK int access_log_open(struct access_log *log, struct evix_loop *loop,
                                      const struct config_access_log *config);

/* The same, but a file that cannot be opened is no error: it is tried again with each writing, and
 * lines are kept while there is room. */
CONFIG_MUST_CHECK int access_log_open_patiently(struct access_log *log, struct evix_loop *loop,
                                                const struct config_access_log *config);

/* Lines that are lost or cut are counted there from now on. It must outlive the log. */
void access_log_count_in(struct access_log *log, struct counters_slot *slot);

/* Whether records are wanted, so that filling one in can be spared. */
static inline bool access_log_is_on(const struct access_log *log)
{
    return log->buffer != NULL;
}

/* Whether the format asks for fields of responses. */
bool access_log_wants_response(const struct access_log *log);

/* Adds one line. Nothing in the record needs to stay. */
void access_log_write(struct access_log *log, const struct access_record *record);

/* Writes what is buffered, as far as it can be written without waiting. */
void access_log_flush(struct access_log *log);

/*
 * Writes what is buffered, then opens the path anew: after a rotation, lines go to the new file. If
 * that cannot be opened, the old one stays in use, and a negative errno is returned and logged.
 */
int access_log_reopen(struct access_log *log);

/* Writes what is buffered, for at most a moment, and frees everything. Calling it twice is fine. */
void access_log_close(struct access_log *log);

#endif
