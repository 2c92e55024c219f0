/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_MEDIA_TABLE_H
#define EVIXD_FILES_MEDIA_TABLE_H

#include <stddef.h>

/* What text/... has behind its type, and nothing else has. */
#define MEDIA_TYPE_CHARSET "; charset=utf-8"

struct media_row {
    const char *extension; /* in lower case, without its dot */
    const char *type;      /* the value of Content-Type */
};

/* In ascending order of extensions, each once. */
extern const struct media_row media_table[];
extern const size_t media_table_count;

#endif
