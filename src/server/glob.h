/* SPDX-License-Identifier: MIT */
#ifndef SERVER_GLOB_H
#define SERVER_GLOB_H

#include <stdbool.h>

/*
 * Whether a name matches a pattern: `*` stands for any bytes, `?` for one character of UTF-8,
 * `[abc]`, `[a-z]` and `[!a-z]` for one of ASCII, all else for itself. Neither is looked at for
 * slashes. Brackets must be closed. The time is bounded by the product of the lengths.
 */
bool glob_matches(const char *pattern, const char *name);

#endif
