/* SPDX-License-Identifier: MIT */
/*
 * A body that is a directory's listing: read and sorted in the work pool, then written piece by
 * piece as the client takes it. What is read is directory.c, what is written listing_page.c.
 * Called by the server's static handler.
 */

#include "files/interior.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/directory.h"
#include "files/listing_page.h"

/* Enough to be worth a send, little enough to be written in well under a millisecond. */
#define PIECE_BYTES (48 * 1024)

enum listing_state { LISTING_NEW, LISTING_BUSY, LISTING_READ, LISTING_ENDED };

struct listing {
    struct body body;
    struct store *store;
    struct representation *directory;
    enum listing_format format;
    enum listing_state state;
    bool released;
    atomic_bool stop;
    struct evix_work work;
    int error; /* of the thread */
    struct directory_rows rows;
    size_t next; /* row */
    struct page page;
    size_t path_length;
    char path[];
};

static void destroy(struct listing *listing)
{
    directory_rows_fini(&listing->rows);
    page_fini(&listing->page);
    representation_unref(&listing->directory);
    free(listing);
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
                                                        .stop = &listing->stop,
                                                    });
}

static void on_work_done(struct evix_work *work, int error)
{
    struct listing *listing = EVIX_CONTAINER_OF(work, struct listing, work);
    struct store *store = listing->store;

    assert(listing->state == LISTING_BUSY);
    listing->state = LISTING_READ;
    if (error < 0)
        listing->error = error;
    if (listing->released)
        destroy(listing);
    else
        listing->body.ready(listing->body.ready_data);
    store_release(store);
}

static void start(struct listing *listing, struct body_piece *out)
{
    int error = evix_work_start(&listing->work, listing->store->loop, on_work, on_work_done);

    if (error < 0) {
        *out = (struct body_piece){.kind = BODY_FAILED, .error = error};
        return;
    }
    store_hold(listing->store);
    listing->state = LISTING_BUSY;
    *out = (struct body_piece){.kind = BODY_LATER};
}

static void write_rows(struct listing *listing)
{
    const struct directory_rows *rows = &listing->rows;
    struct page *page = &listing->page;

    assert(listing->next <= rows->count);
    page->used = 0;
    if (listing->next == 0)
        page_head(page, listing->format, listing->path, listing->path_length);
    while (listing->next < rows->count && page->used < PIECE_BYTES && !page->failed) {
        page_row(page, listing->format, &rows->rows[listing->next], listing->next == 0);
        listing->next++;
    }
    if (listing->next == rows->count) {
        page_tail(page, listing->format, rows);
        listing->state = LISTING_ENDED;
    }
}

static void next_of_listing(struct body *body, struct body_piece *out)
{
    struct listing *listing = EVIX_CONTAINER_OF(body, struct listing, body);

    assert(!listing->released);
    switch (listing->state) {
    case LISTING_NEW:
        start(listing, out);
        return;
    case LISTING_BUSY:
        *out = (struct body_piece){.kind = BODY_LATER};
        return;
    case LISTING_ENDED:
        *out = (struct body_piece){.kind = BODY_END};
        return;
    case LISTING_READ:
        break;
    }
    if (listing->error < 0) {
        *out = (struct body_piece){.kind = BODY_FAILED, .error = listing->error};
        return;
    }
    write_rows(listing);
    if (listing->page.failed)
        *out = (struct body_piece){.kind = BODY_FAILED, .error = -ENOMEM};
    else
        *out = (struct body_piece){
            .kind = BODY_BYTES, .data = listing->page.data, .length = listing->page.used};
}

static void release_listing(struct body *body)
{
    struct listing *listing = EVIX_CONTAINER_OF(body, struct listing, body);

    if (listing->state != LISTING_BUSY) {
        destroy(listing);
        return;
    }
    listing->released = true; /* a thread may be at it */
    atomic_store_explicit(&listing->stop, true, memory_order_relaxed);
    (void)evix_work_cancel(&listing->work);
}

static const struct body_ops listing_ops = {next_of_listing, release_listing};

int body_from_listing(struct body **out, struct store *store, struct representation *directory,
                      const char *path, size_t path_length, enum listing_format format)
{
    struct listing *listing = calloc(1, sizeof(*listing) + path_length + 1);

    *out = NULL;
    assert(directory->kind == REPRESENTATION_DIRECTORY);
    assert(path_length > 0 && path[0] == '/' && path[path_length - 1] == '/');
    if (listing == NULL)
        return -ENOMEM;
    listing->body.ops = &listing_ops;
    listing->body.length = -1;
    listing->store = store;
    listing->directory = representation_ref(directory);
    listing->format = format;
    listing->page.encode_path = store->options->encode_path;
    listing->path_length = path_length;
    memcpy(listing->path, path, path_length);
    *out = &listing->body;
    return 0;
}
