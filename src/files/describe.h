/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_DESCRIBE_H
#define EVIXD_FILES_DESCRIBE_H

/* Making representations; representation.h is what the others see of them. */

#include <evix/file.h>

#include "files/representation.h"
#include "files/store.h"

struct root_view;

/* Each gives a new one with one reference, or NULL without memory. */
struct representation *representation_absent(int status, int error, const char *reason);
struct representation *representation_redirect(void);
/* Takes over the descriptor; holds a reference of its own on the view. */
struct representation *representation_directory(int fd, struct root_view *view);
/* Of a file, with room for so many bytes of content, or with the descriptor, which it takes over.
 */
struct representation *representation_file(size_t bytes, int fd);

/* Where the content of a small file goes before it is described. */
char *representation_content(struct representation *file);

struct description {
    const struct evix_stat *stat;
    uint64_t sample; /* of the content, if that is not in memory */
    struct evix_time now;
    const char *media_type;
    store_date_fn *format_date;
    enum coding coding;
    unsigned siblings;
    bool is_negotiated;
    const char *path; /* with siblings; without the slash that it begins with */
};

/*
 * Completes a file: validators, media type, the prebuilt fields. It may move, so it must not be
 * shared yet.
 */
void representation_describe(struct representation **file, const struct description *description);

#endif
