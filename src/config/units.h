/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

/*
 * Sizes, times, whole numbers and modes as people write them. Parsers take the whole text or
 * nothing: no white space, no sign, no rest. They return 0, -EINVAL for what is not such a text,
 * or -ERANGE for what does not fit; *out is written on success only.
 */

#include <stddef.h>
#include <stdint.h>

/* Room for any text that the formatters below write. */
#define UNITS_TEXT_BYTES 32

/* Decimal digits. */
int units_parse_integer(const char *text, uint64_t *out);

/* Digits and at most one of K, M, G, T (either case): powers of 1024. Bytes. */
int units_parse_size(const char *text, uint64_t *out_bytes);

/* Digits, perhaps a fraction, and ms, s, m or h; without a unit, seconds. Milliseconds; a time
 * above 0 that is less than one of them is -ERANGE, since 0 means something else. */
int units_parse_time(const char *text, uint64_t *out_ms);

/* The same for a number of seconds. */
int units_seconds_to_ms(double seconds, uint64_t *out_ms);

/* Permission bits: octal digits, "0660" or "660". */
int units_parse_mode(const char *text, uint64_t *out);

/* In the largest unit that gives a whole number: "64K", "1500ms", "15s". They read back as the
 * same value. Return out, which has UNITS_TEXT_BYTES. */
const char *units_format_size(uint64_t bytes, char *out);
const char *units_format_time(uint64_t ms, char *out);

#endif
