/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_FRESHNESS_H
#define EVIXD_FILES_FRESHNESS_H

/*
 * The promise that no request meets a file older than itself.
 *
 * The kernel queues a change's event before the system call that made the change returns. So if
 * the queue is read after a request's bytes were received and before its answer is looked up, every
 * change that was finished before the request was sent is known by then. An answer is used only if
 * a watch sees all that it depends on: each directory on its path (names, permissions), and the
 * file itself (content, whatever name it is written through). Whatever else there is (symbolic
 * links on the path, file systems without events, no watch to be had) is looked at again, once a
 * request.
 *
 * No look waits: it takes what the kernel has in memory (openat2(2) with RESOLVE_CACHED), and what
 * is not there, or lies where another side would have to be asked, is found anew by a fill, whose
 * steps are asynchronous. Watches are started through descriptors that are open already.
 *
 * Not seen until the writer closes the file: stores through a shared mapping. Not seen at all:
 * another file system that is mounted over a cached directory; drop the cache then (reload).
 */

#include "files/cache.h"
#include "files/node.h"
#include "files/root.h"
#include "files/sibling.h"
#include "files/store.h"
#include "files/watch.h"

struct freshness {
    enum store_freshness mode; /* STORE_STAT also if inotify is not to be had */
    struct watches watches;
    struct nodes nodes;
    struct cache *cache;
    struct devices *devices;
    struct root **roots; /* of the store */
};

/* STORE_WATCH falls back to STORE_STAT where there is no inotify instance left. 0 or -ENOMEM. */
int freshness_init(struct freshness *freshness, enum store_freshness mode, size_t entries,
                   struct cache *cache, struct devices *devices, struct root **roots);
/* The cache must be empty and the roots' watches stopped. */
void freshness_fini(struct freshness *freshness);

/* Reads all events that came, and removes what they concern. */
void freshness_refresh(struct freshness *freshness);

/* Has the root's path be what it is now, watched if possible. When stale, or before the first. */
void freshness_renew_root(struct freshness *freshness, struct root *root);
void freshness_release_root(struct freshness *freshness, struct root *root);

/* An entry is about to be looked up: hang it where events find it, if that is watched already. */
void freshness_begin(struct freshness *freshness, struct entry *entry);

/*
 * Something was opened, or could not be: have it watched, before its metadata and content are read.
 * `fd` is that of what is no directory, with the device number in entry->stat, else -1.
 */
void freshness_cover(struct freshness *freshness, struct entry *entry, int fd);

/* The same for a sibling of the entry, open as `fd`. */
void freshness_cover_sibling(struct freshness *freshness, struct sibling *sibling,
                             enum coding coding, int fd);

/* The lookup has ended, entry's error and stat are set: may its answer be kept? */
bool freshness_keeps(struct freshness *freshness, struct entry *entry, struct evix_time now);

/* One stat or a few: is what was found still what there is? */
bool freshness_holds(const struct entry *entry);

/* The entry leaves the table. */
void freshness_forget(struct freshness *freshness, struct entry *entry);

#endif
