/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_MASTER_H
#define EVIXD_DAEMON_MASTER_H

#include "daemon/command_line.h"

/*
 * The first process: it opens the sockets, runs a worker on each core, and answers signals. It
 * does no I/O for clients.
 *
 * TERM and QUIT stop gracefully, for at most timeouts.shutdown, and a second one at once, as INT
 * does. HUP puts the configuration in force that is found now, USR2 has the program that is found
 * now take over. USR1 opens the logs anew.
 */

/* What can be found wrong without starting anything. 0, or a negative errno, logged. */
CONFIG_MUST_CHECK int master_check(const struct config *config);

/*
 * Serves until it is told to stop. `config`, which it takes over, is what the command asks for, and
 * the command (which outlives the call) is asked again at each reload. `evixd DIRECTORY` makes its
 * addresses known on standard output once every worker serves, else they are in the log.
 * Returns the exit code of the process, as in exit_code.h.
 */
CONFIG_MUST_CHECK int master_run(const struct command *command, struct config *config);

#endif
