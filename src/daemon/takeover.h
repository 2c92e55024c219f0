/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_TAKEOVER_H
#define EVIXD_DAEMON_TAKEOVER_H

/*
 * One table of sockets follows another: of the next configuration, or of the next program. What
 * both have goes on without a gap. What only the former has (an address that is gone, or workers
 * that are) gets no new connections from now on, and its workers serve what has come to it before
 * they close it.
 */

#include "daemon/sockets.h"

/*
 * `sockets` was opened with `former` and its workers serve: from here on it is the owner. Notes
 * in `former` what passed on, and releases its descriptors.
 */
void takeover_commit(struct sockets *sockets, struct sockets *former);

/* Whether what a worker of the former table accepts from goes, rather than passes on. */
bool takeover_leaves(const struct sockets *former, unsigned worker, size_t listener);

/* The same as numbers, for another process: how many of a listener's sockets pass on. */
void takeover_note_kept(struct sockets *former, size_t listener, unsigned count);

#endif
