/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_VALIDATOR_H
#define EVIXD_FILES_VALIDATOR_H

/* Entity tags and modification dates (RFC 9110 8.8) of files. Pure functions. */

#include <stdbool.h>

#include <evix/file.h>

#define VALIDATOR_ETAG_BYTES 128

/*
 * Writes a strong entity tag with its quotes and a NUL, and returns its length. With `bytes` (all
 * `stat->size` of them) it follows from the content alone. Else from size, modification time and
 * `sample`, a hash of parts of the content, and where that time tells nothing as of `now`, from the
 * inode and its change time as well.
 */
size_t validator_etag(char out[VALIDATOR_ETAG_BYTES], const struct evix_stat *stat,
                      const char *bytes, uint64_t sample, struct evix_time now);

/* Seconds for Last-Modified, or -1 where the file's time makes no sense as one. */
int64_t validator_last_modified(const struct evix_stat *stat, struct evix_time now);

/*
 * True if a change of the file may have left no trace in its times: it was changed so lately that
 * another change may have got the same time stamp.
 */
bool validator_is_racy(const struct evix_stat *stat, struct evix_time now);

#endif
