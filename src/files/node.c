/* SPDX-License-Identifier: MIT */
/*
 * Keeps the tree of watched directories and what hangs on it.
 * It does not say which event means what: that is freshness.c, its only caller.
 */

#include "files/node.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/freshness.h"
#include "files/hash.h"
#include "files/root.h"

/*
 * What changes the meaning of a name in a directory, or the right to use it. Not IN_MODIFY: files
 * that are cached are watched by themselves, and a log that is written beside them is no concern.
 */
#define DIRECTORY_EVENTS                                                                           \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF |            \
     IN_MOVE_SELF | IN_ONLYDIR)

static size_t power_of_two(size_t at_least)
{
    size_t size = 64;

    while (size < at_least)
        size *= 2;
    return size;
}

int nodes_init(struct nodes *nodes, size_t entries)
{
    *nodes = (struct nodes){
        .bucket_count = power_of_two(entries / 4),
        .name_count = power_of_two(entries),
        .count_max = entries / 2 + 64,
        .seed = hash_seed(),
    };
    nodes->idle_tail = &nodes->idle;
    nodes->buckets = calloc(nodes->bucket_count, sizeof(struct node *));
    nodes->names = calloc(nodes->name_count, sizeof(struct entry *));
    if (nodes->buckets != NULL && nodes->names != NULL)
        return 0;
    nodes_fini(nodes);
    return -ENOMEM;
}

void nodes_fini(struct nodes *nodes)
{
    assert(nodes->count == 0);
    free(nodes->buckets);
    free(nodes->names);
    nodes->buckets = NULL;
    nodes->names = NULL;
}

static uint64_t hash_name(const struct nodes *nodes, const struct node *node, const char *name,
                          size_t size)
{
    return hash_bytes(nodes->seed ^ hash_mix(node->id, size), name, size);
}

struct node *node_find(const struct nodes *nodes, const struct node *parent, const char *name,
                       size_t size)
{
    uint64_t hash = hash_name(nodes, parent, name, size);
    struct node *node = nodes->buckets[hash & (nodes->bucket_count - 1)];

    while (node != NULL && (node->hash != hash || node->parent != parent ||
                            node->name_size != size || memcmp(node->name, name, size) != 0))
        node = node->next;
    return node;
}

static void leave_idle(struct nodes *nodes, struct node *node)
{
    assert(node->users == 0 && *node->idle_link == node);
    *node->idle_link = node->idle_next;
    if (node->idle_next != NULL)
        node->idle_next->idle_link = node->idle_link;
    else
        nodes->idle_tail = node->idle_link;
    node->idle_link = NULL;
}

void node_hold(struct nodes *nodes, struct node *node)
{
    if (node->idle_link != NULL)
        leave_idle(nodes, node);
    node->users++;
}

/* What nobody uses is kept for a while: it is likely to be wanted again. Roots always stay. */
void node_release(struct nodes *nodes, struct node *node)
{
    assert(node->users > 0 && node->idle_link == NULL);
    if (--node->users > 0 || node->parent == NULL)
        return;
    node->idle_next = NULL;
    node->idle_link = nodes->idle_tail;
    *nodes->idle_tail = node;
    nodes->idle_tail = &node->idle_next;
}

static void unlink_node(struct nodes *nodes, struct node *node)
{
    struct node **link = &nodes->buckets[node->hash & (nodes->bucket_count - 1)];

    if (node->idle_link != NULL)
        leave_idle(nodes, node);
    if (node->parent == NULL) {
        node->root->node = NULL;
        return;
    }
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    *node->link = node->sibling;
    if (node->sibling != NULL)
        node->sibling->link = node->link;
    node_release(nodes, node->parent);
}

static void free_node(struct freshness *freshness, struct node *node)
{
    assert(node->children == NULL && node->entries == NULL);
    assert(freshness->nodes.count > 0);
    watch_stop(&freshness->watches, &node->user);
    unlink_node(&freshness->nodes, node);
    freshness->nodes.count--;
    free(node);
}

/* From the leaves up, without recursion: paths may be deep. */
void node_drop(struct freshness *freshness, struct node *top)
{
    struct node *node;

    do {
        for (node = top; node->children != NULL;)
            node = node->children;
        while (node->entries != NULL)
            cache_remove(freshness->cache, node->entries);
        free_node(freshness, node);
    } while (node != top);
}

