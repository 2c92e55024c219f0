/* SPDX-License-Identifier: MIT */
/*
 * The rows of how files are read and cached.
 * Called through schema_files.
 */
#include "config/schema_rows.h"

static const struct schema_choice caches[] = {
    {"watch", CONFIG_CACHE_WATCH},
    {"stat", CONFIG_CACHE_STAT},
    {"off", CONFIG_CACHE_OFF},
    {NULL, 0},
};

static const struct schema_choice symlinks[] = {
    {"beneath", CONFIG_SYMLINKS_BENEATH},
    {"follow", CONFIG_SYMLINKS_FOLLOW},
    {"refuse", CONFIG_SYMLINKS_REFUSE},
    {NULL, 0},
};

static const struct schema_setting files_settings[] = {
    {.name = "cache",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_files, cache),
     .standard = "watch",
     .choices = caches,
     .about = "How cached files are kept fresh: watched for changes, checked with one stat a "
              "request, or not cached."},
    {.name = "entries",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_files, entries),
     .standard = "20000",
     .min = 1,
     .max = 10000000,
     .about = "Files and negative answers that each worker keeps at most."},
    {.name = "memory",
     .type = SCHEMA_SIZE,
     PLACE(struct config_files, memory_bytes),
     .standard = "64M",
     .max = TIB,
     .about = "Bytes of files that each worker keeps in memory at most."},
    {.name = "small",
     .type = SCHEMA_SIZE,
     PLACE(struct config_files, small_bytes),
     .standard = "64K",
     .max = 16 * MIB,
     .about = "Files up to this size are kept in memory; larger ones are sent from the file."},
    {.name = "symlinks",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_files, symlinks),
     .standard = "beneath",
     .choices = symlinks,
     .about = "Symbolic links are followed while they stay beneath the root, wherever they lead, "
              "or not at all."},
};
const struct schema_record schema_files = {
    .name = "files",
    .bytes = sizeof(struct config_files),
    .settings = files_settings,
    .count = COUNT(files_settings),
};
