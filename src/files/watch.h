/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_WATCH_H
#define EVIXD_FILES_WATCH_H

/*
 * inotify(7), shared: the kernel has one watch for an inode, while several parts of a store may
 * care about it (a directory that is reached by two roots, a file by two names). A user is one of
 * those parts; a watch lives as long as it has users.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

enum watch_kind {
    WATCH_NONE, /* all zero is a user that watches nothing */
    WATCH_DIRECTORY,
    WATCH_FILE,
    WATCH_SIBLING,
    WATCH_ROOT_PATH,
};

struct watch;

/* Embedded in the part that cares. */
struct watch_user {
    enum watch_kind kind;
    struct watch *watch;
    struct watch_user *next, **link; /* with other users of the watch */
    uint64_t seen;                   /* the event that it was told of last */
};

/* An event for one user. `name` is NULL if it concerns the watched inode itself. */
typedef void watch_event_fn(void *data, struct watch_user *user, uint32_t mask, const char *name);

/* Events were lost: nothing is known any more. */
typedef void watch_overflow_fn(void *data);

struct watches {
    int fd; /* -1: there is no inotify to be had */
    struct watch **buckets;
    size_t bucket_count, count;
    uint64_t events;
    watch_event_fn *on_event;
    watch_overflow_fn *on_overflow;
    void *data;
};

/* 0, -ENOMEM, or the error of inotify_init1(2) (-EMFILE: too many instances of this user). */
int watches_init(struct watches *watches, watch_event_fn *on_event, watch_overflow_fn *on_overflow,
                 void *data);
/* All users must have been stopped. */
void watches_fini(struct watches *watches);

/*
 * Watches what `path` names for the events of `mask` (which may hold IN_ONLYDIR and
 * IN_DONT_FOLLOW), beside those that other users of it asked for. 0, -ENOMEM, or the error of
 * inotify_add_watch(2), as -ENOSPC when the user's limit is reached.
 */
int watch_start(struct watches *watches, struct watch_user *user, enum watch_kind kind,
                const char *path, uint32_t mask);

/*
 * The same for what is open as `fd`, so that no path is walked (which may wait for a disk) and no
 * other file can have slipped in. `path` is used only where there is no /proc.
 */
int watch_start_open(struct watches *watches, struct watch_user *user, enum watch_kind kind, int fd,
                     const char *path, uint32_t mask);

/* Safe in on_event, for any user. Nothing happens if it watches nothing. */
void watch_stop(struct watches *watches, struct watch_user *user);

/* Reads all events that are there, without waiting, and tells the users. */
void watches_drain(struct watches *watches);

#endif
