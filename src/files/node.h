/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_NODE_H
#define EVIXD_FILES_NODE_H

/*
 * The tree of watched directories beneath each root. An entry hangs on the last directory of its
 * path that there is, by the name that it has in it; the directories above are watched as well, so
 * that a rename anywhere on the path is seen.
 */

#include "files/cache.h"
#include "files/watch.h"

struct freshness;

struct node {
    struct watch_user user;
    struct root *root;
    struct node *parent;          /* NULL: the root itself */
    struct node *next;            /* in its bucket */
    struct node *children;        /* the first */
    struct node *sibling, **link; /* with the parent's other children */
    struct node *idle_next, **idle_link;
    struct entry *entries;
    uint64_t id; /* tells it from an earlier one at the same address */
    uint64_t hash;
    uint64_t device;
    unsigned users; /* entries, children, and who is just walking through */
    bool blind;     /* on a file system that does not tell of changes */
    size_t name_size;
    char name[];
};

struct nodes {
    struct node **buckets;           /* of nodes, by parent and name */
    struct entry **names;            /* of entries, by node and name */
    size_t bucket_count, name_count; /* powers of two */
    size_t count, count_max;
    struct node *idle, **idle_tail; /* without users, the oldest first */
    uint64_t next_id, seed;
};

int nodes_init(struct nodes *nodes, size_t entries);
/* No node must be left. */
void nodes_fini(struct nodes *nodes);

struct node *node_find(const struct nodes *nodes, const struct node *parent, const char *name,
                       size_t size);

/* A directory, open by O_PATH: `name` in `parent`, or a root without one. */
struct node_place {
    struct root *root;
    struct node *parent;
    const char *name;
    size_t size;
    int fd;
    const char *path; /* to it, from the top */
    uint64_t device;
    bool blind;
};

/* Starts watching it, unless it is blind. 0, or the error of inotify_add_watch(2). */
int node_add(struct node **out, struct freshness *freshness, const struct node_place *place);

/* Stops watching it and all below, and removes every entry that hangs there. */
void node_drop(struct freshness *freshness, struct node *node);

/* Someone walks through: it must stay. */
void node_hold(struct nodes *nodes, struct node *node);
void node_release(struct nodes *nodes, struct node *node);

/* Hangs an entry on a node by path[name_at .. name_at + name_size), and takes it off again. */
void node_attach(struct nodes *nodes, struct node *node, struct entry *entry);
void node_detach(struct nodes *nodes, struct entry *entry);

/* The first entry that hangs there by this name, or NULL. */
struct entry *node_entry(const struct nodes *nodes, const struct node *node, const char *name,
                         size_t size);

#endif
