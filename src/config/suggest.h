/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_SUGGEST_H
#define CONFIG_SUGGEST_H

/* "Did you mean": the known name that a mistyped one is nearest to. */

#include <stddef.h>

/* Changes between two names: letters put in, left out, replaced, or swapped with their neighbour.
 * Case does not count. Names above 64 bytes are as far apart as can be (UINT_MAX). */
unsigned suggest_distance(const char *a, const char *b);

/* Keeps the nearest of the names that are offered one by one; start with all zero but name. */
struct suggestion {
    const char *name;    /* what was written */
    const char *nearest; /* NULL while nothing is near enough */
    unsigned distance;
};
void suggest_offer(struct suggestion *suggestion, const char *known);

#endif
