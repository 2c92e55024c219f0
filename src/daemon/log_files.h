/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_LOG_FILES_H
#define EVIXD_DAEMON_LOG_FILES_H

#include "daemon/privileges.h"

/*
 * Sees to it that the log files of the configuration can be written. Those that do not exist are
 * created, and given to the user that workers run as, who could not make them in a folder of
 * root's; those that exist are left as they are, whoever has put them there. Done before workers
 * open them: at start and after each rotation. 0, or a negative errno, logged.
 */
CONFIG_MUST_CHECK int log_files_create(const struct config *config,
                                       const struct privileges *privileges);

/* Compiles the format of each access log to see whether it can be. 0, or -EINVAL, logged. */
CONFIG_MUST_CHECK int log_files_check_formats(const struct config *config);

#endif
