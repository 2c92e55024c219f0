/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_STORE_H
#define EVIXD_FILES_STORE_H

/*
 * A worker's view of the file system: roots, and the cache of what was looked up in them. One
 * store a loop. Nothing here blocks: what touches the disk is an asynchronous operation.
 */

#include <evix/evix.h>

#include "files/body.h"
#include "files/representation.h"
#include "files/store_counters.h"

struct store;
struct root;

enum store_freshness {
    STORE_WATCH, /* watched directories; one stat a request where a watch can't see */
    STORE_STAT,  /* one stat a request */
    STORE_OFF,   /* every request opens the file anew */
};

enum root_symlinks {
    ROOT_SYMLINKS_BENEATH, /* followed as long as they stay beneath the root */
    ROOT_SYMLINKS_FOLLOW,
    ROOT_SYMLINKS_REFUSE,
};

/*
 * What the room above lends, so that this one need not know HTTP. A date as RFC 9110 5.6.7 wants
 * it: 29 bytes and a NUL; 0, or a negative errno for a date that can't be written so.
 */
typedef int store_date_fn(int64_t seconds, char out[30]);

/* Percent-encodes a path, slashes kept. `out` has room for 3 * length bytes; returns the length. */
typedef size_t store_encode_fn(const char *path, size_t length, char *out);

struct store_options {
    enum store_freshness freshness;
    unsigned entries;         /* cached answers at most */
    unsigned descriptors;     /* cached open descriptors at most */
    uint64_t memory;          /* bytes of cached content at most */
    uint32_t small;           /* files up to this size are kept whole in memory */
    const char *mime_types;   /* path of a mime.types file, or NULL */
    const char *default_type; /* for names that no table knows */
    store_date_fn *format_date;
    store_encode_fn *encode_path;
    struct store_counters *counters; /* where it counts; the totals go on from what they are.
                                        NULL: nowhere to be seen */
};

/* Makes a store; `options` and its strings must outlive it. 0 or a negative errno. */
int store_new(struct store **out, struct evix_loop *loop, const struct store_options *options);

/*
 * Frees it and its roots. No lookup may be pending, no body alive. File operations that were given
 * up and have not ended yet hold the memory until they do: run the loop to its end before
 * evix_loop_free().
 */
void store_free(struct store **store);

/* Copied by store_root(), strings and all. */
struct root_options {
    const char *path; /* a directory */
    enum root_symlinks symlinks;
    const char *const *index; /* names of index files, tried in order; NULL-terminated */
    bool dotfiles;            /* serve names that begin with a dot, beside /.well-known/ */
    bool precompressed;       /* look for siblings (coding.h) */
    bool may_be_absent;       /* it is looked for again when it is asked for */
};

/* Opens a root directory (blocking: at start). The store owns it. 0 or a negative errno. */
int store_root(struct store *store, const struct root_options *options, struct root **out);

/*
 * Tells the store that requests were received: changes of files that were finished before that are
 * seen by the lookups that follow. Called once for a batch of receives.
 */
void store_refresh(struct store *store);

/* A circular list of lookups that wait for the same answer; a list is such a link itself. */
struct lookup_link {
    struct lookup_link *next, *previous;
};

struct lookup;
typedef void lookup_fn(struct lookup *lookup);

/*
 * Picks one of the codings that there are (CODING_BIT()s, never none), or CODING_NONE for the file
 * itself. Called only where siblings lie beside a file; again with fewer if that one had gone.
 */
typedef enum coding lookup_choose_fn(struct lookup *lookup, unsigned available);

/* A lookup under way; embedded by the caller, the store's until it is done. */
struct lookup {
    struct representation *result; /* when done: a reference, the caller's */
    lookup_fn *fn;
    lookup_choose_fn *choose;     /* private, as all below */
    struct representation *whole; /* the file itself, while a sibling of it is looked up */
    enum coding coding;           /* of that sibling */
    unsigned available;           /* siblings that have not been tried */
    struct store *store;
    struct root *root;
    struct fill *fill;        /* NULL: nothing is looked up */
    struct lookup_link place; /* among those that wait for it */
};

/*
 * Looks up `path`: decoded, begins with a slash, without dot segments (http/uri.h), any bytes but
 * NUL; it need not stay. True: done at once, `result` is set and `fn` is not called. False: `fn`
 * will be called later, exactly once, with `result` set (out of memory is an ABSENT with 500; never
 * NULL).
 */
bool lookup_start(struct lookup *lookup, struct store *store, struct root *root, const char *path,
                  size_t length, lookup_fn *fn);

struct lookup_target {
    struct store *store;
    struct root *root;
    const char *path;
    size_t length;
};

/*
 * The same, but where a file has precompressed siblings `choose` decides which of them is the
 * answer. It may be called before this returns.
 */
bool lookup_negotiate(struct lookup *lookup, const struct lookup_target *target,
                      lookup_choose_fn *choose, lookup_fn *fn);

/* Gives a pending lookup up: `fn` is not called and the memory is the caller's at once. */
void lookup_cancel(struct lookup *lookup);

/*
 * Bodies. Each takes a reference of its own on the representation, and sets *out. 0 or -ENOMEM.
 * The file body gives memory for small files, file ranges for what the page cache holds, and reads
 * the rest asynchronously, a bounded chunk at a time.
 */
int body_from_file(struct body **out, struct store *store, struct representation *file,
                   uint64_t offset, uint64_t length);

/*
 * Aims a body of a file, which has given all that it was to give, at another range of that file:
 * it goes on as if it had been made for that one, but for `body.length`.
 */
void body_file_aim(struct body *body, uint64_t offset, uint64_t length);

/*
 * Takes all that such a body has still to give, if that is little, fits, and is in memory; it may
 * be nothing. False: there is more to come by body_next(), and nothing was taken.
 */
bool body_file_take(struct body *body, char *memory, size_t room, size_t *taken);

/* Memory that the body takes over, even if it fails, and frees with free(3). */
int body_from_memory(struct body **out, char *data, size_t length);

#endif
