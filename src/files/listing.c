/* SPDX-License-Identifier: MIT */
/*
 * A listing's life: read and sorted in the work pool, then written piece by piece as the client
 * takes it. What is read is directory.c, what is written listing_page.c.
 * Called by the server's listing handler.
 */

#include "files/listing.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/directory.h"
#include "files/hash.h"
#include "files/interior.h"
#include "files/listing_page.h"

/* Enough to be worth a send, little enough to be written in well under a millisecond. */
#define PIECE_BYTES      (48 * 1024)
#define PIECE_ROOM_BYTES (64 * 1024) /* that a piece grows into */

/* What a row of the page takes beside its name, and the page without rows: rather more. */
#define ROW_TEXT_BYTES  256
#define PAGE_TEXT_BYTES (8 * 1024)

/* What is in the page beside the rows: a change of it has to change the tag. */
#define PAGE_VERSION 2

/* A disk that does not answer holds up listings, and nothing else that waits for a thread. */
static const struct evix_work_class readings = {.threads = 2};

enum listing_state { LISTING_READING, LISTING_READ, LISTING_ENDED };

struct listing {
    struct body body;
    struct store *store;
    struct representation *directory;
    enum listing_state state;
    bool is_cancelled;
    bool is_second_try;
    atomic_bool stop;
    struct evix_work work;
    listing_fn *fn;
    void *data;
    int error; /* of the thread */
    struct listing_options options;
    struct directory_rows rows;
    size_t text_bytes; /* that were taken from the budget for a piece of the page */
    size_t next;       /* row */
    struct listing_page page;
    char path[];
};

