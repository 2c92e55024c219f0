/* SPDX-License-Identifier: MIT */
/*
 * Roots: what may be opened beneath a directory and how; and noticing that it was replaced.
 * It opens no files (fill.c does) and watches nothing (freshness.c does).
 * Called by the store, the lookups and the freshness rule.
 */

#include "files/root.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files/interior.h"
#include "log/log.h"

struct root_view *root_view_ref(struct root_view *view)
{
    view->references++;
    return view;
}

void root_view_unref(struct root_view **view)
{
    struct root_view *last = *view;

    *view = NULL;
    if (last == NULL)
        return;
    assert(last->references > 0);
    if (--last->references > 0)
        return;
    close(last->fd);
    free(last);
}

/* Keeps every path beneath the root; the one that follows links out of it is asked to. */
static uint64_t resolve_flags(const struct root *root)
{
    switch (root->symlinks) {
    case ROOT_SYMLINKS_FOLLOW:
        return RESOLVE_NO_MAGICLINKS;
    case ROOT_SYMLINKS_REFUSE:
        return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    case ROOT_SYMLINKS_BENEATH:
        break;
    }
    return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
}

void root_how(const struct root *root, bool directory, bool follow, struct evix_open_how *out)
{
    /* O_NONBLOCK and O_NOCTTY: what turns out to be a FIFO or a terminal must do no harm. */
    *out = (struct evix_open_how){
        .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (directory ? O_DIRECTORY : 0),
        .resolve = resolve_flags(root) | (follow ? 0 : RESOLVE_NO_SYMLINKS),
    };
}

static struct evix_time time_of(const struct statx_timestamp *time)
{
    return (struct evix_time){time->tv_sec, time->tv_nsec};
}

static int stat_at(int fd, const char *path, int flags, struct evix_stat *out)
{
    struct statx raw;

    if (statx(fd, path, flags, STATX_BASIC_STATS, &raw) < 0)
        return -errno;
    *out = (struct evix_stat){
        .size = raw.stx_size,
        .inode = raw.stx_ino,
        .device = makedev(raw.stx_dev_major, raw.stx_dev_minor),
        .mode = raw.stx_mode,
        .links = raw.stx_nlink,
        .modified = time_of(&raw.stx_mtime),
        .changed = time_of(&raw.stx_ctime),
    };
    return 0;
}

int root_stat_descriptor(int fd, struct evix_stat *out)
{
    return stat_at(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, out);
}

int root_join(const struct root *root, const char *path, size_t length, char *out, size_t size)
{
    if (length >= size || root->path_length >= size - length)
        return -ENAMETOOLONG;
    memcpy(out, root->path, root->path_length);
    memcpy(out + root->path_length, path, length);
    out[root->path_length + length] = '\0';
    return 0;
}

/*
 * O_PATH neither reads nor asks for leave, and RESOLVE_CACHED gives up (-EAGAIN) where a name is
 * not in memory, or its file system wants to be asked whether it still holds. Where there is
 * neither (before Linux 5.12, or hidden by a filter), a look may wait, but finds what is there.
 */
static int open_cached(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
                           .resolve = resolve | RESOLVE_CACHED};
    int fd = -1;

    if (!evix_openat2_exists())
        return evix_open(directory, path,
                         &(struct evix_open_how){.flags = how.flags, .resolve = resolve});
    /* A rename somewhere at the same moment is reason enough to give up; so not at once. */
    for (unsigned tries = 0; fd < 0 && tries < 2; tries++) {
        fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
        if (fd < 0 && errno == EINVAL)
            how.resolve &= ~(uint64_t)RESOLVE_CACHED;
        else if (fd < 0 && errno != EAGAIN)
            break;
    }
    return fd >= 0 ? fd : -errno;
}

static int stat_cached(const char *path, struct evix_stat *out)
{
    int fd = open_cached(AT_FDCWD, path, 0, 0), error;

    if (fd < 0) /* without a descriptor there is no looking, and so no telling */
        return fd == -EMFILE || fd == -ENFILE ? -EAGAIN : fd;
    error = root_stat_descriptor(fd, out);
    close(fd);
    return error;
}

int root_stat(const struct root *root, const char *path, size_t length, struct evix_stat *out)
{
    char whole[PATH_MAX];
    int error = root_join(root, path, length, whole, sizeof(whole));

    if (error == 0)
        error = stat_cached(whole, out);
    /* What others than local file systems have in memory may be old. */
    if (error == 0 && !device_is_local(&root->store->devices, out->device, -1, whole))
        error = -EAGAIN;
    return error;
}

int root_open_directory(const struct root *root, const char *path, size_t length)
{
    char relative[PATH_MAX];
    int fd;

    if (root->view == NULL)
        return -ENOENT;
    if (length >= sizeof(relative))
        return -ENAMETOOLONG;
    if (length > 1)
        memcpy(relative, path + 1, length - 1);
    strcpy(relative + (length > 1 ? length - 1 : 0), length > 1 ? "" : ".");
    fd = open_cached(root->view->fd, relative, O_DIRECTORY,
                     RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);
    return fd == -ELOOP ? -ENOTDIR : fd;
}

static int open_view(struct root *root)
{
    struct evix_open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    const char *path = root->path_length > 0 ? root->path : "/";
    struct root_view *view = malloc(sizeof(*view));
    struct evix_stat stat;
    int error;

    if (view == NULL)
        return -ENOMEM;
    error = view->fd = evix_open(AT_FDCWD, path, &how);
    if (error < 0)
        goto free_view;
    error = root_stat_descriptor(view->fd, &stat);
    if (error < 0)
        goto close_view;
    view->references = 1;
    view->device = stat.device;
    view->inode = stat.inode;
    view->resolve = resolve_flags(root);
    view->dotfiles = root->dotfiles;
    root_view_unref(&root->view);
    root->view = view;
    return 0;
close_view:
    close(view->fd);
free_view:
    free(view);
    return error;
}

