/* SPDX-License-Identifier: MIT */
/*
 * The freshness rule: what to watch for an answer, what an event makes untrue, what to look at
 * again because no watch can see it. It opens and reads nothing.
 * Called by the store (events), lookup.c (is it still true?) and fill.c (what to watch).
 */

#include "files/freshness.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/device.h"
#include "files/root_path.h"
#include "files/validator.h"

/* IN_CLOSE_WRITE for those who write through a mapping, which by itself raises no event. */
#define FILE_EVENTS                                                                                \
    (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW)

#define NAME_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)

/* ---- events ---- */

static void drop_name(struct freshness *freshness, const struct node *node, const char *name,
                      size_t size)
{
    struct entry *entry;

    while ((entry = node_entry(&freshness->nodes, node, name, size)) != NULL)
        cache_remove(freshness->cache, entry);
}

static bool name_is_index(const struct root *root, const char *name, size_t size)
{
    for (unsigned i = 0; i < root->index_count; i++)
        if (strlen(root->index[i]) == size && memcmp(root->index[i], name, size) == 0)
            return true;
    return false;
}

/* Those that depend on the name, also as the index file of its directory. */
static void drop_answers(struct freshness *freshness, const struct node *node, const char *name,
                         size_t size)
{
    drop_name(freshness, node, name, size);
    if (name_is_index(node->root, name, size))
        drop_name(freshness, node, "", 0);
}

static void drop_directory(struct freshness *freshness, struct node *node)
{
    if (node->parent == NULL)
        node->root->stale = true;
    node_drop(freshness, node);
}

static void on_directory_event(struct freshness *freshness, struct node *node, uint32_t mask,
                               const char *name)
{
    struct node *child;
    size_t base;

    if (name == NULL) { /* moved, deleted, other permissions, unmounted */
        drop_directory(freshness, node);
        return;
    }
    if ((mask & NAME_EVENTS) == 0)
        return;
    drop_answers(freshness, node, name, strlen(name));
    if (node->root->precompressed && (base = coding_base(name, strlen(name))) > 0)
        drop_answers(freshness, node, name, base);
    child = node_find(&freshness->nodes, node, name, strlen(name));
    if (child != NULL)
        node_drop(freshness, child);
}

static void on_root_path_event(struct freshness *freshness, struct root_link *link,
                               const char *name)
{
    struct root *root = link->root;

    if (name != NULL && strcmp(name, link->name) != 0)
        return;
    root->stale = true;
    if (root->node != NULL)
        node_drop(freshness, root->node);
}

static void on_event(void *data, struct watch_user *user, uint32_t mask, const char *name)
{
    struct freshness *freshness = data;

    switch (user->kind) {
    case WATCH_DIRECTORY:
        on_directory_event(freshness, EVIX_CONTAINER_OF(user, struct node, user), mask, name);
        break;
    case WATCH_FILE:
        cache_remove(freshness->cache, EVIX_CONTAINER_OF(user, struct entry, file));
        break;
    case WATCH_SIBLING:
        cache_remove(freshness->cache, EVIX_CONTAINER_OF(user, struct sibling, user)->entry);
        break;
    case WATCH_ROOT_PATH:
        if (name == NULL || (mask & NAME_EVENTS) != 0)
            on_root_path_event(freshness, EVIX_CONTAINER_OF(user, struct root_link, user), name);
        break;
    case WATCH_NONE:
        assert(!"a user without a watch was told of an event");
    }
}

static void on_overflow(void *data)
{
    struct freshness *freshness = data;

    cache_clear(freshness->cache);
    for (struct root *root = *freshness->roots; root != NULL; root = root->next) {
        root->stale = true;
        if (root->node != NULL)
            node_drop(freshness, root->node);
    }
}

void freshness_refresh(struct freshness *freshness)
{
    if (freshness->mode == STORE_WATCH)
        watches_drain(&freshness->watches);
}

/* ---- life ---- */

int freshness_init(struct freshness *freshness, enum store_freshness mode, size_t entries,
                   struct cache *cache, struct devices *devices, struct root **roots)
{
    int error;

    *freshness = (struct freshness){
        .mode = mode, .cache = cache, .devices = devices, .roots = roots, .watches.fd = -1};
    if (mode != STORE_WATCH)
        return 0;
    error = nodes_init(&freshness->nodes, entries);
    if (error < 0)
        return error;
    error = watches_init(&freshness->watches, on_event, on_overflow, freshness);
    if (error == 0)
        return 0;
    nodes_fini(&freshness->nodes);
    if (error == -ENOMEM)
        return error;
    freshness->mode = STORE_STAT;
    return 0;
}

void freshness_fini(struct freshness *freshness)
{
    if (freshness->mode != STORE_WATCH)
        return;
    watches_fini(&freshness->watches);
    nodes_fini(&freshness->nodes);
}

