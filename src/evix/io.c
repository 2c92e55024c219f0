/* SPDX-License-Identifier: MIT */
/*
 * Readiness watchers: a table by descriptor, the union of what its watchers want, and who is told.
 * Does not speak to the kernel: a backend's watch() does, and calls evix__io_dispatch().
 * Called by users of the loop, by wake.c and signal.c, and by the backends.
 */
#include "backend.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { BLOCK_SLOTS = 64, BOTH = EVIX_READ | EVIX_WRITE };

/* What is watched on one descriptor. `generation` tells its uses apart. */
struct io_slot {
    struct evix_link watchers;
    unsigned readers, writers; /* how many of them want what */
    unsigned interest;         /* as the backend knows it */
    uint32_t generation;       /* 31 bits */
};

/* ---- the table: it grows by blocks, so that a slot stays where it is while callbacks run ---- */

static int add_block(struct evix_loop *loop, size_t index)
{
    struct io_slot *block = calloc(BLOCK_SLOTS, sizeof(*block));
    if (!block)
        return -ENOMEM;
    for (size_t i = 0; i < BLOCK_SLOTS; i++)
        list_init(&block[i].watchers);
    loop->io.blocks[index] = block;
    return 0;
}

static int grow_table(struct evix_loop *loop, size_t count)
{
    size_t wanted = loop->io.block_count * 2 > count ? loop->io.block_count * 2 : count;
    struct io_slot **blocks = realloc(loop->io.blocks, wanted * sizeof(struct io_slot *));
    if (!blocks)
        return -ENOMEM;
    for (size_t i = loop->io.block_count; i < wanted; i++)
        blocks[i] = NULL;
    loop->io.blocks = blocks;
    loop->io.block_count = wanted;
    return 0;
}

static struct io_slot *slot_find(const struct evix_loop *loop, int fd)
{
    size_t index = (size_t)fd / BLOCK_SLOTS;
    if (index >= loop->io.block_count || !loop->io.blocks[index])
        return NULL;
    return &loop->io.blocks[index][(size_t)fd % BLOCK_SLOTS];
}

static int slot_provide(struct evix_loop *loop, int fd)
{
    size_t index = (size_t)fd / BLOCK_SLOTS;
    if (index >= loop->io.block_count && grow_table(loop, index + 1) < 0)
        return -ENOMEM;
    return loop->io.blocks[index] ? 0 : add_block(loop, index);
}

/* ---- interest ---- */

static uint64_t token_of(int fd, uint32_t generation)
{
    return (uint64_t)(uint32_t)fd << 32 | (uint64_t)generation << 1 | IO_TOKEN_BIT;
}

static void count_wishes(struct io_slot *slot, unsigned was, unsigned wanted)
{
    slot->readers += !!(wanted & EVIX_READ) - !!(was & EVIX_READ);
    slot->writers += !!(wanted & EVIX_WRITE) - !!(was & EVIX_WRITE);
}

/* Tells the backend if the union has changed. */
static int update_interest(struct evix_loop *loop, struct io_slot *slot, int fd)
{
    unsigned wanted = (slot->readers ? EVIX_READ : 0u) | (slot->writers ? EVIX_WRITE : 0u);
    if (wanted == slot->interest)
        return 0;
    if (slot->interest == 0)
        slot->generation = (slot->generation + 1) & INT32_MAX;
    int error =
        loop->backend->watch(loop, fd, slot->interest, wanted, token_of(fd, slot->generation));
    if (error < 0 && wanted != 0)
        return error;
    slot->interest = wanted;
    return 0;
}

void evix_io_init(struct evix_io *io, struct evix_loop *loop, int fd, evix_io_fn *fn)
{
    *io = (struct evix_io){.fn = fn, .fd = fd};
    handle_init(&io->handle, loop, HANDLE_IO);
    list_init(&io->link);
}

int evix_io_start(struct evix_io *io, unsigned events)
{
    struct evix_loop *loop = io->handle.loop;
    if (io->fd < 0)
        return -EBADF;
    if (!(events & BOTH))
        return -EINVAL;
    int error = slot_provide(loop, io->fd);
    if (error < 0)
        return error;

    struct io_slot *slot = slot_find(loop, io->fd);
    unsigned was = evix_is_active(&io->handle) ? io->events : 0;
    count_wishes(slot, was, events);
    error = update_interest(loop, slot, io->fd);
    if (error < 0) {
        count_wishes(slot, events, was);
        return error;
    }
    io->events = events;
    if (!was) {
        list_append(&slot->watchers, &io->link);
        handle_activate(&io->handle);
    }
    return 0;
}

void evix_io_stop(struct evix_io *io)
{
    struct evix_loop *loop = io->handle.loop;
    if (!evix_is_active(&io->handle))
        return;
    struct io_slot *slot = slot_find(loop, io->fd);
    assert(slot);
    count_wishes(slot, io->events, 0);
    list_remove(&io->link);
    handle_stop(&io->handle);
    (void)update_interest(loop, slot, io->fd); /* wanting less cannot fail in a way that matters */
}

/* ---- phase 3 ---- */

static void run_watcher(struct evix_loop *loop, struct evix_io *io, unsigned events)
{
    unsigned hits = events & (io->events | EVIX_HANGUP);
    if (!(hits & BOTH))
        return;
    if (io->handle.kind == HANDLE_INTERNAL) {
        io->fn(io, hits);
        return;
    }
    if (io->events & EVIX_ONE_SHOT)
        evix_io_stop(io);
    TRACE_CALL(loop, HANDLE_IO, io->fn, io, hits);
}

/*
 * A descriptor that was closed and opened anew within the batch has another generation. A watcher
 * that was stopped has left the list, and one that has joined it stands behind the walk's end.
 */
void evix__io_dispatch(struct evix_loop *loop, uint64_t token, unsigned events)
{
    int fd = (int)(token >> 32);
    struct io_slot *slot = slot_find(loop, fd);
    if (!slot || slot->interest == 0 || token_of(fd, slot->generation) != token)
        return;
    struct list_walk walk;
    struct evix_link *link;
    evix__list_walk_begin(&walk, &slot->watchers);
    while ((link = evix__list_walk_next(&walk)))
        run_watcher(loop, EVIX_CONTAINER_OF(link, struct evix_io, link), events);
}

/* The kernel is not told: it forgets with the backend's descriptor. */
static void free_block(struct io_slot *block)
{
    for (size_t i = 0; i < BLOCK_SLOTS; i++)
        while (!list_is_empty(&block[i].watchers)) {
            struct evix_link *link = block[i].watchers.next;
            list_remove(link);
            handle_stop(&EVIX_CONTAINER_OF(link, struct evix_io, link)->handle);
        }
    free(block);
}

void evix__io_fini(struct evix_loop *loop)
{
    for (size_t i = 0; i < loop->io.block_count; i++)
        if (loop->io.blocks[i])
            free_block(loop->io.blocks[i]);
    free(loop->io.blocks);
}
