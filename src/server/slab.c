/* SPDX-License-Identifier: MIT */
/*
 * Items of one size in blocks, where the block of an item is found by its address.
 * It does not know what the items are. Called by connection.c.
 */
#include "server/slab.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "server/poison.h"

struct slab_item {
    struct slab_item *next;
};

struct slab_block {
    struct slab_block *next, *previous; /* in `roomy`; it is not there when it is full */
    struct slab_item *free;             /* those that were given back */
    char *fresh;                        /* behind it no item was taken: those pages cost nothing */
    size_t used;
};

static struct slab_block *block_of(void *item)
{
    return (struct slab_block *)((uintptr_t)item & ~(uintptr_t)(SLAB_BLOCK_ALIGNMENT - 1));
}

static bool has_fresh(const struct slab *slab, const struct slab_block *block)
{
    return block->fresh + slab->item_bytes <= (const char *)block + SLAB_BLOCK_BYTES;
}

static bool is_full(const struct slab *slab, const struct slab_block *block)
{
    return block->free == NULL && !has_fresh(slab, block);
}

static void link_in(struct slab *slab, struct slab_block *block)
{
    block->previous = NULL;
    block->next = slab->roomy;
    if (block->next != NULL)
        block->next->previous = block;
    slab->roomy = block;
}

static void link_out(struct slab *slab, struct slab_block *block)
{
    if (block->next != NULL)
        block->next->previous = block->previous;
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        slab->roomy = block->next;
}

static struct slab_block *add_block(struct slab *slab)
{
    void *memory;
    struct slab_block *block;

    if (posix_memalign(&memory, SLAB_BLOCK_ALIGNMENT, SLAB_BLOCK_BYTES) != 0)
        return NULL;
    block = memory;
    *block = (struct slab_block){.fresh = (char *)(block + 1)};
    link_in(slab, block);
    return block;
}

static void free_block(struct slab *slab, struct slab_block *block)
{
    link_out(slab, block);
    free(block);
}

void slab_init(struct slab *slab, size_t item_bytes)
{
    size_t rounded = (item_bytes + sizeof(struct slab_item) - 1) & ~(sizeof(struct slab_item) - 1);

    assert(item_bytes > 0 && rounded <= SLAB_BLOCK_BYTES - sizeof(struct slab_block));
    *slab = (struct slab){.item_bytes = rounded};
}

void *slab_take(struct slab *slab)
{
    struct slab_block *block = slab->roomy != NULL ? slab->roomy : add_block(slab);
    struct slab_item *item;

    if (block == NULL)
        return NULL;
    item = block->free;
    if (item != NULL) {
        ASAN_UNPOISON_MEMORY_REGION(item, slab->item_bytes);
        block->free = item->next;
    } else {
        item = (void *)block->fresh;
        block->fresh += slab->item_bytes;
    }
    block->used++;
    if (slab->vacant == block)
        slab->vacant = NULL;
    if (is_full(slab, block))
        link_out(slab, block);
    return item;
}

void slab_give(struct slab *slab, void *memory)
{
    struct slab_block *block = block_of(memory);
    struct slab_item *item = memory;

    if (is_full(slab, block))
        link_in(slab, block);
    item->next = block->free;
    block->free = item;
    ASAN_POISON_MEMORY_REGION(item, slab->item_bytes);
    assert(block->used > 0);
    if (--block->used != 0)
        return;
    /* One is kept, so that a client who comes and goes costs no block each time. */
    if (slab->vacant != NULL)
        free_block(slab, block);
    else
        slab->vacant = block;
}

void slab_fini(struct slab *slab)
{
    if (slab->vacant != NULL)
        free_block(slab, slab->vacant);
}
