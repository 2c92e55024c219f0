/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_AFFINITY_H
#define EVIXD_DAEMON_AFFINITY_H

/* Which CPU a worker runs on. */

/*
 * Binds the calling process to one of the CPUs that it may use now: the one at `index`, counted
 * round. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int affinity_bind(unsigned index);

#endif
