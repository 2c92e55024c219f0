/* SPDX-License-Identifier: MIT */
/*
 * Shares inotify watches among the parts of a store, and hands events to them.
 * It gives events no meaning: that is freshness.c, its only caller.
 */

#include "files/watch.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUCKETS_MIN 64
#define READ_BYTES  8192
#define EVENT_MAX   (sizeof(struct inotify_event) + NAME_MAX + 1)

struct watch {
    int wd; /* the kernel gives numbers in turn: a freed one does not come back soon */
    struct watch *next;
    struct watch_user *users;
};

int watches_init(struct watches *watches, watch_event_fn *on_event, watch_overflow_fn *on_overflow,
                 void *data)
{
    int error;

    *watches = (struct watches){
        .fd = -1,
        .bucket_count = BUCKETS_MIN,
        .on_event = on_event,
        .on_overflow = on_overflow,
        .data = data,
    };
    watches->buckets = calloc(BUCKETS_MIN, sizeof(struct watch *));
    if (watches->buckets == NULL)
        return -ENOMEM;
    watches->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watches->fd >= 0)
        return 0;
    error = -errno;
    watches_fini(watches);
    return error;
}

void watches_fini(struct watches *watches)
{
    assert(watches->count == 0);
    if (watches->fd >= 0)
        close(watches->fd);
    watches->fd = -1;
    free(watches->buckets);
    watches->buckets = NULL;
}

static struct watch **bucket_of(const struct watches *watches, int wd)
{
    return &watches->buckets[(unsigned)wd & (watches->bucket_count - 1)];
}

static struct watch *find(const struct watches *watches, int wd)
{
    struct watch *watch = *bucket_of(watches, wd);

    while (watch != NULL && watch->wd != wd)
        watch = watch->next;
    return watch;
}

static void grow(struct watches *watches)
{
    struct watch **old = watches->buckets;
    size_t count = watches->bucket_count;

    watches->buckets = calloc(2 * count, sizeof(*old));
    if (watches->buckets == NULL) { /* longer chains, then */
        watches->buckets = old;
        return;
    }
    watches->bucket_count = 2 * count;
    for (size_t i = 0; i < count; i++) {
        struct watch *next;

        for (struct watch *watch = old[i]; watch != NULL; watch = next) {
            struct watch **bucket = bucket_of(watches, watch->wd);

            next = watch->next;
            watch->next = *bucket;
            *bucket = watch;
        }
    }
    free(old);
}

static struct watch *add(struct watches *watches, int wd)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    struct watch **bucket;

    if (watch == NULL)
        return NULL;
    if (watches->count >= watches->bucket_count)
        grow(watches);
    bucket = bucket_of(watches, wd);
    watch->wd = wd;
    watch->next = *bucket;
    *bucket = watch;
    watches->count++;
    return watch;
}

static void drop(struct watches *watches, struct watch *watch)
{
    struct watch **link = bucket_of(watches, watch->wd);

    assert(watch->users == NULL && watches->count > 0);
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    watches->count--;
    /* Fails if the kernel has dropped it already, as with a deleted file. */
    (void)inotify_rm_watch(watches->fd, watch->wd);
    free(watch);
}

int watch_start(struct watches *watches, struct watch_user *user, enum watch_kind kind,
                const char *path, uint32_t mask)
{
    struct watch *watch;
    int wd;

    assert(user->kind == WATCH_NONE);
    if (watches->fd < 0)
        return -ENOSYS;
    wd = inotify_add_watch(watches->fd, path, mask | IN_MASK_ADD);
    if (wd < 0)
        return -errno;
    watch = find(watches, wd);
    if (watch == NULL)
        watch = add(watches, wd);
    if (watch == NULL) {
        (void)inotify_rm_watch(watches->fd, wd);
        return -ENOMEM;
    }
    *user = (struct watch_user){
        .kind = kind,
        .watch = watch,
        .next = watch->users,
        .link = &watch->users,
        .seen = watches->events,
    };
    if (user->next != NULL)
        user->next->link = &user->next;
    watch->users = user;
    return 0;
}

int watch_start_open(struct watches *watches, struct watch_user *user, enum watch_kind kind, int fd,
                     const char *path, uint32_t mask)
{
    char link[32];
    int error;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    error = watch_start(watches, user, kind, link, mask & ~(uint32_t)IN_DONT_FOLLOW);
    return error == -ENOENT ? watch_start(watches, user, kind, path, mask) : error;
}

void watch_stop(struct watches *watches, struct watch_user *user)
{
    if (user->kind == WATCH_NONE)
        return;
    assert(*user->link == user);
    user->kind = WATCH_NONE;
    *user->link = user->next;
    if (user->next != NULL)
        user->next->link = user->link;
    if (user->watch->users == NULL)
        drop(watches, user->watch);
}

/* Users come and go while one of them is told; so start over after each. They are few. */
static struct watch_user *next_user(struct watches *watches, int wd)
{
    struct watch *watch = find(watches, wd);
    struct watch_user *user = watch != NULL ? watch->users : NULL;

    while (user != NULL && user->seen == watches->events)
        user = user->next;
    return user;
}

static void dispatch(struct watches *watches, const struct inotify_event *event)
{
    struct watch_user *user;

    if (event->mask & IN_Q_OVERFLOW) {
        watches->on_overflow(watches->data);
        return;
    }
    watches->events++;
    while ((user = next_user(watches, event->wd)) != NULL) {
        user->seen = watches->events;
        watches->on_event(watches->data, user, event->mask, event->len > 0 ? event->name : NULL);
    }
}

void watches_drain(struct watches *watches)
{
    char buffer[READ_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t length;

    if (watches->fd < 0)
        return;
    do {
        length = read(watches->fd, buffer, sizeof(buffer));
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const void *)(buffer + at);

            dispatch(watches, event);
            at += (ssize_t)(sizeof(*event) + event->len);
        }
        /* Room was left for the largest event, so that was all. */
    } while (length > (ssize_t)(sizeof(buffer) - EVENT_MAX));
}
