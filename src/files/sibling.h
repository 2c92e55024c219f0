/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_SIBLING_H
#define EVIXD_FILES_SIBLING_H

/* Looking for the precompressed siblings of a file: the last step of a fill. */

#include <evix/file.h>

#include "files/watch.h"

struct entry;
struct fill;

/* What was found of one, to be watched and to compare with. */
struct sibling {
    struct watch_user user;
    struct entry *entry;
    int error; /* 0, or a negative errno; -ENOENT: there is none */
    struct evix_stat stat;
};

/*
 * Finds out which of them are there and not older than the file that fill->check describes, and
 * sets fill->siblings. Goes on with fetch_describe(), at once or later.
 */
void sibling_seek(struct fill *fill);

#endif
