/* SPDX-License-Identifier: MIT */
/*
 * Prints a request as one line, piece by piece.
 * It neither buffers nor writes: access_log.c does, and is the caller.
 */

#include "server/log_format.h"

#include "server/log_piece.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

/* Where the line grows. Once something does not fit, nothing more is written. */
struct line {
    char *at;
    char *end;
    size_t value_bytes; /* the longest value; at least 4 */
    bool is_full;
    bool is_cut; /* a value is not there whole */
};

static void put(struct line *line, const char *data, size_t length)
{
    if ((size_t)(line->end - line->at) < length) {
        line->is_full = true;
        line->end = line->at;
        return;
    }
    if (length != 0)
        memcpy(line->at, data, length);
    line->at += length;
}

static void put_string(struct line *line, const char *string)
{
    put(line, string, strlen(string));
}

/* Decimal, with leading zeros up to `width`. */
static void put_number(struct line *line, uint64_t number, int width)
{
    char digits[24];
    char *at = digits + sizeof(digits);
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
        width--;
    } while (number != 0 || width > 0);
    put(line, at, (size_t)(digits + sizeof(digits) - at));
}

/* Writes what stands for one byte of a value; returns its length, at most 6. */
static size_t escape_byte(unsigned char byte, bool is_json, char out[6])
{
    static const char hex[] = "0123456789abcdef";

    if (byte == '"' || byte == '\\') {
        out[0] = '\\';
        out[1] = (char)byte;
        return 2;
    }
    if (byte >= 0x20 && byte < 0x7F) {
        out[0] = (char)byte;
        return 1;
    }
    /* JSON knows no bytes: one that is not ASCII stands as the character of the same number. */
    size_t length = is_json ? 6 : 4;
    memcpy(out, is_json ? "\\u00" : "\\x", length - 2);
    out[length - 2] = hex[byte >> 4];
    out[length - 1] = hex[byte & 15];
    return length;
}

/* How many bytes from the start stand for themselves. */
static size_t plain_length(const char *data, size_t length)
{
    size_t i = 0;
    while (i < length && data[i] >= 0x20 && data[i] < 0x7F && data[i] != '"' && data[i] != '\\')
        i++;
    return i;
}

/* A value from outside: escaped, cut if it is too long, "-" if there is none. */
static void put_value(struct line *line, struct http_text value, bool is_json)
{
    if (value.length == 0) {
        if (!is_json)
            put(line, "-", 1);
        return;
    }
    size_t room = line->value_bytes - 3;
    for (size_t i = 0; i < value.length && !line->is_full;) {
        char escaped[6];
        const char *piece = value.data + i;
        size_t taken = plain_length(piece, value.length - i);
        size_t length = taken;
        if (taken == 0) {
            length = escape_byte((unsigned char)*piece, is_json, escaped);
            piece = escaped;
            taken = 1;
        }
        if (length > room) {
            put(line, piece, taken == length ? room : 0); /* an escape is never cut */
            put(line, "...", 3);
            line->is_cut = true;
            return;
        }
        put(line, piece, length);
        room -= length;
        i += taken;
    }
}

/* The part of the target before its query, or with `wants_query` the query with its '?'. */
static struct http_text target_part(struct http_text target, bool wants_query)
{
    const char *mark = target.length == 0 ? NULL : memchr(target.data, '?', target.length);
    size_t path_length = mark == NULL ? target.length : (size_t)(mark - target.data);
    if (wants_query)
        return (struct http_text){target.data + path_length, target.length - path_length};
    return (struct http_text){target.data, path_length};
}

/* An empty query is nothing at all in Apache's %q, not "-". */
static void put_query(struct line *line, struct http_text target, bool is_json)
{
    struct http_text query = target_part(target, true);
    if (query.length != 0)
        put_value(line, query, is_json);
}

