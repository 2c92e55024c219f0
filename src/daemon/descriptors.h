/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_DESCRIPTORS_H
#define EVIXD_DAEMON_DESCRIPTORS_H

/* The process's descriptor table as a whole: what is in it, and how large it may grow. */

#include <stddef.h>
#include <stdint.h>

/*
 * Opens /dev/null where standard input, output or error are closed, so that no socket takes their
 * numbers and gets what is printed. Where all are open it is not needed. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int descriptors_fill_standard(void);

/*
 * Raises the soft limit for a worker with this many connections, and the hard one where we may:
 * each may hold a file beside its socket. Warns if the hard limit does not even allow for the
 * sockets.
 */
void descriptors_raise_limit(uint64_t connections, size_t listeners);

/*
 * The same for locked memory, of which each ring of a worker takes some; root has no limit, but its
 * workers have, for all of a user's processes together. What cannot be raised stays.
 */
void descriptors_raise_locked_memory(void);

/* Closes everything but the standard three and these; sorts `keep`, where -1 stands for none. */
void descriptors_close_others(int *keep, size_t count);

#endif
