/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_CAPABILITIES_H
#define EVIXD_DAEMON_CAPABILITIES_H

/* The parts that root's power is cut into; see capabilities(7). */

#include <stdbool.h>

/*
 * Forbids this process and its descendants to gain a capability by execve(2) ever again. Needs
 * CAP_SETPCAP; without it nothing happens, since there is hardly anything to forbid. 0 or errno.
 */
__attribute__((warn_unused_result)) int capabilities_bound(void);

/*
 * Empties all other sets, for good. A worker that stays root keeps what lets it read and log where
 * files are not its own. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int capabilities_drop(bool is_root);

#endif
