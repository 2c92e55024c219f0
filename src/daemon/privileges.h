/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_PRIVILEGES_H
#define EVIXD_DAEMON_PRIVILEGES_H

/* Who the workers are. The master looks it up once; each worker becomes it after its fork. */

#include "config/config.h"

struct privileges {
    bool is_dropped; /* false: the workers stay who the master is, and the rest is not set */
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* supplementary */
    int group_count;
};

/*
 * Looks up `user` and `group` of the configuration. Started by another user than root, there is
 * nothing to give up, and `user` is only checked to exist. 0, or a negative errno, logged.
 */
CONFIG_MUST_CHECK int privileges_init(struct privileges *privileges, const struct config *config);
void privileges_fini(struct privileges *privileges);

/* Where nobody said who the workers are to be, and that is root. */
void privileges_warn_of_root(const struct privileges *privileges);

/*
 * Becomes that user for good, gives up all capabilities (but see capabilities.h for a root that
 * stays root), and forbids ever gaining anything by execve(2). 0, or logged.
 */
CONFIG_MUST_CHECK int privileges_drop(const struct privileges *privileges);

#endif
