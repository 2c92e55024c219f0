/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel what of a file is in the page cache, and remembers the answers for a moment.
 * It does not read what is missing, though asking may have the kernel do so.
 * Called by body_file.c.
 */

#include "files/residency.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * One byte speaks for the block that it ends. What the kernel reads ahead is on its way in blocks
 * of this size or larger, and comes in order.
 */
#define BLOCK_BYTES (64 * 1024)
/* Pages leave the cache by the second, not faster. */
#define BELIEVED_MS 100

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum presence { ABSENT, PRESENT, UNKNOWN };

/* cachestat(2), Linux 6.5: are there pages for all of the range, even if still being read? */
static enum presence probe_pages(struct residency *residency, int fd, uint64_t from, uint64_t to)
{
    struct {
        uint64_t offset, length;
    } range = {from, to - from};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (residency->no_cachestat)
        return UNKNOWN;
    if (syscall(SYS_cachestat, fd, &range, &pages, 0) < 0) {
        /* No such call, or (since 6.13) only for who may write the file: then don't ask again. */
        residency->no_cachestat = errno == ENOSYS || errno == EPERM;
        return UNKNOWN;
    }
    return pages.cached >= (to - 1) / page - from / page + 1 ? PRESENT : ABSENT;
}

size_t residency_read(struct residency_file *file, int fd, void *memory, size_t length,
                      uint64_t offset)
{
    struct iovec iov = {memory, length};
    ssize_t got;

    if (file->never_in_memory)
        return 0;
    got = preadv2(fd, &iov, 1, (off_t)offset, RWF_NOWAIT);
    if (got < 0 && errno == EOPNOTSUPP)
        file->never_in_memory = true;
    return got < 0 ? 0 : (size_t)got; /* old kernels gave 0 without reason */
}

/* Reads a byte if that needs no waiting. */
static enum presence probe_byte(struct residency_file *file, int fd, uint64_t at)
{
    char byte;

    if (residency_read(file, fd, &byte, 1, at) == 1)
        return PRESENT;
    return file->never_in_memory ? UNKNOWN : ABSENT;
}

/*
 * How much from `from` on is in memory, as far as its blocks' last bytes tell. A byte that is not
 * there is being read from then on: so they are asked for in order, and none behind a missing one.
 * (Asked first, the end would be there first, and hide what is missing before it.)
 */
static uint64_t probe_blocks(struct residency_file *file, int fd, uint64_t from, uint64_t to)
{
    uint64_t at = from;

    while (at < to) {
        uint64_t end = at - at % BLOCK_BYTES + BLOCK_BYTES;

        if (end > to)
            end = to;
        if (probe_byte(file, fd, end - 1) != PRESENT)
            break;
        at = end;
    }
    return at - from;
}

/* The bytes tell what is still on its way, the pages whether there are holes. */
static uint64_t probe(struct residency *residency, struct residency_file *file, int fd,
                      uint64_t from, uint64_t to)
{
    uint64_t length = probe_blocks(file, fd, from, to);

    if (file->never_in_memory)
        return probe_pages(residency, fd, from, to) == PRESENT ? to - from : 0;
    return length == 0 || probe_pages(residency, fd, from, from + length) == ABSENT ? 0 : length;
}

/* Neighbouring windows have neighbouring places, and files begin anywhere. */
static struct residency_belief *belief_of(struct residency *residency, struct residency_file *file,
                                          uint64_t window)
{
    if (file->number == 0)
        file->number = ++residency->last_number;
    uint64_t start = file->number * 0x9e3779b97f4a7c15 >> 32; /* Fibonacci hashing */
    return &residency->beliefs[(start + window) % RESIDENCY_WINDOWS];
}

void residency_renew(struct residency *residency, struct residency_file *file, uint64_t from,
                     uint64_t to, uint64_t now_ms)
{
    struct residency_belief *belief = belief_of(residency, file, from / RESIDENCY_WINDOW_BYTES);

    if (belief->file == file->number && from <= belief->from && to >= belief->to)
        belief->until_ms = now_ms + BELIEVED_MS;
}

void residency_forget(struct residency *residency, struct residency_file *file, uint64_t at)
{
    struct residency_belief *belief = belief_of(residency, file, at / RESIDENCY_WINDOW_BYTES);

    if (belief->file == file->number)
        belief->file = 0;
}

uint64_t residency_length(struct residency *residency, struct residency_file *file, int fd,
                          uint64_t from, uint64_t to, uint64_t now_ms)
{
    uint64_t window = from / RESIDENCY_WINDOW_BYTES;
    uint64_t end = (window + 1) * RESIDENCY_WINDOW_BYTES;
    struct residency_belief *belief = belief_of(residency, file, window);

    if (to > end)
        to = end;
    if (belief->file != file->number || now_ms >= belief->until_ms || from < belief->from ||
        from > belief->to)
        *belief = (struct residency_belief){
            .file = file->number, .from = from, .to = from, .until_ms = now_ms + BELIEVED_MS};
    if (to > belief->to)
        belief->to += probe(residency, file, fd, belief->to, to);
    return (to < belief->to ? to : belief->to) - from;
}
