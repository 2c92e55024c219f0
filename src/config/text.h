/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_TEXT_H
#define CONFIG_TEXT_H

/*
 * The text that libconfig parses: a file with its includes in place, and a map from its lines back
 * to the files.
 *
 * libconfig has includes of its own; they are not used, since 1.5 (Debian 12) takes relative paths
 * from the working directory, puts its folder before absolute ones, and ends the process when the
 * included path is a directory. Two more things that it lets through silently are seen to here: an
 * integer beyond 32 bits wraps around (the letter that makes it 64 bits wide is put behind it),
 * and a comment that is never closed swallows the rest of the file (an error).
 */

#include <stdbool.h>
#include <stddef.h>

struct config_arena;
struct errors;

/* Of one file, and of all together. */
#define TEXT_LIMIT_BYTES (1024 * 1024)

/* How deep includes may go: as libconfig has it. */
#define TEXT_DEPTH 10

/* From line on, the text is that of file from file_line on. */
struct text_segment {
    unsigned line;
    const char *file;
    unsigned file_line;
};

struct text {
    struct config_arena *arena; /* of the names of files and of all below */
    char *bytes;                /* NUL-terminated */
    size_t length;
    size_t capacity;
    unsigned line; /* that is being added to */
    bool broken;   /* something is never closed, or out of place: parsing it would tell no more */
    struct text_segment *segments;
    size_t segment_count;
    size_t segment_capacity;
};

/* The arena must live as long as the text. */
void text_init(struct text *text, struct config_arena *arena);

/* Adds a file's content (name is copied) with what it includes; what is wrong goes to errors. */
void text_add(struct text *text, const char *name, const char *bytes, size_t length,
              struct errors *errors);

/* The same, reading the file. Returns 0, or the error with which path itself could not be read;
 * that is added to errors, too. */
int text_add_file(struct text *text, const char *path, struct errors *errors);

/* The file and its line that a line of the joined text came from. */
const char *text_place(const struct text *text, unsigned line, unsigned *out_line);

#endif
