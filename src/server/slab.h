/* SPDX-License-Identifier: MIT */
#ifndef SERVER_SLAB_H
#define SERVER_SLAB_H

/*
 * Memory for very many items of one size, without what malloc(3) adds to each. It lies in blocks,
 * apart from what comes and goes beside it, and a block goes back when its last item does.
 */

#include <stddef.h>

/* A block's alignment, and its size but for the header that malloc(3) puts before each. */
#define SLAB_BLOCK_ALIGNMENT 16384
#define SLAB_BLOCK_BYTES     (SLAB_BLOCK_ALIGNMENT - 16)

struct slab_block;

struct slab {
    size_t item_bytes;
    struct slab_block *roomy;  /* those in which an item is free; the first is taken from */
    struct slab_block *vacant; /* one of them that has no item, kept for the next; or NULL */
};

/* Items are aligned as pointers are. */
void slab_init(struct slab *slab, size_t item_bytes);

/* Memory for an item, with whatever was in it; NULL if there is none. */
void *slab_take(struct slab *slab);
void slab_give(struct slab *slab, void *item);

/* After every item has been given back. */
void slab_fini(struct slab *slab);

#endif
