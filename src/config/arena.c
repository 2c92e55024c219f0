/* SPDX-License-Identifier: MIT */
/*
 * Allocates the pieces of a configuration and frees them together.
 * Does not reuse a piece: a configuration only grows, and is small.
 * Called by the whole room.
 */
#include "config/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One malloc a piece keeps valgrind and AddressSanitizer able to see each overrun; a configuration
 * has some hundreds of pieces, so nothing is gained by packing them. */
struct piece {
    struct piece *next;
    max_align_t bytes[];
};

struct config_arena {
    struct piece *pieces;
};

struct config_arena *arena_new(void)
{
    return calloc(1, sizeof(struct config_arena));
}

void arena_free(struct config_arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->pieces != NULL) {
        struct piece *piece = arena->pieces;

        arena->pieces = piece->next;
        free(piece);
    }
    free(arena);
}

void *arena_array(struct config_arena *arena, size_t count, size_t size)
{
    struct piece *piece;
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(*piece), &bytes))
        return NULL;
    piece = calloc(1, bytes);
    if (piece == NULL)
        return NULL;
    piece->next = arena->pieces;
    arena->pieces = piece;
    return piece->bytes;
}

char *arena_copy(struct config_arena *arena, const char *text, size_t length)
{
    char *copy = arena_array(arena, length + 1, 1);

    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

char *arena_string(struct config_arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

char *arena_print(struct config_arena *arena, const char *format, ...)
{
    va_list list;
    char *text;
    int length;

    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0)
        return NULL;
    text = arena_array(arena, (size_t)length + 1, 1);
    if (text == NULL)
        return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}
