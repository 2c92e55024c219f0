/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_ERROR_LOG_H
#define EVIXD_DAEMON_ERROR_LOG_H

/*
 * The sink of src/log: one line an event, with time, level and process id, to standard error, a
 * file or syslog. Standard error that is the journal's gets level prefixes instead, since the
 * journal knows the rest. It never waits: what cannot be written is lost, counted, and said later.
 *
 * Workers inherit it by fork. All processes open the file anew when the master says so, each
 * before its next line, and needs no signal for it. While the program starts, what goes wrong is
 * also said on standard error, wherever the log goes: somebody may be sitting there.
 *
 * One thread a process may log.
 */

#include "config/config.h"
#include "server/log_output.h"

struct error_log_shared;

struct error_log {
    const struct config_error_log *config; /* private, as all here */
    struct log_output output;
    struct error_log_shared *shared; /* between master and workers */
    unsigned generation;             /* of the file that `output` is */
    uint64_t lost;                   /* lines since the last that was written */
    bool is_journal;
};

/*
 * Opens the log. `config` outlives it; the log must stay where it is. 0, or a negative errno,
 * logged to the sink that is in use.
 */
CONFIG_MUST_CHECK int error_log_open(struct error_log *log, const struct config_error_log *config);

/* Makes it the sink of this process, with its level. */
void error_log_use(struct error_log *log);

/* Start-up is over, in this process and those that it forked. */
void error_log_set_started(struct error_log *log);

/* In the master: opens the file anew, and has all others do so. An error is logged. */
void error_log_reopen(struct error_log *log);

/* The descriptor that a new worker has to keep, or -1. */
int error_log_descriptor(const struct error_log *log);

/* If it is in use, the default sink takes over again. Closing one that was not opened (all zero) is
 * fine. */
void error_log_close(struct error_log *log);

#endif
