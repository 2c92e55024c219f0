/* SPDX-License-Identifier: MIT */
/*
 * Walks the path to a root step by step and watches each, so that a renamed parent or a switched
 * symbolic link is seen. It opens nothing. Called by freshness.c when a root is made or stale.
 */

#include "files/root_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/device.h"

#define LINKS_MAX 40 /* as many as the kernel follows */

#define LINK_EVENTS                                                                                \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF |            \
     IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)

/* `here` is physical (no links in it, no slash at its end); `rest` is what is still to be walked.
 */
struct walk {
    char here[PATH_MAX];
    size_t length;
    char rest[2 * PATH_MAX];
    unsigned links;
};

static int add_link(struct root *root, struct watches *watches, const struct walk *walk,
                    const char *name, size_t size)
{
    struct root_link *link = calloc(1, sizeof(*link) + size + 1);
    int error;

    if (link == NULL)
        return -ENOMEM;
    link->root = root;
    memcpy(link->name, name, size);
    error = watch_start(watches, &link->user, WATCH_ROOT_PATH, walk->length > 0 ? walk->here : "/",
                        LINK_EVENTS);
    if (error < 0) {
        free(link);
        return error;
    }
    link->next = root->links;
    root->links = link;
    return 0;
}

/* Puts a symbolic link's target in front of what is left to walk. */
static int follow_link(struct walk *walk, const char *target, const char *rest)
{
    char joined[2 * PATH_MAX];
    size_t length = strlen(target), more = strlen(rest);

    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    if (length + 1 + more >= sizeof(joined))
        return -ENAMETOOLONG;
    memcpy(joined, target, length);
    joined[length] = '/';
    memcpy(joined + length + 1, rest, more + 1);
    memcpy(walk->rest, joined, length + more + 2);
    if (target[0] == '/') {
        walk->length = 0;
        walk->here[0] = '\0';
    }
    return 0;
}

static int enter(struct walk *walk, const char *name, size_t size)
{
    if (walk->length + 1 + size >= sizeof(walk->here))
        return -ENAMETOOLONG;
    walk->here[walk->length++] = '/';
    memcpy(walk->here + walk->length, name, size);
    walk->length += size;
    walk->here[walk->length] = '\0';
    return 0;
}

static void leave(struct walk *walk)
{
    while (walk->length > 0 && walk->here[--walk->length] != '/')
        continue;
    walk->here[walk->length] = '\0';
}

/* One name of the path. 1: go on; 0: it ends here, as there is no such thing. */
static int step(struct root *root, struct watches *watches, struct devices *devices,
                struct walk *walk, const char *name, size_t size, const char *rest)
{
    char target[PATH_MAX];
    struct stat status;
    ssize_t length;
    int error = add_link(root, watches, walk, name, size);

    if (error < 0)
        return error;
    error = enter(walk, name, size);
    if (error < 0)
        return error;
    if (lstat(walk->here, &status) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    if (!S_ISLNK(status.st_mode)) {
        if (!device_is_local(devices, status.st_dev, -1, walk->here))
            return -EXDEV;
        memmove(walk->rest, rest, strlen(rest) + 1);
        return 1;
    }
    /* Not readlink(2), which a sandboxed worker may not call. */
    length = readlinkat(AT_FDCWD, walk->here, target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    leave(walk);
    error = follow_link(walk, target, rest);
    return error < 0 ? error : 1;
}

static int walk_to(struct root *root, struct watches *watches, struct devices *devices)
{
    struct walk walk = {.length = 0};
    struct stat status;
    int state = 1;

    if (stat("/", &status) < 0 || !device_is_local(devices, status.st_dev, -1, "/"))
        return -EXDEV;
    memcpy(walk.rest, root->path, root->path_length + 1);
    while (state > 0) {
        const char *name = walk.rest + strspn(walk.rest, "/");
        size_t size = strcspn(name, "/");

        if (size == 0)
            return 0;
        if (size == 1 && name[0] == '.') {
            memmove(walk.rest, name + 1, strlen(name + 1) + 1);
        } else if (size == 2 && name[0] == '.' && name[1] == '.') {
            leave(&walk);
            memmove(walk.rest, name + 2, strlen(name + 2) + 1);
        } else {
            state = step(root, watches, devices, &walk, name, size, name + size);
        }
    }
    return state;
}

static void release(struct root_link *links, struct watches *watches)
{
    while (links != NULL) {
        struct root_link *link = links;

        links = link->next;
        watch_stop(watches, &link->user);
        free(link);
    }
}

/*
 * What is watched already is let go of at the end. The first watch of a directory has the kernel
 * visit all names in it that it remembers, tens of thousands in a /tmp or /home, and every switch
 * of a symbolic link would cost that again.
 */
int root_path_watch(struct root *root, struct watches *watches, struct devices *devices)
{
    struct root_link *former = root->links;
    int error;

    root->links = NULL;
    error = walk_to(root, watches, devices);
    release(former, watches);
    return error;
}

void root_path_release(struct root *root, struct watches *watches)
{
    release(root->links, watches);
    root->links = NULL;
}
