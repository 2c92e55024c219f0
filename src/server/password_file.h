/* SPDX-License-Identifier: MIT */
#ifndef SERVER_PASSWORD_FILE_H
#define SERVER_PASSWORD_FILE_H

/*
 * A file of names and hashes, a "NAME:HASH" a line, as it was at one moment: counted and immutable,
 * so that a thread may read it. The counting itself is the loop's thread's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define PASSWORD_FILE_PROBLEMS 8

struct password_problem {
    unsigned line;
    const char *text; /* constant */
};

struct password_entry; /* private */

struct password_file {
    unsigned references;
    uint64_t serial; /* differs where the content does */
    int error;       /* 0, or why there is no content: then nobody is in it */
    struct password_problem problems[PASSWORD_FILE_PROBLEMS]; /* the first lines left out */
    unsigned problem_count;

    struct stat status; /* private, as all below */
    struct timespec read_at;
    char *text;
    size_t length;
    struct password_entry *entries;
    size_t count;
};

/*
 * Reads the file; blocking. NULL without memory; a file that cannot be read has no entries and an
 * error. `before`, or NULL, is how it was: the same content keeps its serial, else it gets
 * `serial`.
 */
struct password_file *password_file_read(const char *path, const struct password_file *before,
                                         uint64_t serial);

/* Whether the file is still as it was read; blocking. */
bool password_file_is_current(const struct password_file *file, const char *path);

/*
 * The hash of the user, or of somebody else: then *out_known is false, and the hash is there so
 * that looking takes no less time. NULL if there is nobody at all.
 */
const char *password_file_find(const struct password_file *file, const char *user, bool *out_known);

void password_file_unref(struct password_file **file);

#endif
