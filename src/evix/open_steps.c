/* SPDX-License-Identifier: MIT */
/*
 * Opens a path beneath a directory by steps of openat(2).
 * Does not know whether the kernel could have done it at once: file_call.c does.
 * Called by file_call.c.
 */
#include "open_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__

#include <linux/openat2.h>

/* Without them all that is left would be to refuse, which nobody notices before it is needed. */
#ifndef O_PATH
#error "fcntl.h shows no O_PATH: _GNU_SOURCE has to be defined before the first header"
#endif

enum {
    LINKS_MAX = 40, /* as the kernel has it */
    AGAIN = 1,      /* the path was rewritten */
};

struct walk {
    int top;
    const struct evix_open_how *how;
    unsigned links;
    int fd; /* what was opened in the end */
    char path[PATH_MAX];
};

/* Replaces [start, end) of the path. */
static int rewrite(struct walk *walk, size_t start, size_t end, const char *text)
{
    char rest[PATH_MAX];
    memcpy(rest, walk->path + end, strlen(walk->path + end) + 1);
    int length = snprintf(walk->path + start, sizeof(walk->path) - start, "%s%s", text, rest);
    return length < 0 || (size_t)length >= sizeof(walk->path) - start ? -ENAMETOOLONG : AGAIN;
}

/* All before a ".." has been found to be directories, so it takes back the one before it. */
static int go_back(struct walk *walk, size_t start, size_t end)
{
    const char *path = walk->path;
    size_t first = start, last;
    do {
        last = first;
        while (last > 0 && path[last - 1] == '/')
            last--;
        if (last == 0)
            return -EXDEV;
        first = last;
        while (first > 0 && path[first - 1] != '/')
            first--;
    } while (last - first == 1 && path[first] == '.');
    return rewrite(walk, first, end, "");
}

static int follow(struct walk *walk, int link, size_t start, size_t end)
{
    char target[PATH_MAX];
    if ((walk->how->resolve & RESOLVE_NO_SYMLINKS) || ++walk->links > LINKS_MAX)
        return -ELOOP;
    ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    return target[0] == '/' ? -EXDEV : rewrite(walk, start, end, target);
}

/* The last component, which was no link when it was looked at. */
static int open_last(struct walk *walk, int directory, const char *name, bool is_directory)
{
    int flags = (int)walk->how->flags | O_NOFOLLOW | (is_directory ? O_DIRECTORY : 0);
    walk->fd = openat(directory, name, flags & ~O_CREAT);
    return walk->fd < 0 ? -errno : 0;
}

/* What follows from what a component is. */
static int judge(struct walk *walk, int directory, int found, const char *name, size_t start,
                 bool is_last)
{
    struct stat status;
    size_t end = start + strlen(name);
    bool has_slash = walk->path[end] == '/';
    if (fstat(found, &status) < 0)
        return -errno;
    bool stays = is_last && !has_slash && (walk->how->flags & O_NOFOLLOW);
    if (S_ISLNK(status.st_mode) && !stays)
        return follow(walk, found, start, end);
    if (is_last)
        return open_last(walk, directory, name, has_slash);
    return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

/* One step from *directory, which is closed if there is a next one. */
static int take_step(struct walk *walk, int *directory, size_t start, size_t length, bool is_last)
{
    char name[NAME_MAX + 1];
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(name, walk->path + start, length);
    name[length] = '\0';
    int next = openat(*directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0)
        return -errno;
    int result = judge(walk, *directory, next, name, start, is_last);
    if (result != 0 || is_last) {
        close(next);
        return result;
    }
    if (*directory != walk->top)
        close(*directory);
    *directory = next;
    return 0;
}

/* 0, AGAIN, or a negative errno. */
static int walk_once(struct walk *walk)
{
    int directory = walk->top;
    int result = 0;
    bool is_last = false;
    for (size_t start = 0, length; result == 0 && !is_last; start += length) {
        start += strspn(walk->path + start, "/");
        const char *name = walk->path + start;
        length = strcspn(name, "/");
        is_last = name[length + strspn(name + length, "/")] == '\0';
        if (length == 2 && memcmp(name, "..", 2) == 0)
            result = go_back(walk, start, start + 2);
        else if (length > 1 || (length == 1 && name[0] != '.'))
            result = take_step(walk, &directory, start, length, is_last);
        else if (is_last)
            result = open_last(walk, directory, ".", true);
    }
    if (directory != walk->top)
        close(directory);
    return result;
}

int evix__open_by_steps(int directory, const char *path, const struct evix_open_how *how)
{
    const uint64_t known = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    struct walk walk = {.top = directory, .how = how, .fd = -1};
    size_t length = strlen(path);
    if ((how->resolve & ~known) || !(how->resolve & (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)))
        return -ENOSYS;
    if (length == 0)
        return -ENOENT;
    if (length >= sizeof(walk.path))
        return -ENAMETOOLONG;
    if (path[0] == '/')
        return -EXDEV;
    memcpy(walk.path, path, length + 1);
    int result;
    do {
        result = walk_once(&walk);
    } while (result == AGAIN);
    return result < 0 ? result : walk.fd;
}

#else

int evix__open_by_steps(int directory, const char *path, const struct evix_open_how *how)
{
    (void)directory;
    (void)path;
    (void)how;
    return -ENOSYS;
}

#endif
