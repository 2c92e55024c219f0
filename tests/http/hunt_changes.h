/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HTTP_HUNT_CHANGES_H
#define TESTS_HTTP_HUNT_CHANGES_H

/*
 * What hunt_staleness does to the daemon's root between two requests: one change at a time, at
 * random but repeatable. The working directory holds the root, `current`, a symbolic link.
 */

#define CHANGE_PATHS 30

/* Makes the folders. */
void changes_begin(unsigned seed);
/* Prints how many of each were seen. */
void changes_end(void);

/* Makes a change, finished when it returns; which path it may be seen by. */
unsigned change_make(void);

/* Mends some of what changes have broken: a world of absences has nothing to be stale. */
void changes_heal(void);

/* The last change made the next answer another one than before. */
void change_was_seen(void);

/* The name of the last change. */
const char *change_last(void);

/* The paths that may be asked for, 0 to CHANGE_PATHS - 1. */
const char *change_path(unsigned which);

/* A random number below `below`. */
unsigned change_pick(unsigned below);

#endif