/* By a descriptor, so that no path is walked that might have to wait. */
static int add_node(struct freshness *freshness, struct root *root, struct node *parent,
                    const char *path, size_t from, size_t to, struct node **out)
{
    struct node_place place = {
        .root = root, .parent = parent, .name = path + from, .size = to - from};
    char whole[PATH_MAX];
    struct evix_stat stat;
    int error = root_join(root, path, to, whole, sizeof(whole));

    if (error < 0)
        return error;
    place.path = whole[0] != '\0' ? whole : "/";
    place.fd = root_open_directory(root, path, to);
    if (place.fd < 0)
        return place.fd;
    error = root_stat_descriptor(place.fd, &stat);
    if (error == 0) {
        place.device = stat.device;
        place.blind = !device_is_local(freshness->devices, stat.device, place.fd, NULL);
        error = node_add(out, freshness, &place);
    }
    close(place.fd);
    return error;
}

void freshness_renew_root(struct freshness *freshness, struct root *root)
{
    if (root->node != NULL)
        node_drop(freshness, root->node);
    assert(root->node == NULL);
    root->stale = false;
    /* The way to it first, so that what is found at its end can't change without a word. */
    root->by_stat = freshness->mode != STORE_WATCH ||
                    root_path_watch(root, &freshness->watches, freshness->devices) < 0;
    root_renew(root);
    if (root->view == NULL)
        root->stale = true; /* not there: look again each time that somebody asks */
    else if (!root->by_stat && add_node(freshness, root, NULL, "", 0, 0, &root->node) < 0)
        root->by_stat = true;
    if (root->node != NULL && root->node->blind) {
        node_drop(freshness, root->node);
        root->by_stat = true;
    }
}

void freshness_release_root(struct freshness *freshness, struct root *root)
{
    if (root->node != NULL)
        node_drop(freshness, root->node);
    root_path_release(root, &freshness->watches);
}

/* ---- watching an answer ---- */

/*
 * Walks down the watched directories of the entry's path, and sets by which name the entry depends
 * on the last of them. With `add` what lacks is watched, as far as there are directories. NULL: it
 * is not all watched (yet).
 */
static struct node *descend(struct freshness *freshness, struct entry *entry, bool add)
{
    struct node *node = entry->root->node, *child;
    const char *path = entry->path;
    size_t at = 1;

    while (node != NULL && !node->blind) {
        const char *slash = memchr(path + at, '/', entry->path_length - at);
        size_t to = slash != NULL ? (size_t)(slash - path) : entry->path_length;
        int error = 0;

        entry->name_at = at;
        entry->name_size = to - at;
        if (slash == NULL)
            return node;
        child = node_find(&freshness->nodes, node, path + at, to - at);
        if (child == NULL && !add)
            return NULL;
        if (child == NULL)
            error = add_node(freshness, entry->root, node, path, at, to, &child);
        if (error == -ENOENT || error == -ENOTDIR)
            return node; /* so far there are directories; the next name decides */
        if (error < 0)
            return NULL;
        node = child;
        at = to + 1;
    }
    return NULL;
}

void freshness_begin(struct freshness *freshness, struct entry *entry)
{
    struct node *node;

    entry->by_stat = freshness->mode != STORE_WATCH || entry->root->by_stat;
    if (entry->by_stat || !entry->in_table)
        return;
    node = descend(freshness, entry, false);
    if (node != NULL)
        node_attach(&freshness->nodes, node, entry);
}

/*
 * The path that the entry's answer was opened by: with the index file's name, if it is one, and the
 * suffix of a sibling.
 */
static size_t target(const struct entry *entry, unsigned index, enum coding coding,
                     char out[CACHE_TARGET_BYTES])
{
    const struct root *root = entry->root;
    size_t length = entry->path_length;

    assert(length <= PATH_MAX);
    memcpy(out, entry->path, length);
    if (out[length - 1] == '/' && index < root->index_count) {
        size_t more = strlen(root->index[index]);

        assert(length + more <= PATH_MAX + NAME_MAX);
        memcpy(out + length, root->index[index], more);
        length += more;
    }
    strcpy(out + length, coding_suffix(coding));
    return length + strlen(coding_suffix(coding));
}

/* A file that was opened for the entry, or a sibling of it. */
static int watch_file(struct freshness *freshness, const struct entry *entry, enum coding coding,
                      int fd, struct watch_user *user)
{
    char path[CACHE_TARGET_BYTES], whole[PATH_MAX];
    size_t length = target(entry, entry->index_tried, coding, path);
    int error = root_join(entry->root, path, length, whole, sizeof(whole));
    enum watch_kind kind = coding == CODING_NONE ? WATCH_FILE : WATCH_SIBLING;

    if (error < 0)
        return error;
    return watch_start_open(&freshness->watches, user, kind, fd, whole, FILE_EVENTS);
}

