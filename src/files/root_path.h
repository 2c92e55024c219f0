/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_ROOT_PATH_H
#define EVIXD_FILES_ROOT_PATH_H

/* Watching the way to a root: each directory on it, for the one name that the way goes on by. */

#include "files/root.h"

struct devices;

/*
 * Starts them, through symbolic links as open(2) would go, as far as the path leads. 0 if every
 * step is watched, else a negative errno: then the path has to be looked at by stat.
 */
int root_path_watch(struct root *root, struct watches *watches, struct devices *devices);
void root_path_release(struct root *root, struct watches *watches);

#endif
