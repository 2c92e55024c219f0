/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_ARENA_H
#define CONFIG_ARENA_H

/*
 * Memory with one owner and one end: what a configuration consists of is allocated piece by piece
 * and freed at once. Pieces are zeroed, aligned for any type, and never move.
 */

#include <stddef.h>

struct config_arena;

/* NULL without memory. */
struct config_arena *arena_new(void);
void arena_free(struct config_arena *arena);

/* count elements of size bytes each, all zero; NULL without memory or if the product overflows.
 * For a count of 0 the result is not NULL and must not be read. */
void *arena_array(struct config_arena *arena, size_t count, size_t size);

/* A copy of length bytes with a NUL behind. */
char *arena_copy(struct config_arena *arena, const char *text, size_t length);
char *arena_string(struct config_arena *arena, const char *text);
char *arena_print(struct config_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