static void put_field(struct line *line, access_field_fn *look_up, void *data,
                      const struct log_piece *piece)
{
    struct http_text value = {0};
    if (look_up != NULL && !look_up(data, piece->text, &value))
        value = (struct http_text){0};
    put_value(line, value, piece->is_json);
}

/* Fills the clock for a second. Lines of the same second, nearly all of them, find it done. */
static void set_clock(struct log_clock *clock, int64_t second)
{
    if (clock->is_set && clock->second == second)
        return;
    time_t time = (time_t)second;
    if (localtime_r(&time, &clock->local) == NULL)
        clock->local = (struct tm){.tm_mday = 1, .tm_year = 70};
    /* The names of the months are the C locale's, for programs read them: the daemon never calls
     * setlocale(). */
    strftime(clock->apache, sizeof(clock->apache), "[%d/%b/%Y:%H:%M:%S %z]", &clock->local);
    strftime(clock->iso, sizeof(clock->iso), "%Y-%m-%dT%H:%M:%S", &clock->local);
    char zone[8] = "";
    strftime(zone, sizeof(zone), "%z", &clock->local);
    if (strlen(zone) == 5) {
        memcpy(clock->zone, zone, 3);
        clock->zone[3] = ':';
        memcpy(clock->zone + 4, zone + 3, 3);
    }
    clock->second = second;
    clock->is_set = true;
}

/* The custom format is not NUL-terminated where it stands, so it is copied; a long one is cut. */
static void put_custom_time(struct line *line, const struct log_piece *piece,
                            const struct log_clock *clock)
{
    char pattern[128];
    char text[256];
    size_t length = piece->text.length < sizeof(pattern) ? piece->text.length : sizeof(pattern) - 1;
    memcpy(pattern, piece->text.data, length);
    pattern[length] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the administrator's own format */
    length = strftime(text, sizeof(text), pattern, &clock->local);
#pragma GCC diagnostic pop
    put(line, text, length);
}

static void put_time(struct line *line, const struct log_piece *piece, int64_t time_us,
                     struct log_clock *clock)
{
    uint64_t now_us = time_us < 0 ? 0 : (uint64_t)time_us;
    uint64_t fraction_us = now_us % 1000000;
    set_clock(clock, (int64_t)(now_us / 1000000));
    switch (piece->kind) {
    case PIECE_TIME:
        put_string(line, clock->apache);
        break;
    case PIECE_TIME_ISO:
        put_string(line, clock->iso);
        put(line, ".", 1);
        put_number(line, fraction_us / 1000, 3);
        put_string(line, clock->zone);
        break;
    case PIECE_TIME_CUSTOM:
        put_custom_time(line, piece, clock);
        break;
    case PIECE_EPOCH:
        put_number(line, now_us / piece->divisor, 1);
        break;
    case PIECE_FRACTION_MS:
        put_number(line, fraction_us / 1000, 3);
        break;
    default:
        put_number(line, fraction_us, 6);
        break;
    }
}

/* 499 is how a request is marked that its client gave up before there was any answer. */
static void put_status(struct line *line, int status)
{
    put_number(line, status > 0 ? (uint64_t)status : 499, 3);
}

static void put_malformed(struct line *line, const struct access_record *record)
{
    if (record->method.length != 0)
        return;
    put_string(line, "\",\"request\":\"");
    put_value(line, record->request_line, true);
}

static void put_number_or_dash(struct line *line, uint64_t number)
{
    if (number == 0)
        put(line, "-", 1);
    else
        put_number(line, number, 1);
}

/* The texts that a record holds as they are. */
static struct http_text record_text(const struct access_record *record, enum piece_kind kind)
{
    switch (kind) {
    case PIECE_CLIENT:
        return record->client;
    case PIECE_USER:
        return record->user;
    case PIECE_REQUEST:
        return record->request_line;
    case PIECE_METHOD:
        return record->method;
    case PIECE_PATH:
        return target_part(record->target, false);
    case PIECE_TARGET:
        return record->target;
    case PIECE_PROTOCOL:
        return record->protocol;
    case PIECE_HOST:
        return record->host;
    case PIECE_REFERER:
        return record->referer;
    case PIECE_USER_AGENT:
        return record->user_agent;
    case PIECE_REASON:
        return record->reason;
    default:
        return (struct http_text){0};
    }
}

