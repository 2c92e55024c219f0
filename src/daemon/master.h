/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_MASTER_H
#define EVIXD_DAEMON_MASTER_H

#include "config/config.h"

/*
 * The first process: it opens the sockets, runs a worker on each core, and answers signals. It
 * does no I/O for clients.
 *
 * TERM and QUIT stop gracefully, for at most timeouts.shutdown, and a second one at once, as INT
 * does. USR1 opens the logs anew. HUP and USR2 are answered by a line in the log.
 */

/* What can be found wrong without starting anything. 0, or a negative errno, logged. */
CONFIG_MUST_CHECK int master_check(const struct config *config);

/*
 * Serves until it is told to stop. `directory` is what `evixd DIRECTORY` was given, and makes the
 * addresses known on standard output once every worker serves; NULL makes them known in the log.
 * Returns the exit code of the process, as in exit_code.h.
 */
CONFIG_MUST_CHECK int master_run(const struct config *config, const char *directory);

#endif
