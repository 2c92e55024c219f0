/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_REPRESENTATION_H
#define EVIXD_FILES_REPRESENTATION_H

/*
 * What a target names, as of one moment: a file with its metadata and, if small, its bytes; a
 * directory; or the fact that there is nothing to be had. Counted and immutable: it may go on being
 * sent after the file was replaced.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "files/coding.h"
#include "files/residency.h"

enum representation_kind {
    REPRESENTATION_FILE,
    REPRESENTATION_DIRECTORY, /* a directory without an index file */
    REPRESENTATION_REDIRECT,  /* a directory that was named without its closing slash */
    REPRESENTATION_ABSENT,    /* `status` and `reason` say why */
};

struct evix_loop;

struct representation {
    /* What each answer reads comes first: one line of the processor's cache, or two. */
    unsigned references; /* private: the worker's thread alone counts */
    enum representation_kind kind;
    enum coding coding; /* FILE: it is a sibling, packed so: media_type is that of the file it
                           stands for */
    unsigned siblings;  /* FILE: CODING_BIT()s of those that may be sent instead */
    const char *fields; /* FILE: the prebuilt fields of a 200, each with its CRLF: Content-Type,
                           Content-Length, Content-Encoding, Last-Modified, ETag, Accept-Ranges */
    size_t fields_length;
    const char *bytes;  /* FILE: all of the content, if small enough; else NULL */
    uint64_t size;      /* FILE */
    bool is_negotiated; /* FILE: Accept-Encoding has a say, even if there are no siblings now */
    int fd;             /* FILE, DIRECTORY: open for reading; -1 for small files that keep none */

    int64_t modified;       /* seconds since the epoch, for Last-Modified; -1: leave it out */
    const char *etag;       /* FILE: with its quotes; NULL: none */
    const char *media_type; /* FILE: the value of Content-Type */
    size_t etag_length, media_type_length;
    const char *path; /* FILE, if it has siblings: its own path beneath the root, with a slash */
    size_t path_length;
    int status;         /* ABSENT: 403, 404, 500 or 503 */
    int error;          /* ABSENT: the negative errno behind it, or 0 */
    const char *reason; /* ABSENT: constant text for the log: the rule that led to it */

    size_t memory;                   /* private, as all below: bytes that it takes */
    struct root_view *view;          /* DIRECTORY: the root it was found beneath */
    struct evix_loop *closer;        /* FILE: whose work pool closes `fd`; NULL: at once */
    struct residency_file residency; /* FILE: for residency.h */
};

struct representation *representation_ref(struct representation *representation);

/* Drops a reference and clears the pointer; the last one closes the descriptor. NULL is fine. */
void representation_unref(struct representation **representation);

#endif
