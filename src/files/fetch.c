/* SPDX-License-Identifier: MIT */
/*
 * Finds an answer on the disk, a step at a time: open beneath the root (an index file for a
 * directory), measure, read if small, measure again. Steps that need no disk are done at once.
 * It decides neither what may be opened (root.c) nor what may be kept (freshness.c).
 * Called by fill.c.
 */

#include "files/fetch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "files/describe.h"
#include "files/refusal.h"
#include "files/sample.h"
#include "files/sibling.h"

#define OPEN_RACES_MAX      8 /* openat2(2): EAGAIN while directories are renamed around a ".." */
#define DESCRIPTOR_TRIES    4 /* rounds of eviction when descriptors ran out */
#define DESCRIPTORS_A_ROUND 16
#define READ_TRIES          3 /* of a file that changes while it is read */
#define READ_MAX            (1u << 30)

static void on_opened(struct evix_op *op, ssize_t result);
static void on_measured(struct evix_op *op, ssize_t result);
static void on_read(struct evix_op *op, ssize_t result);
static void opened(struct fill *fill, int result);
static void read_content(struct fill *fill);

static void conclude_absent(struct fill *fill, int status, int error, const char *reason)
{
    fill->entry->error = error;
    freshness_cover(&fill->store->freshness, fill->entry, -1);
    fill_conclude(fill, representation_absent(status, error, reason));
}

static void conclude_error(struct fill *fill, int error)
{
    struct refusal refusal = refusal_of(error);

    fill->entry->by_stat |= refusal.is_unwatched; /* and so it is not kept */
    conclude_absent(fill, refusal.status, error, refusal.reason);
}

/* ---- opening ---- */

/* Sets what is to be opened next, beneath the view. */
static void name_target(struct fill *fill)
{
    const struct entry *entry = fill->entry;
    const struct root *root = entry->root;
    size_t length = entry->path_length - 1;

    memcpy(fill->path, entry->path + 1, length);
    fill->path[length] = '\0';
    if (entry->path[length] != '/')
        return;
    fill->directory = entry->index_tried >= root->index_count;
    if (!fill->directory)
        strcpy(fill->path + length, root->index[entry->index_tried]);
    else if (length == 0)
        strcpy(fill->path, ".");
}

/* Only on the root's own local file system: others may wait for a network in open(2) itself. */
int fetch_open_inline(const struct fill *fill)
{
    struct open_how how = {
        .flags = fill->how.flags,
        .resolve = fill->how.resolve | RESOLVE_CACHED | RESOLVE_NO_XDEV,
    };
    int fd;

    if (fill->store->never_inline || !evix_openat2_exists() ||
        !device_is_local(&fill->store->devices, fill->view->device, fill->view->fd, NULL))
        return -EAGAIN;
    fd = (int)syscall(SYS_openat2, fill->view->fd, fill->path, &how, sizeof(how));
    if (fd >= 0)
        return fd;
    /* EXDEV: a mount, or out of the root; EINVAL: before Linux 5.12. The long way tells. */
    return errno == EXDEV || errno == EINVAL ? -EAGAIN : -errno;
}

static void open_target(struct fill *fill)
{
    int result;

    assert(fill->fd < 0 && !fill->abandoned);
    name_target(fill);
    root_how(fill->entry->root, fill->directory, fill->follow, &fill->how);
    fill->step = FILL_OPEN;
    result = fetch_open_inline(fill);
    if (result != -EAGAIN) {
        opened(fill, result);
        return;
    }
    evix_file_open(&fill->op, fill->store->loop, &fill->request, fill->view->fd, fill->path,
                   &fill->how, on_opened);
}

bool fetch_is_slow(const struct fill *fill)
{
    struct evix_stat stat;

    return root_stat_descriptor(fill->fd, &stat) < 0 ||
           !device_is_local(&fill->store->devices, stat.device, fill->fd, NULL);
}

bool fetch_frees_descriptors(struct fill *fill)
{
    return fill->descriptor_tries++ < DESCRIPTOR_TRIES &&
           cache_give_descriptors(&fill->store->cache, DESCRIPTORS_A_ROUND) > 0;
}

bool fetch_races_on(struct fill *fill)
{
    return fill->races++ < OPEN_RACES_MAX;
}