static void put_piece(struct line *line, const struct log_piece *piece,
                      const struct access_record *record, struct log_clock *clock)
{
    switch (piece->kind) {
    case PIECE_LITERAL:
        put(line, piece->text.data, piece->text.length);
        break;
    case PIECE_TIME:
    case PIECE_TIME_ISO:
    case PIECE_TIME_CUSTOM:
    case PIECE_EPOCH:
    case PIECE_FRACTION_MS:
    case PIECE_FRACTION_US:
        put_time(line, piece, record->time_us, clock);
        break;
    case PIECE_QUERY:
        put_query(line, record->target, piece->is_json);
        break;
    case PIECE_STATUS:
        put_status(line, record->status);
        break;
    case PIECE_BYTES:
        put_number(line, record->body_bytes, 1);
        break;
    case PIECE_BYTES_OR_DASH:
        put_number_or_dash(line, record->body_bytes);
        break;
    case PIECE_DURATION:
        put_number(line, record->duration_us / piece->divisor, 1);
        break;
    case PIECE_PORT:
        put_number_or_dash(line, record->port);
        break;
    case PIECE_PID:
        put_number(line, (uint64_t)getpid(), 1);
        break;
    case PIECE_REQUEST_NUMBER:
        put_number(line, record->request_number, 1);
        break;
    case PIECE_CONNECTION:
        put_string(line, record->aborted ? "X" : record->keep_alive ? "+" : "-");
        break;
    case PIECE_REQUEST_FIELD:
        put_field(line, record->request_field, record->field_data, piece);
        break;
    case PIECE_RESPONSE_FIELD:
        put_field(line, record->response_field, record->field_data, piece);
        break;
    case PIECE_ABORTED:
        put_string(line, record->aborted ? "true" : "false");
        break;
    case PIECE_MALFORMED:
        put_malformed(line, record);
        break;
    default:
        put_value(line, record_text(record, piece->kind), piece->is_json);
        break;
    }
}

static void put_pieces(struct line *line, const struct log_format *format,
                       const struct access_record *record, struct log_clock *clock)
{
    assert(format->pieces != NULL);
    for (size_t i = 0; i < format->count; i++)
        put_piece(line, &format->pieces[i], record, clock);
    put(line, "\n", 1);
}

ssize_t log_format_line(const struct log_format *format, const struct access_record *record,
                        struct log_clock *clock, struct log_line *out)
{
    struct line line = {
        .at = out->data, .end = out->data + out->capacity, .value_bytes = LOG_VALUE_BYTES};
    put_pieces(&line, format, record, clock);
    out->is_cut = line.is_cut;
    return line.is_full ? -ENOSPC : line.at - out->data;
}

size_t log_format_cut_line(const struct log_format *format, const struct access_record *record,
                           struct log_clock *clock, struct log_line *out)
{
    struct line line;
    char *end = out->data + out->capacity;
    assert(out->capacity >= 4);
    out->is_cut = true;
    for (size_t longest = LOG_VALUE_BYTES / 2; longest >= 4; longest /= 2) {
        line = (struct line){.at = out->data, .end = end, .value_bytes = longest};
        put_pieces(&line, format, record, clock);
        if (!line.is_full)
            return (size_t)(line.at - out->data);
    }
    line = (struct line){.at = out->data, .end = end - 4, .value_bytes = 4};
    put_pieces(&line, format, record, clock);
    memcpy(line.at, "...\n", 4);
    return (size_t)(line.at - out->data) + 4;
}
