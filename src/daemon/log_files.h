/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_LOG_FILES_H
#define EVIXD_DAEMON_LOG_FILES_H

#include "daemon/privileges.h"

/*
 * Creates the log files of the configuration that do not exist, and gives them to the user that
 * workers run as, who could not make them in a folder of root's. Done before workers open them: at
 * start and after each rotation. Files that exist are left alone, whoever has put them there. An
 * error is a warning: the worker that cannot open its log says the rest.
 */
void log_files_create(const struct config *config, const struct privileges *privileges);

/* Compiles the format of each access log to see whether it can be. 0, or -EINVAL, logged. */
CONFIG_MUST_CHECK int log_files_check_formats(const struct config *config);

#endif