/* Whether its file system tells of changes. */
static bool is_told(const struct freshness *freshness, const struct entry *entry, uint64_t device,
                    int fd)
{
    return device == entry->node->device || device_is_local(freshness->devices, device, fd, NULL);
}

void freshness_cover_sibling(struct freshness *freshness, struct sibling *sibling,
                             enum coding coding, int fd)
{
    struct entry *entry = sibling->entry;
    struct evix_stat stat;

    if (!entry->in_table || entry->by_stat || sibling->user.kind != WATCH_NONE)
        return;
    if (root_stat_descriptor(fd, &stat) < 0 || !is_told(freshness, entry, stat.device, fd) ||
        watch_file(freshness, entry, coding, fd, &sibling->user) < 0)
        entry->by_stat = true;
}

void freshness_cover(struct freshness *freshness, struct entry *entry, int fd)
{
    struct node *node;

    if (!entry->in_table || entry->by_stat)
        return;
    if (entry->node == NULL) {
        /* What happened since it was opened has left no event: so look at it again in the end. */
        entry->doubtful = true;
        node = descend(freshness, entry, true);
        if (node == NULL) {
            entry->by_stat = true;
            return;
        }
        node_attach(&freshness->nodes, node, entry);
    }
    if (fd >= 0 && entry->file.kind == WATCH_NONE &&
        (!is_told(freshness, entry, entry->stat.device, fd) ||
         watch_file(freshness, entry, CODING_NONE, fd, &entry->file) < 0))
        entry->by_stat = true;
}

/* A change within the grain of time stamps could leave the entry as it is. */
static bool is_racy(const struct entry *entry, struct evix_time now)
{
    if (entry->error != 0 || !S_ISREG(entry->stat.mode))
        return false;
    for (size_t i = 0; entry->siblings != NULL && i < CODING_COUNT; i++)
        if (entry->siblings[i].error == 0 && validator_is_racy(&entry->siblings[i].stat, now))
            return true;
    return validator_is_racy(&entry->stat, now);
}

bool freshness_keeps(struct freshness *freshness, struct entry *entry, struct evix_time now)
{
    bool comparable = entry->error == 0 || entry->error == -ENOENT || entry->error == -ENOTDIR;

    if (!entry->in_table || freshness->mode == STORE_OFF)
        return false;
    if (!entry->by_stat && !entry->doubtful)
        return true;
    /* Other errors can't be told from here without opening it. */
    if (!comparable || entry->siblings_unsure)
        return false;
    if (entry->by_stat)
        return !is_racy(entry, now);
    entry->doubtful = false;
    return freshness_holds(entry);
}

static bool same_time(struct evix_time a, struct evix_time b)
{
    return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

static bool same_file(const struct evix_stat *a, const struct evix_stat *b)
{
    if (a->device != b->device || a->inode != b->inode || a->mode != b->mode)
        return false;
    /* Of directories and what is not served no more is told than that they are there. */
    return !S_ISREG(a->mode) || (a->size == b->size && same_time(a->modified, b->modified) &&
                                 same_time(a->changed, b->changed));
}

static bool siblings_hold(const struct entry *entry)
{
    char path[CACHE_TARGET_BYTES];

    for (enum coding i = CODING_NONE + 1; i < CODING_COUNT; i++) {
        const struct sibling *sibling = entry->siblings != NULL ? &entry->siblings[i] : NULL;
        size_t length = target(entry, entry->index_tried, i, path);
        struct evix_stat stat;
        int error;

        if (sibling != NULL && sibling->error == -ENAMETOOLONG)
            continue; /* and always will be */
        error = root_stat(entry->root, path, length, &stat);
        if (error != (sibling != NULL ? sibling->error : -ENOENT) ||
            (error == 0 && !same_file(&stat, &sibling->stat)))
            return false;
    }
    return true;
}

bool freshness_holds(const struct entry *entry)
{
    char path[CACHE_TARGET_BYTES];
    struct evix_stat stat;
    size_t length;
    int error;

    for (unsigned i = 0; i < entry->index_tried; i++) {
        length = target(entry, i, CODING_NONE, path);
        error = root_stat(entry->root, path, length, &stat);
        if (error == 0 ? !S_ISDIR(stat.mode) : error != -ENOENT)
            return false;
    }
    length = target(entry, entry->index_tried, CODING_NONE, path);
    error = root_stat(entry->root, path, length, &stat);
    if (error != entry->error || (error == 0 && !same_file(&stat, &entry->stat)))
        return false;
    return !entry->sought_siblings || siblings_hold(entry);
}

void freshness_forget(struct freshness *freshness, struct entry *entry)
{
    if (freshness->mode != STORE_WATCH)
        return;
    watch_stop(&freshness->watches, &entry->file);
    for (size_t i = 0; entry->siblings != NULL && i < CODING_COUNT; i++)
        watch_stop(&freshness->watches, &entry->siblings[i].user);
    node_detach(&freshness->nodes, entry);
}