void listing_free(struct listing *listing)
{
    assert(listing->state != LISTING_READING);
    memory_budget_give(&listing->store->listings, listing->text_bytes);
    directory_rows_fini(&listing->rows);
    page_text_fini(&listing->page.text);
    representation_unref(&listing->directory);
    free(listing);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* A client that takes nothing holds one piece of the page, beside the rows. */
static int take_text(struct listing *listing)
{
    const struct directory_rows *rows = &listing->rows;
    size_t bytes = PAGE_TEXT_BYTES + rows->count * ROW_TEXT_BYTES + 2 * rows->used;

    if (bytes > PIECE_ROOM_BYTES)
        bytes = PIECE_ROOM_BYTES;
    if (!memory_budget_take(&listing->store->listings, bytes))
        return -EBUSY;
    listing->text_bytes = bytes;
    return 0;
}

static void on_work(struct evix_work *work)
{
    struct listing *listing = EVIX_CONTAINER_OF(work, struct listing, work);
    const struct root_view *view = listing->directory->view;

    listing->error = directory_read(&listing->rows, &(struct directory_source){
                                                        .fd = listing->directory->fd,
                                                        .root = view->fd,
                                                        .resolve = view->resolve,
                                                        .dotfiles = view->dotfiles,
                                                        .path = listing->path + 1,
                                                        .key = listing->options.key,
                                                        .descending = listing->options.descending,
                                                        .stop = &listing->stop,
                                                        .budget = &listing->store->listings,
                                                    });
    if (listing->error == 0)
        listing->error = take_text(listing);
}

static void on_work_done(struct evix_work *work, int error);

static int start_work(struct listing *listing)
{
    int error =
        evix_work_start_in(&listing->work, listing->store->loop, &readings, on_work, on_work_done);

    if (error == 0)
        store_hold(listing->store);
    return error;
}

/* Out of descriptors, the cache gives some, and it is tried once more. */
static bool try_again(struct listing *listing, int error)
{
    if ((error != -EMFILE && error != -ENFILE) || listing->is_second_try || listing->is_cancelled)
        return false;
    listing->is_second_try = true;
    return cache_give_descriptors(&listing->store->cache, 8) > 0 && start_work(listing) == 0;
}

static void on_work_done(struct evix_work *work, int error)
{
    struct listing *listing = EVIX_CONTAINER_OF(work, struct listing, work);
    struct store *store = listing->store;

    assert(listing->state == LISTING_READING);
    if (error == 0)
        error = listing->error;
    if (!try_again(listing, error)) {
        listing->state = LISTING_READ;
        if (listing->is_cancelled)
            listing_free(listing);
        else
            listing->fn(listing, error, listing->data);
    }
    store_release(store);
}

void listing_cancel(struct listing *listing)
{
    assert(listing->state == LISTING_READING);
    listing->is_cancelled = true; /* a thread may be at it */
    atomic_store_explicit(&listing->stop, true, memory_order_relaxed);
    (void)evix_work_cancel(&listing->work);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_rows(struct listing *listing)
{
    const struct directory_rows *rows = &listing->rows;
    struct listing_page *page = &listing->page;

    assert(listing->next <= rows->count);
    page->text.used = 0;
    if (listing->next == 0)
        listing_page_head(page);
    while (listing->next < rows->count && page->text.used < PIECE_BYTES && !page->text.failed)
        listing_page_row(page, listing->next++);
    if (listing->next == rows->count) {
        listing_page_tail(page);
        listing->state = LISTING_ENDED;
    }
}

static void next_of_listing(struct body *body, struct body_piece *out)
{
    struct listing *listing = EVIX_CONTAINER_OF(body, struct listing, body);

    if (listing->state == LISTING_ENDED) {
        *out = (struct body_piece){.kind = BODY_END};
        return;
    }
    write_rows(listing);
    if (listing->page.text.failed)
        *out = (struct body_piece){.kind = BODY_FAILED, .error = -ENOMEM};
    else
        *out = (struct body_piece){
            .kind = BODY_BYTES, .data = listing->page.text.data, .length = listing->page.text.used};
}

static void release_listing(struct body *body)
{
    listing_free(EVIX_CONTAINER_OF(body, struct listing, body));
}

static const struct body_ops listing_ops = {.next = next_of_listing, .release = release_listing};

struct body *listing_body(struct listing *listing)
{
    assert(listing->state == LISTING_READ);
    return &listing->body;
}

/* ---- the rest ---------------------------------------------------------------------------- */

void listing_etag(const struct listing *listing, char out[LISTING_ETAG_BYTES])
{
    const struct listing_options *options = &listing->options;
    uint64_t form = (uint64_t)PAGE_VERSION << 16 | (uint64_t)options->format << 8 |
                    (uint64_t)options->key << 1 | options->descending;
    uint64_t hash = hash_bytes(form, options->path, options->path_length);

    (void)snprintf(out, LISTING_ETAG_BYTES, "W/\"%016llx\"",
                   (unsigned long long)hash_mix(hash, listing->rows.hash));
}

int listing_start(struct listing **out, struct store *store, struct representation *directory,
                  const struct listing_options *options, listing_fn *fn, void *data)
{
    struct listing *listing;
    int error;

    *out = NULL;
    assert(directory->kind == REPRESENTATION_DIRECTORY);
    assert(options->path[0] == '/' && options->path[options->path_length - 1] == '/');
    if (memory_budget_used(&store->listings) >= store->listings.most)
        return -EBUSY;
    listing = calloc(1, sizeof(*listing) + options->path_length + 1);
    if (listing == NULL)
        return -ENOMEM;
    memcpy(listing->path, options->path, options->path_length);
    listing->body.ops = &listing_ops;
    listing->body.length = -1;
    listing->store = store;
    listing->directory = representation_ref(directory);
    listing->fn = fn;
    listing->data = data;
    listing->options = *options;
    listing->options.path = listing->path;
    listing->page = (struct listing_page){.options = &listing->options,
                                          .rows = &listing->rows,
                                          .encode_path = store->options->encode_path};
    error = start_work(listing);
    if (error < 0) {
        listing->state = LISTING_READ;
        listing_free(listing);
        return error;
    }
    *out = listing;
    return 0;
}
