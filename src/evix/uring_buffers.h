/* SPDX-License-Identifier: MIT */
#ifndef EVIX_URING_BUFFERS_H
#define EVIX_URING_BUFFERS_H

/*
 * The provided buffer ring: buffers that the kernel picks from when data arrives, so that a
 * receive that waits holds none. A picked buffer is ours until it is given back. Lives as long as
 * its ring.
 */

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uring_buffers {
    struct io_uring_buf_ring *table; /* shared with the kernel */
    char *memory;
    size_t mapped_bytes;
    uint32_t each_bytes;
    uint32_t count;
    uint32_t offered; /* those that the kernel ever had; it goes round all of them */
    uint64_t given;   /* how often a buffer was given to the kernel */
};

/*
 * `count` is a power of two up to 32768. The one group has the number 0. The kernel takes buffers
 * in turn, so that each one it has costs memory soon: it has few until it was in need of more.
 */
int evix__uring_buffers_open(struct uring_buffers *buffers, struct io_uring *ring, uint32_t count,
                             size_t each_bytes);

/* Gives the kernel twice as many as it had. False if it has all. */
bool evix__uring_buffers_offer_more(struct uring_buffers *buffers);

/* To be called after the ring was closed. */
void evix__uring_buffers_close(struct uring_buffers *buffers);

/* Which buffer a completion picked, from the completion's flags. */
static inline uint16_t uring_buffers_index(uint32_t completion_flags)
{
    return (uint16_t)(completion_flags >> IORING_CQE_BUFFER_SHIFT);
}

static inline char *uring_buffers_data(const struct uring_buffers *buffers, uint16_t index)
{
    return buffers->memory + (size_t)index * buffers->each_bytes;
}

/* Gives a picked buffer back to the kernel. */
void evix__uring_buffers_give(struct uring_buffers *buffers, uint16_t index);

#endif
