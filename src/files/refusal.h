/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_REFUSAL_H
#define EVIXD_FILES_REFUSAL_H

/*
 * Why a path is not answered with a file. The one table from errors of the system to statuses: 404
 * where nothing can be there, 403 where it may not be read, 503 where trying again may help, 500
 * for a disk or a network that fails. What fails must not look like what is not there, since a 404
 * is believed by caches and search engines.
 */

#include <stdbool.h>

struct refusal {
    int status;
    int error; /* a negative errno, or 0: a rule of ours */
    const char *reason;
    bool is_unwatched; /* no watch tells when it has become otherwise */
};

/* For a negative errno of what lies beneath a root. */
struct refusal refusal_of(int error);

/* For one of the root itself: 404 only if nothing has its name. */
struct refusal refusal_of_root(int error);

#endif
