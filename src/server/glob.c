/* SPDX-License-Identifier: MIT */
/*
 * Matches names with patterns such as *.css. fnmatch(3) would do that by the locale, and take
 * exponential time for a pattern with several stars, of a name that a client chose.
 * Called by route.c.
 */
#include "server/glob.h"

#include <stddef.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* One character of the name, or one byte that is no UTF-8. */
static const char *skip_character(const char *name)
{
    name++;
    while (is_continuation(*name))
        name++;
    return name;
}

/* The set that `pattern` is at; *out_end is behind its bracket. */
static bool set_has(const char *pattern, char byte, const char **out_end)
{
    const char *at = pattern + 1;
    bool is_inverted = *at == '!', has = false;

    if (is_inverted)
        at++;
    for (const char *first = at; at == first || *at != ']'; at++) {
        char low = *at;

        if (at[1] == '-' && at[2] != ']')
            at += 2;
        has = has || (low <= byte && byte <= *at);
    }
    *out_end = at + 1;
    return has != is_inverted;
}

/* Whether one thing of the pattern, no star, matches at the name; both are moved behind it. */
static bool match_one(const char **pattern, const char **name)
{
    const char *end;

    if (**name == '\0')
        return false;
    switch (**pattern) {
    case '?':
        ++*pattern;
        *name = skip_character(*name);
        return true;
    case '[':
        if ((unsigned char)**name >= 0x80 || !set_has(*pattern, **name, &end))
            return false;
        *pattern = end;
        ++*name;
        return true;
    default:
        return *(*pattern)++ == *(*name)++;
    }
}

bool glob_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    /* After a mismatch the last star takes a byte more; those before need not. */
    while (*pattern != '\0' || *name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (!match_one(&pattern, &name)) {
            if (star == NULL || *retry == '\0')
                return false;
            pattern = star;
            name = ++retry;
        }
    }
    return true;
}
