/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_DIRECTORY_H
#define EVIXD_FILES_DIRECTORY_H

/* The content of a directory, as much of it as would be served. Blocking: for the work pool. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/listing.h"
#include "files/memory_budget.h"

/* More names than this are cut off: a listing's memory has to end somewhere. */
#define DIRECTORY_NAMES_MAX 250000

struct directory_row {
    const char *name;
    uint64_t size;
    int64_t modified;
    uint16_t length; /* of the name */
    bool is_directory;
};

struct directory_rows {
    struct directory_row *rows;
    size_t count;
    bool cut;      /* there were more */
    uint64_t hash; /* tells rows in their order apart, the same on every machine */
    char *names;
    size_t used; /* of names */
    size_t room, names_room;
    struct memory_budget *budget;
    size_t taken; /* from the budget */
};

struct directory_source {
    int fd;           /* of the directory; used to open it anew */
    int root;         /* of the root's view, to see where symbolic links lead */
    uint64_t resolve; /* how they are resolved */
    bool dotfiles;
    enum listing_key key;
    bool descending;
    const char *path;        /* of the directory beneath the root, without slash at the start */
    const atomic_bool *stop; /* set from another thread: nobody wants it any more */
    struct memory_budget *budget; /* of all that are read and kept; outlives the rows */
};

/*
 * Reads and sorts: directories first, then by the key, then by name. Its memory is taken from the
 * budget as it grows; a directory that is too large for the budget by itself is cut. 0; -EBUSY: the
 * others have left too little of the budget; -ECANCELED or another negative errno. Then there is
 * nothing to be freed.
 */
int directory_read(struct directory_rows *rows, const struct directory_source *source);
void directory_rows_fini(struct directory_rows *rows);

#endif
