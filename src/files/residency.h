/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_RESIDENCY_H
#define EVIXD_FILES_RESIDENCY_H

/*
 * What the page cache is believed to hold. The kernel is asked a block at a time, and believed for
 * a moment, so that a hot file costs its questions once for many pieces and many clients. A belief
 * may be wrong: that costs a short stall, never a wrong byte.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files are divided into windows of so many bytes, and one belief is kept of each. */
#define RESIDENCY_WINDOW_BYTES (1024 * 1024)
/* Beliefs at a time: 1 GiB of hot content in 32 KiB. */
#define RESIDENCY_WINDOWS 1024

/* Embedded in what stands for an open file; all zero before the first question. */
struct residency_file {
    uint64_t number;      /* never used again: beliefs of a file that is gone are nobody else's */
    bool never_in_memory; /* its file system can't read from memory alone: tmpfs, overlayfs */
};

struct residency_belief {
    uint64_t file;     /* its number; 0: none */
    uint64_t from, to; /* is in memory */
    uint64_t until_ms;
};

/* All zero believes nothing. */
struct residency {
    struct residency_belief beliefs[RESIDENCY_WINDOWS];
    uint64_t last_number;
    bool no_cachestat; /* the kernel has none, or not for us */
};

/* How many bytes from `from` on are in memory: 0 to `to` - `from`, none beyond the window's end. */
uint64_t residency_length(struct residency *residency, struct residency_file *file, int fd,
                          uint64_t from, uint64_t to, uint64_t now_ms);

/*
 * A range has just been sent from the page cache, so it was there: if no more than that is believed
 * of its window, it is believed anew.
 */
void residency_renew(struct residency *residency, struct residency_file *file, uint64_t from,
                     uint64_t to, uint64_t now_ms);

/* Believes nothing of the window that a byte lies in. */
void residency_forget(struct residency *residency, struct residency_file *file, uint64_t at);

/*
 * Reads what is there without waiting, at most `length` bytes. Returns how many, or 0: nothing, or
 * it can't be told.
 */
size_t residency_read(struct residency_file *file, int fd, void *memory, size_t length,
                      uint64_t offset);

#endif
