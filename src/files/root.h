/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_ROOT_H
#define EVIXD_FILES_ROOT_H

/*
 * A root directory: the policy for what lies beneath it, and the directory itself as it was last
 * opened. Its path may come to name another directory (a deployment that switches a symbolic link);
 * then it gets another view, while lookups and listings under way keep theirs.
 */

#include <evix/file.h>

#include "files/refusal.h"
#include "files/store.h"
#include "files/watch.h"

struct node;

struct root_view {
    unsigned references;
    int fd; /* O_PATH */
    uint64_t device, inode;
    uint64_t resolve; /* for openat2(2) of what is beneath it */
    bool dotfiles;
};

struct root_view *root_view_ref(struct root_view *view);
/* NULL is fine. */
void root_view_unref(struct root_view **view);

/* A directory on the way to the root that is watched for one name in it. */
struct root_link {
    struct watch_user user;
    struct root_link *next;
    struct root *root;
    char name[];
};

struct root {
    struct root *next; /* of the store */
    struct store *store;
    char *path; /* absolute, no slash at the end; "" is "/" */
    size_t path_length;
    enum root_symlinks symlinks;
    char **index; /* NULL-terminated */
    unsigned index_count;
    size_t index_longest;
    bool dotfiles;
    bool precompressed;

    struct root_view *view; /* NULL: there is none now, `error` says why */
    int error;
    bool stale;              /* its path may name something else by now */
    bool by_stat;            /* which no watch would tell */
    unsigned checked;        /* the store's generation in which that was last looked at */
    struct root_link *links; /* watches on the way to it */
    struct node *node;       /* watch on itself; NULL: none */
};

/* Opens it. 0 or a negative errno. */
int root_new(struct root **out, struct store *store, const struct root_options *options);
/* Its watches must have been stopped. */
void root_free(struct root **root);

/*
 * Opens it anew if the path names another directory by now, or none. Sets view or error; that it
 * fails otherwise than by not being there is logged once, and that it does no longer.
 */
void root_renew(struct root *root);

/* True, and why, if a path can't name anything here whatever the disk says. */
bool root_refuses(const struct root *root, const char *path, size_t length, struct refusal *out);

/* How to open what is beneath; `follow`: through symbolic links, as far as the policy lets. */
void root_how(const struct root *root, bool directory, bool follow, struct evix_open_how *out);

/*
 * Reads metadata of root + path by name, as the path is now. It follows symbolic links wherever
 * they lead: good for comparing, not for answering. 0 or a negative errno; -EAGAIN where it can't
 * be told without waiting for a disk or a network.
 */
int root_stat(const struct root *root, const char *path, size_t length, struct evix_stat *out);

/*
 * Opens a directory beneath the root by O_PATH, without symbolic links and without waiting. The
 * descriptor, or a negative errno: -EAGAIN, -ENOTDIR for a symbolic link, -ENOENT ...
 */
int root_open_directory(const struct root *root, const char *path, size_t length);

/* The same of an open descriptor, from what the kernel has in memory. */
int root_stat_descriptor(int fd, struct evix_stat *out);

/* root + path as text, if it fits: 0 or -ENAMETOOLONG. */
int root_join(const struct root *root, const char *path, size_t length, char *out, size_t size);

#endif
