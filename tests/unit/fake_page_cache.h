/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_FAKE_PAGE_CACHE_H
#define TESTS_UNIT_FAKE_PAGE_CACHE_H

/*
 * A page cache that the test rules. What is in the kernel's depends on its read-ahead, on its file
 * system and on everything else that runs; so preadv2(2) with RWF_NOWAIT, by which src/files asks,
 * is answered by the test, and what was asked is kept. All other reads are real ones.
 */

#include <stddef.h>
#include <stdint.h>

/* What is in memory from now on: this range alone. Forgets what was asked. */
void pages_are(uint64_t from, uint64_t to);

/* Reading from memory alone fails, as on a file system that can't. Forgets what was asked. */
void pages_are_not_told(void);

/* The kernel answers again. It does so at the start. */
void pages_are_the_kernels(void);

/* How often it was asked since, and the offset of the last byte of each question, oldest first. */
size_t pages_asked(void);
uint64_t pages_asked_last_byte(size_t number);

#endif
