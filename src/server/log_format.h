/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_SERVER_LOG_FORMAT_H
#define EVIXD_SERVER_LOG_FORMAT_H

/*
 * How a line of the access log looks: Apache's % directives, compiled once to a list of pieces.
 *
 * Known: %% %a %b %B %D %h %H %{NAME}i %k %l %m %{NAME}o %p %P %q %r %s %t %{FORMAT}t %T
 * %{s|ms|us}T %u %U %v %V %X; `<` and `>` are accepted in front (%>s) and mean nothing here, where
 * no request is redirected inside. %{FORMAT}t takes sec, msec, usec, msec_frac, usec_frac or
 * strftime(3). Everything that a client chose is escaped: a value can neither end a line nor a
 * quotation, nor drive a terminal.
 */

#include "config/config.h"
#include "http/text.h"

#include <time.h>

/* The longest value in a line, escapes counted; a longer one is cut and ends in "...". */
#define LOG_VALUE_BYTES 16384

/* Looks up a field of the message by name, in any case of letters. False if it has none. */
typedef bool access_field_fn(void *data, struct http_text name, struct http_text *value);

/* One request as the log sees it, filled by the server; empty texts are logged as "-". */
struct access_record {
    struct http_text client; /* the peer's address without its port; "unix:" */
    struct http_text user;   /* who authenticated */
    int64_t time_us;         /* wall clock at the start of the request */
    uint64_t duration_us;    /* from there to the end of the response */
    struct http_text request_line, method, target, protocol;
    struct http_text host;          /* name of the host that answered */
    struct http_text referer;       /* the request's own fields, so that they need no look-up */
    struct http_text user_agent;    /* the same */
    struct http_text reason;        /* why it was answered like this; JSON only */
    uint64_t body_bytes;            /* of the response's body, as far as they went to the kernel */
    int status;                     /* 0 if the client went away before there was one */
    uint16_t port;                  /* of the listener; 0: none */
    uint32_t request_number;        /* on its connection, the first is 0 */
    bool aborted;                   /* cut off before all was sent, by either side */
    bool keep_alive;                /* the connection goes on */
    access_field_fn *request_field; /* may be NULL, as the next */
    access_field_fn *response_field;
    void *field_data;
};

/* Texts of one second, so that they are formatted once and not for each line. Zero is unset. */
struct log_clock {
    int64_t second;
    bool is_set;
    struct tm local;
    char apache[32]; /* [29/Nov/2026:17:38:12 +0100] */
    char iso[32];    /* 2026-11-29T17:38:12 */
    char zone[8];    /* +01:00 */
};

struct log_piece;

/* A compiled format. The memory is its own; the text it came from need not stay. */
struct log_format {
    struct log_piece *pieces; /* private, as all here */
    size_t count;
    char *text;
};

/*
 * Compiles a format; `text` is looked at for CONFIG_LOG_CUSTOM only. 0, -ENOMEM, or -EINVAL with
 * *error_position set to where in the text the directive begins that is wrong.
 */
CONFIG_MUST_CHECK int log_format_compile(struct log_format *format, enum config_log_format kind,
                                         const char *text, size_t *error_position);
void log_format_free(struct log_format *format);

/* Where a line is written, and whether it says all that it should. */
struct log_line {
    char *data;
    size_t capacity;
    bool is_cut; /* set by the functions below: a value, or the line itself, was shortened */
};

/*
 * Writes one line with its newline; a value that is longer than LOG_VALUE_BYTES is cut. The
 * length, or -ENOSPC if the line does not fit; then nothing useful was written.
 */
ssize_t log_format_line(const struct log_format *format, const struct access_record *record,
                        struct log_clock *clock, struct log_line *out);

/*
 * The same for a line that does not fit: its longest values are cut, all to the same length, and
 * end in "...". So a line of JSON stays one. Only where the format alone is longer than the
 * capacity (at least 4) is the line itself cut off.
 */
size_t log_format_cut_line(const struct log_format *format, const struct access_record *record,
                           struct log_clock *clock, struct log_line *out);

#endif
