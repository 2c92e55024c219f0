/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_LISTING_H
#define EVIXD_FILES_LISTING_H

/*
 * The listing of a directory: read and sorted in the work pool before anything is answered, so that
 * what cannot be read is an error and no page that ends early; then a body that writes itself piece
 * by piece as the client takes it.
 */

#include "files/store.h"

struct listing;

enum listing_format { LISTING_HTML, LISTING_JSON };
enum listing_key { LISTING_BY_NAME, LISTING_BY_SIZE, LISTING_BY_TIME };

struct listing_options {
    enum listing_format format;
    enum listing_key key; /* directories come first in any case */
    bool descending;
    const char *path; /* decoded, a slash at both ends; copied */
    size_t path_length;
};

/* It was read, or could not be: 0 or a negative errno. The listing is the callee's. */
typedef void listing_fn(struct listing *listing, int error, void *data);

/*
 * Starts reading. `fn` is called once, later. 0; -ENOMEM; -EBUSY, at once or as the error that `fn`
 * is given: the listings that are being read and sent take as much memory as all of them may.
 */
int listing_start(struct listing **out, struct store *store, struct representation *directory,
                  const struct listing_options *options, listing_fn *fn, void *data);

/* Before `fn`, which is not called then. It may end later, on its own. */
void listing_cancel(struct listing *listing);

/* After `fn`: a weak entity tag, which tells what is listed, its order and form apart. */
#define LISTING_ETAG_BYTES 24
void listing_etag(const struct listing *listing, char out[LISTING_ETAG_BYTES]);

/* After `fn` without error, either of: the listing becomes the body; or it ends. */
struct body *listing_body(struct listing *listing);
void listing_free(struct listing *listing);

#endif
