/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_FILL_H
#define EVIXD_FILES_FILL_H

/*
 * Finding an answer on the disk: open, measure, read, check, in asynchronous steps. All who ask
 * for the same thing meanwhile wait for the same fill.
 */

#include "files/cache.h"
#include "files/interior.h"

/*
 * Starts to fill an answer for `lookup`. True: it was found at once, lookup->result is set. False:
 * the lookup's callback will be called.
 */
bool fill_start(struct store *store, const struct cache_key *key, struct lookup *lookup);

/*
 * A lookup's answer is there: goes on to a sibling if one is wanted. True: lookup->result is the
 * final one; false: the callback will be called.
 */
bool lookup_found(struct lookup *lookup);

/* Has the lookup wait as well. */
void fill_join(struct fill *fill, struct lookup *lookup);

/* Has it wait no more; when nobody does, the fill is given up. */
void fill_leave(struct fill *fill, struct lookup *lookup);

#endif