static void link_node(struct nodes *nodes, struct node *node)
{
    struct node *parent = node->parent, **bucket;

    nodes->count++;
    if (parent == NULL)
        return;
    node->hash = hash_name(nodes, parent, node->name, node->name_size);
    bucket = &nodes->buckets[node->hash & (nodes->bucket_count - 1)];
    node->next = *bucket;
    *bucket = node;
    node->sibling = parent->children;
    node->link = &parent->children;
    if (node->sibling != NULL)
        node->sibling->link = &node->sibling;
    parent->children = node;
    node_hold(nodes, parent);
}

/* Watches are a limited good: the user's other processes want some too. */
static int start_watch(struct freshness *freshness, struct node *node,
                       const struct node_place *place)
{
    struct nodes *nodes = &freshness->nodes;
    uint32_t mask = DIRECTORY_EVENTS | (node->parent != NULL ? IN_DONT_FOLLOW : 0);
    int error;

    while (nodes->count >= nodes->count_max) {
        if (nodes->idle == NULL)
            return -ENOSPC;
        free_node(freshness, nodes->idle);
    }
    if (place->blind)
        return 0;
    do {
        error = watch_start_open(&freshness->watches, &node->user, WATCH_DIRECTORY, place->fd,
                                 place->path, mask);
        if (error != -ENOSPC || nodes->idle == NULL)
            return error;
        free_node(freshness, nodes->idle);
    } while (true);
}

int node_add(struct node **out, struct freshness *freshness, const struct node_place *place)
{
    struct nodes *nodes = &freshness->nodes;
    struct node *parent = place->parent;
    struct node *node = calloc(1, sizeof(*node) + place->size + 1);
    int error;

    *out = NULL;
    if (node == NULL)
        return -ENOMEM;
    node->root = place->root;
    node->parent = parent;
    node->id = ++nodes->next_id;
    node->device = place->device;
    node->blind = place->blind;
    node->name_size = place->size;
    memcpy(node->name, place->name, place->size);
    if (parent != NULL)
        node_hold(nodes, parent); /* pruning must not take it */
    error = start_watch(freshness, node, place);
    if (error == 0) {
        link_node(nodes, node);
        node_hold(nodes, node);
        node_release(nodes, node); /* idle until something hangs on it */
    }
    if (parent != NULL)
        node_release(nodes, parent);
    if (error < 0) {
        free(node);
        return error;
    }
    *out = node;
    return 0;
}

void node_attach(struct nodes *nodes, struct node *node, struct entry *entry)
{
    uint64_t hash = hash_name(nodes, node, entry->path + entry->name_at, entry->name_size);
    struct entry **bucket = &nodes->names[hash & (nodes->name_count - 1)];

    assert(entry->node == NULL && entry->in_table);
    entry->node = node;
    entry->name_next = *bucket;
    entry->name_link = bucket;
    if (entry->name_next != NULL)
        entry->name_next->name_link = &entry->name_next;
    *bucket = entry;
    entry->node_next = node->entries;
    entry->node_link = &node->entries;
    if (entry->node_next != NULL)
        entry->node_next->node_link = &entry->node_next;
    node->entries = entry;
    node_hold(nodes, node);
}

void node_detach(struct nodes *nodes, struct entry *entry)
{
    struct node *node = entry->node;

    if (node == NULL)
        return;
    assert(*entry->name_link == entry && *entry->node_link == entry);
    *entry->name_link = entry->name_next;
    if (entry->name_next != NULL)
        entry->name_next->name_link = entry->name_link;
    *entry->node_link = entry->node_next;
    if (entry->node_next != NULL)
        entry->node_next->node_link = entry->node_link;
    entry->node = NULL;
    node_release(nodes, node);
}

struct entry *node_entry(const struct nodes *nodes, const struct node *node, const char *name,
                         size_t size)
{
    uint64_t hash = hash_name(nodes, node, name, size);
    struct entry *entry = nodes->names[hash & (nodes->name_count - 1)];

    while (entry != NULL && (entry->node != node || entry->name_size != size ||
                             memcmp(entry->path + entry->name_at, name, size) != 0))
        entry = entry->name_next;
    return entry;
}
