/* SPDX-License-Identifier: MIT */
/*
 * Compiles the format of an access log to pieces.
 * It does not print by them: log_line.c does.
 * access_log.c calls it, and the daemon when it checks a configuration.
 */

#include "server/log_format.h"

#include "server/log_piece.h"

#include <errno.h>
#include <stdlib.h>

static const char common_text[] = "%h %l %u %t \"%r\" %>s %b";
static const char combined_text[] = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"";

#define LITERAL(string)                                                                            \
    {                                                                                              \
        PIECE_LITERAL, true, 1,                                                                    \
        {                                                                                          \
            "" string, sizeof(string) - 1                                                          \
        }                                                                                          \
    }
#define VALUE(kind)                                                                                \
    {                                                                                              \
        kind, true, 1,                                                                             \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }
static const struct log_piece json_pieces[] = {
    LITERAL("{\"time\":\""),
    VALUE(PIECE_TIME_ISO),
    LITERAL("\",\"client\":\""),
    VALUE(PIECE_CLIENT),
    LITERAL("\",\"host\":\""),
    VALUE(PIECE_HOST),
    LITERAL("\",\"method\":\""),
    VALUE(PIECE_METHOD),
    LITERAL("\",\"target\":\""),
    VALUE(PIECE_TARGET),
    LITERAL("\",\"protocol\":\""),
    VALUE(PIECE_PROTOCOL),
    VALUE(PIECE_MALFORMED),
    LITERAL("\",\"status\":"),
    VALUE(PIECE_STATUS),
    LITERAL(",\"bytes\":"),
    VALUE(PIECE_BYTES),
    LITERAL(",\"duration_us\":"),
    VALUE(PIECE_DURATION),
    LITERAL(",\"referer\":\""),
    VALUE(PIECE_REFERER),
    LITERAL("\",\"user_agent\":\""),
    VALUE(PIECE_USER_AGENT),
    LITERAL("\",\"user\":\""),
    VALUE(PIECE_USER),
    LITERAL("\",\"aborted\":"),
    VALUE(PIECE_ABORTED),
    LITERAL(",\"reason\":\""),
    VALUE(PIECE_REASON),
    LITERAL("\"}"),
};
#undef LITERAL
#undef VALUE

/* Directives that take no argument. */
static const struct {
    char letter;
    enum piece_kind kind;
    uint32_t divisor;
} plain_directives[] = {
    {'a', PIECE_CLIENT, 1},         {'b', PIECE_BYTES_OR_DASH, 1}, {'B', PIECE_BYTES, 1},
    {'D', PIECE_DURATION, 1},       {'h', PIECE_CLIENT, 1},        {'H', PIECE_PROTOCOL, 1},
    {'k', PIECE_REQUEST_NUMBER, 1}, {'l', PIECE_DASH, 1},          {'m', PIECE_METHOD, 1},
    {'p', PIECE_PORT, 1},           {'P', PIECE_PID, 1},           {'q', PIECE_QUERY, 1},
    {'r', PIECE_REQUEST, 1},        {'s', PIECE_STATUS, 1},        {'t', PIECE_TIME, 1},
    {'T', PIECE_DURATION, 1000000}, {'u', PIECE_USER, 1},          {'U', PIECE_PATH, 1},
    {'v', PIECE_HOST, 1},           {'V', PIECE_HOST, 1},          {'X', PIECE_CONNECTION, 1},
};

static int compile_plain(char letter, struct log_piece *piece)
{
    for (size_t i = 0; i < sizeof(plain_directives) / sizeof(plain_directives[0]); i++) {
        if (plain_directives[i].letter == letter) {
            piece->kind = plain_directives[i].kind;
            piece->divisor = plain_directives[i].divisor;
            return 0;
        }
    }
    return -EINVAL;
}

/* What may stand in the braces of %{...}t beside strftime(3), and of %{...}T. */
static const struct {
    char letter;
    const char *name;
    enum piece_kind kind;
    uint32_t divisor;
} units[] = {
    {'t', "sec", PIECE_EPOCH, 1000000},
    {'t', "msec", PIECE_EPOCH, 1000},
    {'t', "usec", PIECE_EPOCH, 1},
    {'t', "msec_frac", PIECE_FRACTION_MS, 1},
    {'t', "usec_frac", PIECE_FRACTION_US, 1},
    {'T', "s", PIECE_DURATION, 1000000},
    {'T', "ms", PIECE_DURATION, 1000},
    {'T', "us", PIECE_DURATION, 1},
};

