/* SPDX-License-Identifier: MIT */
/*
 * Dates in HTTP's three formats to seconds since 1970 and back, without locale or time zone.
 * It does not read the clock: the caller says what is now.
 * Called by response.c, condition.c, and by whoever formats dates of its own (log, listings).
 */
#include "http/date.h"

#include <assert.h>
#include <errno.h>

#define SECONDS_A_DAY 86400
#define FIRST_SECOND  INT64_C(-62167219200) /* 0000-01-01 00:00:00 */
#define LAST_SECOND   INT64_C(253402300799) /* 9999-12-31 23:59:59 */

static const char day_names[7][10] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
static const char month_names[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

const char *http_month_name(unsigned month)
{
    assert(month >= 1 && month <= 12);
    return month_names[month - 1];
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_of_month(int64_t year, unsigned month)
{
    static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/*
 * Days from 1970-01-01. The year is made to begin in March, so that the leap day is its last; then
 * the days before month m of it are (153 * m + 2) / 5.
 */
static int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
    unsigned shifted = month > 2 ? month - 3 : month + 9;
    year -= month <= 2;
    int64_t leap_days = floor_divide(year, 4) - floor_divide(year, 100) + floor_divide(year, 400);
    return 365 * year + leap_days + (153 * shifted + 2) / 5 + day - 1 - 719468;
}

void http_civil_from_time(int64_t time, struct http_civil *out)
{
    int64_t days = floor_divide(time, SECONDS_A_DAY);
    unsigned second = (unsigned)(time - days * SECONDS_A_DAY);
    int64_t shifted = days + 719468; /* from 0000-03-01 */
    int64_t era = floor_divide(shifted, 146097);
    unsigned of_era = (unsigned)(shifted - era * 146097);
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153; /* 0 is March */

    out->day = of_year - (153 * month + 2) / 5 + 1;
    out->month = month < 10 ? month + 3 : month - 9;
    out->year = era * 400 + year + (out->month <= 2);
    out->hour = second / 3600;
    out->minute = second / 60 % 60;
    out->second = second % 60;
    out->weekday =
        (unsigned)(days - floor_divide(days + 4, 7) * 7 + 4); /* 1970 began on Thursday */
}

static int64_t time_from_civil(const struct http_civil *civil)
{
    return days_from_civil(civil->year, civil->month, civil->day) * SECONDS_A_DAY +
           (int64_t)(civil->hour * 3600 + civil->minute * 60 + civil->second);
}

static char *put_two(char *at, unsigned number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
    return at + 2;
}

static char *put_clock(char *at, const struct http_civil *civil)
{
    at = put_two(at, civil->hour);
    *at++ = ':';
    at = put_two(at, civil->minute);
    *at++ = ':';
    return put_two(at, civil->second);
}

int http_date_format(int64_t time, char out[HTTP_DATE_LENGTH])
{
    struct http_civil civil;
    if (time < FIRST_SECOND || time > LAST_SECOND)
        return -ERANGE;
    http_civil_from_time(time, &civil);
    char *at = out;
    memcpy(at, day_names[civil.weekday], 3);
    memcpy(at + 3, ", ", 2);
    at = put_two(at + 5, civil.day);
    *at++ = ' ';
    memcpy(at, month_names[civil.month - 1], 3);
    at[3] = ' ';
    at = put_two(at + 4, (unsigned)civil.year / 100);
    at = put_two(at, (unsigned)civil.year % 100);
    *at++ = ' ';
    at = put_clock(at, &civil);
    memcpy(at, " GMT", 4);
    assert(at + 4 == out + HTTP_DATE_LENGTH);
    return 0;
}

/* What is left to read; each take_ function answers whether it found what it wanted. */
static bool take_text(struct http_text *rest, struct http_text wanted)
{
    if (rest->length < wanted.length || memcmp(rest->data, wanted.data, wanted.length) != 0)
        return false;
    rest->data += wanted.length;
    rest->length -= wanted.length;
    return true;
}

static bool take_digits(struct http_text *rest, size_t count, unsigned *out)
{
    unsigned number = 0;
    if (rest->length < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned)(unsigned char)rest->data[i] - '0';
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *out = number;
    rest->data += count;
    rest->length -= count;
    return true;
}

static bool take_month(struct http_text *rest, unsigned *month)
{
    for (unsigned i = 0; i < 12; i++) {
        if (take_text(rest, (struct http_text){month_names[i], 3})) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_clock(struct http_text *rest, struct http_civil *out)
{
    return take_digits(rest, 2, &out->hour) && take_text(rest, HTTP_TEXT(":")) &&
           take_digits(rest, 2, &out->minute) && take_text(rest, HTTP_TEXT(":")) &&
           take_digits(rest, 2, &out->second);
}

/* "06 Nov 1994 08:49:37 GMT" */
static bool take_imf_fixdate(struct http_text *rest, struct http_civil *out)
{
    unsigned year;
    if (!take_digits(rest, 2, &out->day) || !take_text(rest, HTTP_TEXT(" ")) ||
        !take_month(rest, &out->month) || !take_text(rest, HTTP_TEXT(" ")) ||
        !take_digits(rest, 4, &year) || !take_text(rest, HTTP_TEXT(" ")) ||
        !take_clock(rest, out) || !take_text(rest, HTTP_TEXT(" GMT")))
        return false;
    out->year = year;
    return true;
}

/* "06-Nov-94 08:49:37 GMT"; the century is for resolve_century(). */
static bool take_rfc850(struct http_text *rest, struct http_civil *out)
{
    unsigned year;
    if (!take_digits(rest, 2, &out->day) || !take_text(rest, HTTP_TEXT("-")) ||
        !take_month(rest, &out->month) || !take_text(rest, HTTP_TEXT("-")) ||
        !take_digits(rest, 2, &year) || !take_text(rest, HTTP_TEXT(" ")) ||
        !take_clock(rest, out) || !take_text(rest, HTTP_TEXT(" GMT")))
        return false;
    out->year = year;
    return true;
}

/* "Nov  6 08:49:37 1994": the day is padded with a space. */
static bool take_asctime(struct http_text *rest, struct http_civil *out)
{
    unsigned year;
    if (!take_month(rest, &out->month) || !take_text(rest, HTTP_TEXT(" ")))
        return false;
    bool padded = take_text(rest, HTTP_TEXT(" "));
    if (!take_digits(rest, padded ? 1 : 2, &out->day) || !take_text(rest, HTTP_TEXT(" ")) ||
        !take_clock(rest, out) || !take_text(rest, HTTP_TEXT(" ")) || !take_digits(rest, 4, &year))
        return false;
    out->year = year;
    return true;
}

static bool is_possible(const struct http_civil *civil)
{
    return civil->day >= 1 && civil->day <= days_of_month(civil->year, civil->month) &&
           civil->hour <= 23 && civil->minute <= 59 && civil->second <= 60;
}

/* RFC 9110 5.6.7: the latest year with these two digits that is at most 50 years ahead. */
static void resolve_century(struct http_civil *civil, int64_t now)
{
    struct http_civil horizon;
    http_civil_from_time(now, &horizon);
    horizon.year += 50;
    int64_t latest = time_from_civil(&horizon);
    civil->year += floor_divide(horizon.year, 100) * 100;
    if (time_from_civil(civil) > latest)
        civil->year -= 100;
}

/* The day's name tells which of the three formats it is. */
static bool take_date(struct http_text rest, int64_t now, struct http_civil *out)
{
    for (unsigned i = 0; i < 7; i++) {
        struct http_text name = http_text_of(day_names[i]);
        if (take_text(&rest, name)) {
            if (!take_text(&rest, HTTP_TEXT(", ")) || !take_rfc850(&rest, out))
                return false;
            resolve_century(out, now);
            return rest.length == 0;
        }
        name.length = 3;
        if (take_text(&rest, name)) {
            if (take_text(&rest, HTTP_TEXT(", ")))
                return take_imf_fixdate(&rest, out) && rest.length == 0;
            return take_text(&rest, HTTP_TEXT(" ")) && take_asctime(&rest, out) && rest.length == 0;
        }
    }
    return false;
}

int http_date_parse(struct http_text text, int64_t now, int64_t *out)
{
    struct http_civil civil;
    if (!take_date(text, now, &civil) || !is_possible(&civil))
        return -EINVAL;
    *out = time_from_civil(&civil);
    return 0;
}