/* Another try that may do better. False: there is none. */
static bool open_again(struct fill *fill, int error)
{
    struct entry *entry = fill->entry;
    struct root *root = entry->root;

    if (error == -ELOOP && !fill->follow && root->symlinks != ROOT_SYMLINKS_REFUSE) {
        /* Without links everything on the path is watched. With them, look again each time. */
        fill->follow = true;
        entry->by_stat = true;
        return true;
    }
    if (error == -EAGAIN)
        return fetch_races_on(fill);
    if (error == -EMFILE || error == -ENFILE)
        return fetch_frees_descriptors(fill);
    /* Too long: with the index file's name, the rest of the path may be none the less. */
    if ((error == -ENOENT || error == -ENAMETOOLONG) &&
        entry->path[entry->path_length - 1] == '/' && !fill->directory) {
        entry->index_tried++;
        return true;
    }
    return false;
}

/* ---- measuring ---- */

static void classify(struct fill *fill);
static void conclude_file(struct fill *fill);

static void measured(struct fill *fill, int error)
{
    if (error < 0)
        conclude_error(fill, error);
    else if (fill->step == FILL_MEASURE)
        classify(fill);
    else
        conclude_file(fill);
}

/* Local file systems know the metadata of what is open; others may have to ask somebody. */
static void measure(struct fill *fill, enum fill_step step, struct evix_stat *out)
{
    int error = root_stat_descriptor(fill->fd, out);

    fill->step = step;
    if (error == 0 && !device_is_local(&fill->store->devices, out->device, fill->fd, NULL)) {
        evix_file_stat(&fill->op, fill->store->loop, &fill->request, fill->fd, "", 0, out,
                       on_measured);
        return;
    }
    measured(fill, error);
}

static void opened(struct fill *fill, int result)
{
    struct timespec now;

    if (result < 0) {
        if (open_again(fill, result))
            open_target(fill);
        else
            conclude_error(fill, result);
        return;
    }
    fill->fd = result;
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of time stamps */
    fill->began = (struct evix_time){now.tv_sec, (uint32_t)now.tv_nsec};
    measure(fill, FILL_MEASURE, &fill->entry->stat);
}

static void conclude_directory(struct fill *fill)
{
    struct entry *entry = fill->entry;
    struct representation *answer;

    if (entry->path[entry->path_length - 1] == '/' && !fill->directory) {
        /* A directory by the name of an index file is none. Closing it tells nobody. */
        close(fill->fd);
        fill->fd = -1;
        entry->index_tried++;
        open_target(fill);
        return;
    }
    freshness_cover(&fill->store->freshness, entry, -1);
    if (fill->directory) {
        answer = representation_directory(fill->fd, fill->view);
        if (answer != NULL)
            fill->fd = -1;
    } else {
        answer = representation_redirect();
    }
    fill_conclude(fill, answer);
}

static void classify(struct fill *fill)
{
    struct entry *entry = fill->entry;

    if (S_ISDIR(entry->stat.mode)) {
        conclude_directory(fill);
        return;
    }
    if (!S_ISREG(entry->stat.mode)) {
        freshness_cover(&fill->store->freshness, entry, fill->fd);
        conclude_absent(fill, 404, 0, "not a regular file");
        return;
    }
    /* O_NONBLOCK has done its work; io_uring would give up reads of some file systems for it. */
    (void)fcntl(fill->fd, F_SETFL, 0);
    freshness_cover(&fill->store->freshness, entry, fill->fd);
    read_content(fill);
}

/* ---- reading ---- */

static bool is_small(const struct fill *fill)
{
    return fill->entry->stat.size <= fill->store->options->small && fill->reads < READ_TRIES;
}

static void read_on(struct fill *fill)
{
    uint64_t left = fill->entry->stat.size - fill->filled;
    char *to = representation_content(fill->file) + fill->filled;
    struct iovec iov = {to, left};
    ssize_t got = -1;

    fill->step = FILL_READ;
    /* What the page cache has is here at once. */
    if (left > 0 && !fill->store->never_inline)
        got = preadv2(fill->fd, &iov, 1, (off_t)fill->filled, RWF_NOWAIT);
    if (got > 0) {
        fill->filled += (uint64_t)got;
        left -= (uint64_t)got;
        to += got;
    }
    if (left == 0) {
        measure(fill, FILL_CHECK, &fill->check);
        return;
    }
    if (fetch_is_slow(fill))
        evix_file_read_aside(&fill->op, fill->store->loop, &fill->request, fill->fd, to,
                             left < READ_MAX ? (uint32_t)left : READ_MAX, fill->filled, on_read);
    else
        evix_file_read(&fill->op, fill->store->loop, &fill->request, fill->fd, to,
                       left < READ_MAX ? (uint32_t)left : READ_MAX, fill->filled, on_read);
}

