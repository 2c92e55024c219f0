/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_MEDIA_TYPE_H
#define EVIXD_FILES_MEDIA_TYPE_H

/*
 * Media types by the extension of a name: a built-in table of what the web uses, and on top of it,
 * winning over it, a file in the usual mime.types format. Text has charset=utf-8, nothing else has
 * a charset.
 */

#include <stddef.h>

struct media_types;

/* No longer value is ever given, the charset included. */
#define MEDIA_TYPE_BYTES 160

/*
 * `path` of a mime.types file, or NULL for the built-in table alone. `default_type`, or NULL for
 * application/octet-stream, must outlive the table. 0 or a negative errno (-EFBIG: the file
 * is larger than a megabyte; -EINVAL: the default type is longer than MEDIA_TYPE_BYTES).
 */
int media_types_new(struct media_types **out, const char *path, const char *default_type);
void media_types_free(struct media_types **types);

/* The value of Content-Type for a file's name or path; never NULL. Lives as long as the table. */
const char *media_type_find(const struct media_types *types, const char *name, size_t length);

#endif
