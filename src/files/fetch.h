/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_FETCH_H
#define EVIXD_FILES_FETCH_H

/* A fill at work: its state, which fill.c and fetch.c share, and how they call each other. */

#include "files/fill.h"

enum fill_step { FILL_OPEN, FILL_MEASURE, FILL_READ, FILL_SAMPLE, FILL_CHECK };

struct fill {
    struct store *store;
    struct root_view *view;
    struct entry *entry;      /* owned until it is settled */
    struct lookup_link early; /* whose requests came before anything was opened */
    struct lookup_link late;  /* who joined later: the answer may be older than they are */
    enum fill_step step;
    bool starting;   /* still inside fill_start() */
    bool delivering; /* no operation is pending any more */
    bool abandoned;
    bool watched;   /* since before anything was opened */
    bool follow;    /* through symbolic links */
    bool directory; /* no index file was there: open the directory itself */
    unsigned generation;
    unsigned races, descriptor_tries, reads;
    int fd;
    struct representation *file; /* while its content is read */
    uint64_t filled;
    char *chunk; /* while a large file is sampled (sample.c) */
    unsigned piece;
    size_t sampled;
    uint64_t sample;
    struct evix_time began; /* before it was measured */
    struct evix_stat check; /* what it is after reading */
    enum coding sibling;    /* that is being looked for (sibling.c) */
    bool sibling_follow;
    int sibling_fd;
    struct evix_stat sibling_stat;
    unsigned siblings; /* CODING_BIT()s of those that were found */
    struct evix_op op;
    struct evix_file_request request;
    struct evix_open_how how;
    size_t path_length; /* of the file's own, while siblings are looked for */
    char path[];        /* relative to the view: of the file, or the index file */
};

/* Starts the steps. It may end, and free the fill, before it returns. */
void fetch_start(struct fill *fill);

/*
 * Opens fill->path as fill->how says, on the spot, if the kernel has all names of it in memory.
 * -EAGAIN: not this way.
 */
int fetch_open_inline(const struct fill *fill);

/* Whether reading or closing fill->fd may have to wait for somebody else than a disk. */
bool fetch_is_slow(const struct fill *fill);

/* Whether it is worth trying again: descriptors were given back; directories were renamed. */
bool fetch_frees_descriptors(struct fill *fill);
bool fetch_races_on(struct fill *fill);

/* A large file was sampled: measures it again. */
void fetch_sampled(struct fill *fill);

/* The siblings of fill->file are known: makes the answer, and ends the fill. */
void fetch_describe(struct fill *fill);

/* Ends the fill with an answer, whose reference it takes over; NULL: there was no memory for one.
 */
void fill_conclude(struct fill *fill, struct representation *answer);

/* Frees one that was abandoned, when its last operation has ended. */
void fill_free(struct fill *fill);

#endif
