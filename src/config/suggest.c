/* SPDX-License-Identifier: MIT */
/*
 * Finds the nearest of the known names by edit distance.
 * Does not know what names there are, nor how a hint is worded.
 * Called by load.c and value.c when a name or word is not known.
 */
#include "config/suggest.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define NAME_BYTES 64

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment: three rows of the table are enough, since a swap looks back two. */
unsigned suggest_distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_BYTES + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    size_t a_length = strlen(a), b_length = strlen(b);

    if (a_length > NAME_BYTES || b_length > NAME_BYTES)
        return UINT_MAX;
    for (size_t j = 0; j <= b_length; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *free_row = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = above[j - 1] + !is_same(a[i - 1], b[j - 1]);
            row[j] = smaller(row[j], above[j] + 1);
            row[j] = smaller(row[j], row[j - 1] + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

/* Near enough: a third of what was written, so that a short word is not turned into any other. */
void suggest_offer(struct suggestion *suggestion, const char *known)
{
    unsigned distance = suggest_distance(suggestion->name, known);
    size_t allowed = strlen(suggestion->name) / 3;

    assert(suggestion->nearest == NULL || suggestion->distance <= strlen(suggestion->name));
    if (allowed < 1)
        allowed = 1;
    if (distance > allowed || distance >= strlen(known))
        return;
    if (suggestion->nearest == NULL || distance < suggestion->distance) {
        suggestion->nearest = known;
        suggestion->distance = distance;
    }
}
