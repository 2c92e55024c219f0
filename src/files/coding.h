/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_CODING_H
#define EVIXD_FILES_CODING_H

/*
 * Precompressed siblings: "page.html.br" beside "page.html" is the same page, packed. What they are
 * called, and which files never have any. Pure functions.
 */

#include <stdbool.h>
#include <stddef.h>

/* In the order of preference among equals. */
enum coding {
    CODING_NONE, /* the file itself */
    CODING_BR,
    CODING_ZSTD,
    CODING_GZIP,
    CODING_COUNT
};

#define CODING_BIT(coding) (1u << (coding))

/* No suffix is longer. */
#define CODING_SUFFIX_BYTES 4

/* "gzip", as Content-Encoding names it; "" for CODING_NONE. */
const char *coding_name(enum coding coding);

/* ".gz"; "" for CODING_NONE. */
const char *coding_suffix(enum coding coding);

/* The length of a name without the suffix that makes a sibling of it, or 0: it is none. */
size_t coding_base(const char *name, size_t length);

/* False for types whose files are packed already: nobody lays siblings beside them. */
bool coding_is_possible(const char *media_type);

#endif