static int compile_unit(char letter, struct log_piece *piece)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].letter == letter &&
            http_text_equal(http_text_of(units[i].name), piece->text)) {
            piece->kind = units[i].kind;
            piece->divisor = units[i].divisor;
            return 0;
        }
    }
    return -EINVAL;
}

/* A directive with an argument in braces, which stands in piece->text. */
static int compile_with_argument(char letter, struct log_piece *piece)
{
    if (piece->text.length == 0)
        return -EINVAL;
    switch (letter) {
    case 'i':
        if (http_text_equal_nocase(piece->text, HTTP_TEXT("Referer")))
            piece->kind = PIECE_REFERER;
        else if (http_text_equal_nocase(piece->text, HTTP_TEXT("User-Agent")))
            piece->kind = PIECE_USER_AGENT;
        else
            piece->kind = PIECE_REQUEST_FIELD;
        return 0;
    case 'o':
        piece->kind = PIECE_RESPONSE_FIELD;
        return 0;
    case 'T':
        return compile_unit(letter, piece);
    case 't':
        if (compile_unit(letter, piece) != 0)
            piece->kind = PIECE_TIME_CUSTOM;
        return 0;
    default:
        return -EINVAL;
    }
}

/* One directive, *cursor behind its '%'; moves the cursor behind it. */
static int compile_directive(const char **cursor, struct log_piece *piece)
{
    const char *at = *cursor;
    while (*at == '<' || *at == '>')
        at++;
    if (*at == '%') {
        *piece = (struct log_piece){.kind = PIECE_LITERAL, .text = {at, 1}};
        *cursor = at + 1;
        return 0;
    }
    *piece = (struct log_piece){.divisor = 1};
    bool has_argument = *at == '{';
    if (has_argument) {
        const char *close = strchr(at, '}');
        if (close == NULL)
            return -EINVAL;
        piece->text = (struct http_text){at + 1, (size_t)(close - at - 1)};
        at = close + 1;
    }
    int error = has_argument ? compile_with_argument(*at, piece) : compile_plain(*at, piece);
    *cursor = at + 1;
    return error;
}

/* A stretch of text up to the next '%'. A control byte there would break every line: refused. */
static int compile_literal(const char **cursor, struct log_piece *piece)
{
    const char *at = *cursor;
    for (; *at != '\0' && *at != '%'; at++) {
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7F)
            return -EINVAL;
    }
    *piece = (struct log_piece){.kind = PIECE_LITERAL, .text = {*cursor, (size_t)(at - *cursor)}};
    *cursor = at;
    return 0;
}

static int compile_text(struct log_format *format, size_t *error_position)
{
    for (const char *at = format->text; *at != '\0';) {
        struct log_piece *piece = &format->pieces[format->count];
        const char *start = at;
        int error;
        if (*at == '%') {
            at++;
            error = compile_directive(&at, piece);
        } else {
            error = compile_literal(&at, piece);
        }
        if (error < 0) {
            *error_position = (size_t)(start - format->text);
            return error;
        }
        format->count++;
    }
    return 0;
}

int log_format_compile(struct log_format *format, enum config_log_format kind, const char *text,
                       size_t *error_position)
{
    *format = (struct log_format){0};
    *error_position = 0;
    if (kind == CONFIG_LOG_JSON)
        text = "";
    else if (kind == CONFIG_LOG_COMMON)
        text = common_text;
    else if (kind == CONFIG_LOG_COMBINED)
        text = combined_text;

    /* No piece comes from less than one byte of the text. */
    size_t count =
        kind == CONFIG_LOG_JSON ? sizeof(json_pieces) / sizeof(json_pieces[0]) : strlen(text) + 1;
    int error = -ENOMEM;
    format->text = strdup(text);
    format->pieces = calloc(count, sizeof(*format->pieces));
    if (format->text == NULL || format->pieces == NULL)
        goto free_format;
    if (kind == CONFIG_LOG_JSON) {
        memcpy(format->pieces, json_pieces, sizeof(json_pieces));
        format->count = count;
        return 0;
    }
    error = compile_text(format, error_position);
    if (error == 0)
        return 0;

free_format:
    log_format_free(format);
    return error;
}

void log_format_free(struct log_format *format)
{
    free(format->pieces);
    free(format->text);
    *format = (struct log_format){0};
}
