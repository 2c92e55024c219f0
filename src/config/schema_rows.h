/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_SCHEMA_ROWS_H
#define CONFIG_SCHEMA_ROWS_H

/*
 * What the files that hold the table's rows share: how a row says where its value goes, units, and
 * the records that hang on one another. The rest of the room sees schema.h alone.
 */

#include "config/config.h"
#include "config/schema.h"

#define PLACE(type, member) .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define EXTRA(type, member) .extra = offsetof(type, member)
#define COUNT(settings)     (sizeof(settings) / sizeof((settings)[0]))

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define DAY (UINT64_C(24) * 60 * 60 * 1000)

extern const struct schema_record schema_error_log;
extern const struct schema_record schema_access_log;
extern const struct schema_record schema_limits;
extern const struct schema_record schema_timeouts;
extern const struct schema_record schema_files;
/* What a location takes from its host, and a host from the file. */
extern const struct schema_record schema_shared;

#endif
