/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes numbers with units.
 * Does not know which setting has which unit or range: that is the schema's.
 * Called by value.c, address.c, describe.c and dump.c.
 */
#include "config/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"T", UINT64_C(1) << 40},
    {"G", UINT64_C(1) << 30},
    {"M", UINT64_C(1) << 20},
    {"K", UINT64_C(1) << 10},
    {"", 1},
};

static const struct unit time_units[] = {
    {"h", 3600000},
    {"m", 60000},
    {"s", 1000},
    {"ms", 1},
};

/* Digits at the start of text; returns what follows them, or NULL without a digit. Digits are read
 * here and not by strtoull(), which takes white space and signs as well. */
static const char *parse_digits(const char *text, unsigned base, uint64_t *out, bool *overflow)
{
    const char *at = text;
    uint64_t value = 0;

    *overflow = false;
    for (; *at >= '0' && *at < (char)('0' + base); at++) {
        *overflow |= __builtin_mul_overflow(value, base, &value);
        *overflow |= __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
    }
    *out = value;
    return at == text ? NULL : at;
}

static int parse_whole(const char *text, unsigned base, uint64_t *out)
{
    bool overflow;
    uint64_t value;
    const char *rest = parse_digits(text, base, &value, &overflow);

    if (rest == NULL || *rest != '\0')
        return -EINVAL;
    if (overflow)
        return -ERANGE;
    *out = value;
    return 0;
}

int units_parse_integer(const char *text, uint64_t *out)
{
    return parse_whole(text, 10, out);
}

int units_parse_mode(const char *text, uint64_t *out)
{
    uint64_t mode;
    int error = parse_whole(text, 8, &mode);

    if (error != 0)
        return error;
    if (mode > 0777)
        return -ERANGE;
    *out = mode;
    return 0;
}

int units_parse_size(const char *text, uint64_t *out_bytes)
{
    bool overflow;
    uint64_t value;
    const char *rest = parse_digits(text, 10, &value, &overflow);

    if (rest == NULL)
        return -EINVAL;
    for (size_t i = 0; i < sizeof(size_units) / sizeof(size_units[0]); i++) {
        if (strcasecmp(rest, size_units[i].name) != 0)
            continue;
        overflow |= __builtin_mul_overflow(value, size_units[i].factor, &value);
        if (overflow)
            return -ERANGE;
        *out_bytes = value;
        return 0;
    }
    return -EINVAL;
}

int units_seconds_to_ms(double seconds, uint64_t *out_ms)
{
    double ms = seconds * 1000;

    if (!(ms >= 0)) /* negative or not a number */
        return isnan(ms) ? -EINVAL : -ERANGE;
    if (ms > 0 && ms < 1)
        return -ERANGE;
    if (ms >= 9007199254740992.0) /* 2^53: above it a double skips whole numbers */
        return -ERANGE;
    *out_ms = (uint64_t)(ms + 0.5);
    return 0;
}

/* The number is read as a double only if it has a fraction, so that whole ones stay exact. */
int units_parse_time(const char *text, uint64_t *out_ms)
{
    bool overflow, ignored;
    uint64_t whole, digits;
    const char *rest = parse_digits(text, 10, &whole, &overflow);
    double fraction = 0;

    if (rest == NULL)
        return -EINVAL;
    if (*rest == '.') {
        const char *end = parse_digits(rest + 1, 10, &digits, &ignored);

        if (end == NULL)
            return -EINVAL;
        for (const char *at = end - 1; at > rest; at--)
            fraction = (fraction + (*at - '0')) / 10;
        rest = end;
    }
    for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
        uint64_t ms, factor = time_units[i].factor;

        if (strcmp(*rest == '\0' ? "s" : rest, time_units[i].name) != 0)
            continue;
        if (overflow || __builtin_mul_overflow(whole, factor, &ms))
            return -ERANGE;
        fraction *= (double)factor;
        if (ms == 0 && fraction > 0 && fraction < 1)
            return -ERANGE;
        if (__builtin_add_overflow(ms, (uint64_t)(fraction + 0.5), &ms))
            return -ERANGE;
        *out_ms = ms;
        return 0;
    }
    return -EINVAL;
}

static const char *format(uint64_t value, const struct unit *units, char *out)
{
    while (value % units->factor != 0)
        units++; /* ends at the unit of factor 1 */
    snprintf(out, UNITS_TEXT_BYTES, "%" PRIu64 "%s", value / units->factor, units->name);
    return out;
}

const char *units_format_size(uint64_t bytes, char *out)
{
    return bytes == 0 ? strcpy(out, "0") : format(bytes, size_units, out);
}

const char *units_format_time(uint64_t ms, char *out)
{
    return ms == 0 ? strcpy(out, "0s") : format(ms, time_units, out);
}
