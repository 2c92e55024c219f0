/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_EXIT_CODE_H
#define EVIXD_DAEMON_EXIT_CODE_H

/* What the process ends with, for service managers and scripts. */
enum exit_code {
    EXIT_CODE_CLEAN = 0,
    EXIT_CODE_USAGE = 1,   /* the command line or the configuration is wrong */
    EXIT_CODE_START = 2,   /* could not start: an address in use, a permission */
    EXIT_CODE_RUNNING = 3, /* failed while running */
};

#endif
