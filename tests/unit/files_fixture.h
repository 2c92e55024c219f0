/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_FILES_FIXTURE_H
#define TESTS_UNIT_FILES_FIXTURE_H

/*
 * What the tests of src/files share: a temporary directory, a store with one root in it on a loop
 * of its own, and asking it for a path as a request would.
 */

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "files/interior.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

struct place {
    char path[128];   /* the temporary directory */
    char folder[160]; /* the root in it */
    struct evix_loop *loop;
    struct store_options options;
    struct store *store;
    struct root *root;
};

/*
 * Runs test cases named `name` in processes of their own, and returns main's result. Places that a
 * failed case has left open are closed after it.
 */
int files_run(const char *name, TCase *tcase);

/*
 * The same for tests that open files beneath a root: without openat2(2), which valgrind 3.19 does
 * not know, they are skipped. They run twice: on the best backend that there is, and on poll with
 * file operations in threads.
 */
int files_run_beneath(const char *name, TCase *tcase);

/* The directory alone, with "root" in it; and its removal with all that it holds. */
void place_make(struct place *place);
void place_remove(struct place *place);

/* A store with root "root", index files index.html and index.htm. */
void place_open(struct place *place, enum store_freshness freshness);
void place_open_with(struct place *place, const struct store_options *options,
                     const struct root_options *root);
/* Frees it all, and sees that nothing was left behind: descriptors, loop, directory. */
void place_close(struct place *place);

/* Sensible options, to be changed before place_open_with(). */
struct store_options place_options(enum store_freshness freshness);
struct root_options place_root_options(struct place *place);

/* Below `folder`: all as if by hand of an administrator. */
const char *place_path(struct place *place, const char *name);
void place_write(struct place *place, const char *name, const char *text);
void place_fill(struct place *place, const char *name, size_t size, unsigned seed);
void place_directory(struct place *place, const char *name);
void place_rename(struct place *place, const char *from, const char *to);
void place_unlink(struct place *place, const char *name);

/*
 * More changes of attributes in the root than inotify's queue holds, which is a setting of the
 * system. False: it holds so many that a test would take minutes, and nothing was done.
 */
bool place_overflow_queue(struct place *place);

/* A request for the path: refresh, look up, run the loop until it is answered. */
struct representation *place_ask(struct place *place, const char *path);

/* The same, and compares the answer: content of a file, or the status of an absence. */
void place_expect(struct place *place, const char *path, const char *text);
void place_expect_status(struct place *place, const char *path, int status);
void place_expect_kind(struct place *place, const char *path, enum representation_kind kind);

/* All of a file's content, NUL-terminated; the caller frees it. */
char *file_content(const struct representation *file);

/* What a body gives, until its end or failure (*error). The caller frees it. */
char *body_read(struct place *place, struct body *body, size_t *length, int *error);

size_t open_descriptors(void);

#endif
