/* SPDX-License-Identifier: MIT */
/*
 * The provided buffer ring: maps it, registers it with the ring, gives buffers back.
 * Does not decide who waits for a buffer, nor what is done when none is left.
 * Called by backend_uring.c.
 */
#include "uring_buffers.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GROUP = 0, COUNT_MAX = 32768, OFFERED_AT_FIRST = 64 };

/*
 * One mapping: the table, then the buffers, each a whole number of pages. Pages that no receive
 * ever filled cost nothing. A child made by fork(2) has no business with it: without DONTFORK the
 * parent could find itself writing to a copy of the page that the kernel reads.
 */
static int map_memory(struct uring_buffers *buffers, uint32_t count, size_t each_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t table = (count * sizeof(struct io_uring_buf) + page - 1) & ~(page - 1);
    size_t each = (each_bytes + page - 1) & ~(page - 1);
    size_t all;
    if (each < each_bytes || each > INT32_MAX || __builtin_mul_overflow(each, count, &all) ||
        __builtin_add_overflow(all, table, &all))
        return -EINVAL;
    void *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    (void)!madvise(memory, all, MADV_DONTFORK);
    buffers->table = memory;
    buffers->memory = (char *)memory + table;
    buffers->mapped_bytes = all;
    buffers->each_bytes = (uint32_t)each;
    buffers->count = count;
    return 0;
}

/* Both numbers are powers of two. */
static void offer(struct uring_buffers *buffers, uint32_t count)
{
    while (buffers->offered < count)
        evix__uring_buffers_give(buffers, (uint16_t)buffers->offered++);
}

int evix__uring_buffers_open(struct uring_buffers *buffers, struct io_uring *ring, uint32_t count,
                             size_t each_bytes)
{
    *buffers = (struct uring_buffers){0};
    if (count == 0 || count > COUNT_MAX || (count & (count - 1)) != 0 || each_bytes == 0)
        return -EINVAL;
    int error = map_memory(buffers, count, each_bytes);
    if (error < 0)
        return error;

    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)buffers->table, .ring_entries = count, .bgid = GROUP};
    error = io_uring_register_buf_ring(ring, &registration, 0);
    if (error < 0) {
        evix__uring_buffers_close(buffers);
        return error == -EINVAL ? -ENOSYS : error; /* before 5.19 it is not known */
    }
    offer(buffers, count < OFFERED_AT_FIRST ? count : OFFERED_AT_FIRST);
    return 0;
}

bool evix__uring_buffers_offer_more(struct uring_buffers *buffers)
{
    if (buffers->offered == buffers->count)
        return false;
    offer(buffers, 2 * buffers->offered);
    return true;
}

void evix__uring_buffers_close(struct uring_buffers *buffers)
{
    if (buffers->table)
        munmap(buffers->table, buffers->mapped_bytes);
    *buffers = (struct uring_buffers){0};
}

void evix__uring_buffers_give(struct uring_buffers *buffers, uint16_t index)
{
    assert(index < buffers->count);
    io_uring_buf_ring_add(buffers->table, uring_buffers_data(buffers, index), buffers->each_bytes,
                          index, io_uring_buf_ring_mask(buffers->count), 0);
    io_uring_buf_ring_advance(buffers->table, 1);
    buffers->given++;
}