static void read_content(struct fill *fill)
{
    representation_unref(&fill->file);
    fill->filled = 0;
    if (!is_small(fill)) {
        /* Somebody else's disk may be far away, and each request begins anew there. */
        if (fetch_is_slow(fill))
            fetch_sampled(fill);
        else
            sample_start(fill);
        return;
    }
    fill->reads++;
    fill->file = representation_file(fill->entry->stat.size, -1);
    if (fill->file == NULL)
        fill_conclude(fill, NULL);
    else
        read_on(fill);
}

void fetch_sampled(struct fill *fill)
{
    measure(fill, FILL_CHECK, &fill->check);
}

static bool changed_meanwhile(const struct evix_stat *a, const struct evix_stat *b)
{
    return a->size != b->size || a->modified.seconds != b->modified.seconds ||
           a->modified.nanoseconds != b->modified.nanoseconds ||
           a->changed.seconds != b->changed.seconds ||
           a->changed.nanoseconds != b->changed.nanoseconds;
}

/* By what it is called; a sibling by the name without its suffix. */
static const char *media_type_of(const struct fill *fill)
{
    size_t suffix = strlen(coding_suffix(fill->entry->coding));

    return media_type_find(fill->store->types, fill->path, strlen(fill->path) - suffix);
}

static bool may_have_siblings(const struct fill *fill)
{
    return fill->entry->root->precompressed && fill->entry->coding == CODING_NONE &&
           coding_is_possible(media_type_of(fill));
}

void fetch_describe(struct fill *fill)
{
    struct representation *answer = fill->file;
    struct timespec now;

    fill->file = NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    representation_describe(&answer, &(struct description){
                                         .stat = &fill->check,
                                         .sample = fill->sample,
                                         .now = {now.tv_sec, (uint32_t)now.tv_nsec},
                                         .media_type = media_type_of(fill),
                                         .format_date = fill->store->options->format_date,
                                         .coding = fill->entry->coding,
                                         .siblings = fill->siblings,
                                         .is_negotiated = fill->entry->sought_siblings,
                                         .path = fill->path,
                                     });
    fill_conclude(fill, answer);
}

static void conclude_file(struct fill *fill)
{
    struct entry *entry = fill->entry;

    if (fill->file != NULL && changed_meanwhile(&entry->stat, &fill->check)) {
        entry->stat = fill->check;
        read_content(fill); /* in the end without its content */
        return;
    }
    entry->stat = fill->check;
    if (fill->file != NULL) {
        /* A file that holds less than it says: what was read is what there is. */
        fill->check.size = fill->filled;
    } else {
        fill->file = representation_file(0, fill->fd);
        if (fill->file == NULL) {
            fill_conclude(fill, NULL);
            return;
        }
        fill->file->closer = fetch_is_slow(fill) ? fill->store->loop : NULL;
        fill->fd = -1;
    }
    if (may_have_siblings(fill))
        sibling_seek(fill);
    else
        fetch_describe(fill);
}

/* ---- completions ---- */

static void on_opened(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (!fill->abandoned) {
        opened(fill, (int)result);
        return;
    }
    if (result >= 0)
        fill->fd = (int)result;
    fill_free(fill);
}

static void on_measured(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (fill->abandoned)
        fill_free(fill);
    else
        measured(fill, (int)result);
}

static void on_read(struct evix_op *op, ssize_t result)
{
    struct fill *fill = EVIX_CONTAINER_OF(op, struct fill, op);

    if (fill->abandoned) {
        fill_free(fill);
        return;
    }
    if (result < 0) {
        conclude_error(fill, (int)result);
        return;
    }
    assert(fill->step == FILL_READ);
    fill->filled += (uint64_t)result;
    assert(fill->filled <= fill->entry->stat.size);
    if (result == 0 || fill->filled == fill->entry->stat.size)
        measure(fill, FILL_CHECK, &fill->check);
    else
        read_on(fill);
}

void fetch_start(struct fill *fill)
{
    open_target(fill);
}
