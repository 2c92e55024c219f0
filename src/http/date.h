/* SPDX-License-Identifier: MIT */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

/* Dates of RFC 9110 5.6.7, in seconds since 1970 UTC. No locale, no time zone, no state. */

#include "http/text.h"

#define HTTP_DATE_LENGTH 29

/*
 * Writes an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT", without a NUL. 0, or -ERANGE if the year
 * is not in 0 to 9999 (nothing is written then).
 */
int http_date_format(int64_t time, char out[HTTP_DATE_LENGTH]);

/*
 * Reads any of the three formats. `now` decides the century of an RFC 850 date: one that would be
 * more than 50 years ahead is in the past. 0, or -EINVAL for anything else, impossible days
 * included; the day's name has to be one, but is not held against the date. A leap second counts as
 * the second after it.
 */
int http_date_parse(struct http_text text, int64_t now, int64_t *out);

/* For those that format dates of their own (logs): days since 1970 to a civil date. */
struct http_civil {
    int64_t year;
    unsigned month, day;           /* from 1 */
    unsigned hour, minute, second; /* UTC */
    unsigned weekday;              /* 0 is Sunday */
};
void http_civil_from_time(int64_t time, struct http_civil *out);

/* "Jan" to "Dec", for month 1 to 12. */
const char *http_month_name(unsigned month);

#endif
