/* SPDX-License-Identifier: MIT */
/*
 * Looks beside a file for its precompressed siblings, one name after the other: by O_PATH, which
 * finds a name without opening what it names, so that a FIFO or a device comes to no harm.
 * It reads none of them: the one that a request wants is a lookup of its own. Called by fetch.c.
 */

#include "files/sibling.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/fetch.h"

static void open_sibling(struct fill *fill);
static void seek_next(struct fill *fill);

/* ---- what was found ---- */

/* The entry's record of a sibling; made when there is something to say. NULL without memory. */
static struct sibling *record_of(struct fill *fill)
{
    struct entry *entry = fill->entry;

    if (entry->siblings == NULL) {
        entry->siblings = calloc(CODING_COUNT, sizeof(*entry->siblings));
        for (size_t i = 0; entry->siblings != NULL && i < CODING_COUNT; i++)
            entry->siblings[i] = (struct sibling){.entry = entry, .error = -ENOENT};
    }
    if (entry->siblings == NULL) {
        entry->siblings_unsure = true;
        return NULL;
    }
    return &entry->siblings[fill->sibling];
}

/*
 * Tools that copy a file's time to what they made of it may cut it to seconds or microseconds: so
 * times are compared as finely as the sibling's own is.
 */
static bool is_older(struct evix_time sibling, struct evix_time whole)
{
    uint32_t grain = 1;

    if (sibling.nanoseconds % 1000 == 0)
        grain = sibling.nanoseconds == 0 ? 1000000000 : 1000;
    if (sibling.seconds != whole.seconds)
        return sibling.seconds < whole.seconds;
    return sibling.nanoseconds < whole.nanoseconds - whole.nanoseconds % grain;
}

/* One that could not be looked at is not there; what only opening it tells can't be compared. */
static void note_error(struct fill *fill, int error)
{
    struct sibling *record;

    if (error != -ENOENT) {
        record = record_of(fill);
        if (record != NULL)
            record->error = error;
        fill->entry->siblings_unsure |= error != -ENAMETOOLONG;
    }
    seek_next(fill);
}

static void note_found(struct fill *fill, const struct evix_stat *stat)
{
    struct sibling *record = record_of(fill);

    if (record != NULL) {
        record->error = 0;
        record->stat = *stat;
        if (S_ISREG(stat->mode) && !is_older(stat->modified, fill->check.modified))
            fill->siblings |= CODING_BIT(fill->sibling);
    }
    close(fill->sibling_fd);
    fill->sibling_fd = -1;
    seek_next(fill);
}

/* ---- steps ---- */

static void on_measured(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (fill->abandoned) {
        fill_free(fill);
    } else if (result < 0) {
        close(fill->sibling_fd);
        fill->sibling_fd = -1;
        note_error(fill, (int)result);
    } else {
        note_found(fill, &fill->sibling_stat);
    }
}

static void measure(struct fill *fill)
{
    struct store *store = fill->store;
    struct evix_stat *stat = &fill->sibling_stat;
    struct sibling *record = record_of(fill);
    bool at_once = root_stat_descriptor(fill->sibling_fd, stat) == 0 &&
                   device_is_local(&store->devices, stat->device, fill->sibling_fd, NULL);

    /* Watched first, measured then: what changes in between would leave no trace. */
    if (record != NULL)
        freshness_cover_sibling(&store->freshness, record, fill->sibling, fill->sibling_fd);
    if (at_once && root_stat_descriptor(fill->sibling_fd, stat) == 0)
        note_found(fill, stat);
    else
        evix_file_stat(&fill->op, store->loop, &fill->request, fill->sibling_fd, "", 0, stat,
                       on_measured);
}

/* Another try that may do better, as with the file itself. */
static bool open_again(struct fill *fill, int error)
{
    struct entry *entry = fill->entry;

    if (error == -ELOOP && !fill->sibling_follow && entry->root->symlinks != ROOT_SYMLINKS_REFUSE) {
        fill->sibling_follow = true;
        entry->by_stat = true;
        return true;
    }
    if (error == -EMFILE || error == -ENFILE)
        return fetch_frees_descriptors(fill);
    return error == -EAGAIN && fetch_races_on(fill);
}

static void opened(struct fill *fill, int result)
{
    if (result >= 0) {
        fill->sibling_fd = result;
        measure(fill);
    } else if (open_again(fill, result)) {
        open_sibling(fill);
    } else {
        note_error(fill, result);
    }
}

static void on_opened(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (!fill->abandoned) {
        opened(fill, (int)result);
        return;
    }
    if (result >= 0)
        fill->sibling_fd = (int)result;
    fill_free(fill);
}

static void open_sibling(struct fill *fill)
{
    int result;

    assert(fill->sibling_fd < 0 && !fill->abandoned);
    strcpy(fill->path + fill->path_length, coding_suffix(fill->sibling));
    root_how(fill->entry->root, false, fill->sibling_follow, &fill->how);
    fill->how.flags = O_PATH | O_CLOEXEC;
    result = fetch_open_inline(fill);
    if (result != -EAGAIN)
        opened(fill, result);
    else
        evix_file_open(&fill->op, fill->store->loop, &fill->request, fill->view->fd, fill->path,
                       &fill->how, on_opened);
}

static void seek_next(struct fill *fill)
{
    fill->path[fill->path_length] = '\0';
    fill->sibling_follow = fill->follow;
    if (++fill->sibling < CODING_COUNT)
        open_sibling(fill);
    else
        fetch_describe(fill);
}

void sibling_seek(struct fill *fill)
{
    assert(fill->sibling == CODING_NONE && fill->entry->siblings == NULL);
    fill->path_length = strlen(fill->path);
    fill->entry->sought_siblings = true;
    seek_next(fill);
}