/*
 * Which directory the path names. This alone may wait, for the few names of the way to a root,
 * where they lie on a file system that wants to be asked.
 */
static int identify(const struct root *root, struct evix_stat *out)
{
    const char *path = root->path_length > 0 ? root->path : "/";
    int error = stat_cached(path, out);

    return error == -EAGAIN ? stat_at(AT_FDCWD, path, 0, out) : error;
}

/* A root that is not there is the site's own affair (a deployment in between); one that fails is
 * not. */
static bool is_failure(int error)
{
    return error < 0 && refusal_of_root(error).status != 404;
}

static void note_error(struct root *root, int error)
{
    if (error != root->error && is_failure(error))
        log_event(LOG_LEVEL_ERROR, "root %s: %s; requests for what is in it fail", root->path,
                  evix_strerror(error));
    else if (error != root->error && is_failure(root->error))
        log_event(LOG_LEVEL_NOTICE, "root %s: can be opened again, or is gone", root->path);
    root->error = error;
}

void root_renew(struct root *root)
{
    struct evix_stat stat;
    int error = identify(root, &stat);

    if (error == 0 && root->view != NULL && root->view->device == stat.device &&
        root->view->inode == stat.inode)
        return;
    if (error == 0)
        error = open_view(root);
    /* Without descriptors or memory the old directory is no answer either. */
    if (error < 0)
        root_view_unref(&root->view);
    note_error(root, error);
}

static int copy_path(struct root *root, const char *path)
{
    char *here = NULL;
    size_t length;

    if (path[0] != '/') {
        here = getcwd(NULL, 0);
        if (here == NULL)
            return -errno;
    }
    length =
        asprintf(&root->path, "%s%s%s", here != NULL ? here : "", here != NULL ? "/" : "", path) < 0
            ? 0
            : strlen(root->path);
    free(here);
    if (length == 0) {
        root->path = NULL;
        return -ENOMEM;
    }
    while (length > 0 && root->path[length - 1] == '/')
        root->path[--length] = '\0';
    root->path_length = length;
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int copy_index(struct root *root, const char *const *index)
{
    unsigned count = 0;

    while (index != NULL && index[count] != NULL)
        count++;
    root->index = calloc(count + 1, sizeof(*root->index));
    if (root->index == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(index[i]);

        if (length == 0 || length > NAME_MAX || strchr(index[i], '/') != NULL)
            return -EINVAL;
        root->index[i] = strdup(index[i]);
        if (root->index[i] == NULL)
            return -ENOMEM;
        root->index_count++;
        if (length > root->index_longest)
            root->index_longest = length;
    }
    return 0;
}

int root_new(struct root **out, struct store *store, const struct root_options *options)
{
    struct root *root = calloc(1, sizeof(*root));
    int error;

    *out = NULL;
    if (root == NULL)
        return -ENOMEM;
    root->store = store;
    root->symlinks = options->symlinks;
    root->dotfiles = options->dotfiles;
    root->precompressed = options->precompressed;
    error = copy_path(root, options->path);
    if (error == 0)
        error = copy_index(root, options->index);
    if (error == 0) {
        error = root->error = open_view(root);
        if (options->may_be_absent && error != -ENOMEM)
            error = 0;
    }
    if (error < 0) {
        root_free(&root);
        return error;
    }
    *out = root;
    return 0;
}

void root_free(struct root **root)
{
    struct root *last = *root;

    if (last == NULL)
        return;
    for (unsigned i = 0; i < last->index_count; i++)
        free(last->index[i]);
    free(last->index);
    free(last->path);
    root_view_unref(&last->view);
    free(last);
    *root = NULL;
}

/* Hidden, but for the one name that RFC 8615 gives a meaning to, at the top. */
static bool name_is_hidden(const struct root *root, const char *path, const char *name,
                           size_t length)
{
    if (length == 0 || name[0] != '.')
        return false;
    if (length == 1 || (length == 2 && name[1] == '.'))
        return true; /* the caller has removed them; what is left is an attempt */
    return !root->dotfiles &&
           !(name == path + 1 && length == 11 && memcmp(name, ".well-known", 11) == 0);
}

bool root_refuses(const struct root *root, const char *path, size_t length, struct refusal *out)
{
    const char *name = path + 1, *end = path + length;

    if (length == 0 || path[0] != '/') {
        *out = (struct refusal){404, -EINVAL, "the path does not begin with a slash", false};
        return true;
    }
    if (length > PATH_MAX) { /* the slash is not part of what is opened */
        *out = (struct refusal){404, -ENAMETOOLONG, "the path is longer than any can be", false};
        return true;
    }
    for (;;) {
        const char *slash = memchr(name, '/', (size_t)(end - name));
        size_t size = (size_t)((slash != NULL ? slash : end) - name);

        if (size > NAME_MAX) {
            *out = (struct refusal){404, -ENAMETOOLONG, "a name is longer than any can be", false};
            return true;
        }
        if (name_is_hidden(root, path, name, size)) {
            *out = (struct refusal){404, 0, "names that begin with a dot are hidden", false};
            return true;
        }
        if (slash == NULL)
            return false;
        name = slash + 1;
    }
}
