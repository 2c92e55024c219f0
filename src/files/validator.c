/* SPDX-License-Identifier: MIT */
/*
 * Makes entity tags and dates that change with the bytes, and are the same on two hosts with the
 * same tree. They are strong, as nginx's, Apache's and Caddy's are, though what a large file's is
 * made of need not show every change: a weak tag would have browsers load a download again that was
 * cut off, from its beginning, for the sake of changes that set the time back. It reads no file: it
 * is given metadata and bytes. Called when an answer is made for the cache, and by the freshness
 * rule.
 */

#include "files/validator.h"

#include <inttypes.h>
#include <stdio.h>

#include "files/hash.h"

#define NS_PER_SECOND     1000000000
#define LAST_SECOND       253402300799 /* of the year 9999, the last that a date can say */
#define SETTLING_SECONDS  2
#define LAST_FIXED_TIME   499162500           /* 1985-10-26 08:15, which npm gives to all files */
#define PORTABLE_TIME     946684800           /* 2000-01-01, which Bazel's packages give to all */
#define CONTENT_HASH_SEED 0x65766978642d3031u /* part of the format of tags: don't change */

/* Time stamps advance with the kernel's tick: 10 ms at HZ=100; file systems round further. */
#define TICK_NS       20000000
#define ROUGH_TICK_NS (2LL * NS_PER_SECOND + TICK_NS)

static int64_t age_ns(struct evix_time time, struct evix_time now)
{
    int64_t seconds;

    if (__builtin_sub_overflow(now.seconds, time.seconds, &seconds))
        return time.seconds < 0 ? INT64_MAX : INT64_MIN;
    if (seconds > 3600)
        return INT64_MAX;
    if (seconds < -3600)
        return INT64_MIN;
    return seconds * NS_PER_SECOND + (int64_t)now.nanoseconds - (int64_t)time.nanoseconds;
}

/*
 * Builds and packages that want to be reproducible set all times to 0 or 1, to 1980 (zip's first
 * year: Gradle and others), to 1985 (npm) or 2000, release after release. No file on the web has
 * been as it is since before 1985.
 */
static bool is_given_to_all(struct evix_time modified)
{
    return modified.seconds <= LAST_FIXED_TIME ||
           (modified.seconds == PORTABLE_TIME && modified.nanoseconds == 0);
}

/* A time in the future may be set again; one that is nearly now may be given to another change
   that is about to come. */
static bool time_tells_nothing(struct evix_time modified, struct evix_time now)
{
    return is_given_to_all(modified) || modified.seconds > LAST_SECOND ||
           age_ns(modified, now) < (int64_t)SETTLING_SECONDS * NS_PER_SECOND;
}

size_t validator_etag(char out[VALIDATOR_ETAG_BYTES], const struct evix_stat *stat,
                      const char *bytes, uint64_t sample, struct evix_time now)
{
    int length;

    if (bytes != NULL)
        length = snprintf(out, VALIDATOR_ETAG_BYTES, "\"%" PRIx64 "-%016" PRIx64 "\"", stat->size,
                          hash_bytes(CONTENT_HASH_SEED, bytes, stat->size));
    else if (!time_tells_nothing(stat->modified, now))
        length = snprintf(out, VALIDATOR_ETAG_BYTES, "\"%" PRIx64 "-%" PRIx64 ".%x-%" PRIx64 "\"",
                          stat->size, (uint64_t)stat->modified.seconds, stat->modified.nanoseconds,
                          sample);
    else
        length = snprintf(out, VALIDATOR_ETAG_BYTES,
                          "\"%" PRIx64 "-%" PRIx64 ".%x-%" PRIx64 "-%" PRIx64 ".%x-%" PRIx64 "\"",
                          stat->size, (uint64_t)stat->modified.seconds, stat->modified.nanoseconds,
                          sample, (uint64_t)stat->changed.seconds, stat->changed.nanoseconds,
                          stat->inode);
    return (size_t)length;
}

int64_t validator_last_modified(const struct evix_stat *stat, struct evix_time now)
{
    int64_t seconds = stat->modified.seconds;

    if (is_given_to_all(stat->modified) || seconds > LAST_SECOND || age_ns(stat->modified, now) < 0)
        return -1;
    return seconds;
}

bool validator_is_racy(const struct evix_stat *stat, struct evix_time now)
{
    bool rough = stat->changed.nanoseconds == 0 || stat->modified.nanoseconds == 0;

    /* Whole seconds may be chance or somebody's utimes(2); then it only costs a second look. */
    return age_ns(stat->changed, now) < (rough ? ROUGH_TICK_NS : TICK_NS);
}
