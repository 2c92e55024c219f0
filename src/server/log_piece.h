/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_SERVER_LOG_PIECE_H
#define EVIXD_SERVER_LOG_PIECE_H

/* What a log format is compiled to: shared by log_format.c, which makes it, and log_line.c, which
 * prints by it. */

#include "server/log_format.h"

enum piece_kind {
    PIECE_LITERAL,
    PIECE_CLIENT,
    PIECE_DASH,
    PIECE_USER,
    PIECE_TIME,        /* [29/Nov/2026:17:38:12 +0100] */
    PIECE_TIME_ISO,    /* 2026-11-29T17:38:12.123+01:00 */
    PIECE_TIME_CUSTOM, /* strftime(3) with the argument */
    PIECE_EPOCH,       /* since 1970, in units of the divisor */
    PIECE_FRACTION_MS,
    PIECE_FRACTION_US,
    PIECE_REQUEST,
    PIECE_METHOD,
    PIECE_PATH,
    PIECE_QUERY,
    PIECE_TARGET,
    PIECE_PROTOCOL,
    PIECE_STATUS,
    PIECE_BYTES,         /* 0 is 0 */
    PIECE_BYTES_OR_DASH, /* 0 is - */
    PIECE_DURATION,      /* in units of the divisor */
    PIECE_HOST,
    PIECE_PORT,
    PIECE_PID,
    PIECE_REQUEST_NUMBER,
    PIECE_CONNECTION,
    PIECE_REFERER,
    PIECE_USER_AGENT,
    PIECE_REQUEST_FIELD,
    PIECE_RESPONSE_FIELD,
    PIECE_REASON,
    PIECE_ABORTED,
    PIECE_MALFORMED, /* JSON: the request line, where it could not be taken apart */
};

struct log_piece {
    enum piece_kind kind;
    bool is_json;          /* values are escaped for JSON, and an absent one is empty */
    uint32_t divisor;      /* microseconds in a unit */
    struct http_text text; /* the literal, or the argument in braces */
};

#endif
