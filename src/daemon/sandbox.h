/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SANDBOX_H
#define EVIXD_DAEMON_SANDBOX_H

/*
 * What a worker may ask of the kernel once it serves: a list of system calls. Whoever takes a
 * worker over by a fault of ours can start no program, open no connection and make no socket, map
 * no code, and trace nobody. A call that belongs to no worker fails as if the kernel did not have
 * it (ENOSYS, so that a newer C library takes its older way); one that only an intruder makes, such
 * as execve(2), ends the process.
 */

#include <stdbool.h>

struct sandbox_options {
    bool reconnects_syslog; /* the error log is syslog's, whose daemon may be started anew */
};

/* NULL if the filter can be used, else why this build has none. */
const char *sandbox_absence(void);

/*
 * Puts all threads of the process behind the filter, for good. No privilege is needed; "no new
 * privileges" is set. 0 or a negative errno: -ENOSYS where the kernel or the build has no filters.
 */
__attribute__((warn_unused_result)) int sandbox_enter(const struct sandbox_options *options);

#endif
