/* SPDX-License-Identifier: MIT */
/*
 * Formats events into bounded, escaped lines and hands them to the sink.
 * Does not open, rotate or buffer anything: the sink does.
 * Called by config, files, server, daemon and main; includes nobody.
 */
#include "log/log.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_default_sink(void *data, enum log_level level, const char *line, size_t length);

enum log_level log_threshold = LOG_LEVEL_NOTICE;
static log_sink_fn *sink = on_default_sink;
static void *sink_data;

static const char *const level_names[LOG_LEVEL_COUNT] = {
    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_NOTICE] = "notice",
    [LOG_LEVEL_INFO] = "info",   [LOG_LEVEL_DEBUG] = "debug",
};

/* One write, so that lines of several processes do not mix on a shared descriptor. */
static void on_default_sink(void *data, enum log_level level, const char *line, size_t length)
{
    char text[sizeof("evixd: ") + LOG_LINE_BYTES + 1];
    int bytes = snprintf(text, sizeof(text), "evixd: %.*s\n", (int)length, line);
    ssize_t written;

    (void)data;
    (void)level;
    do {
        written = write(STDERR_FILENO, text, (size_t)bytes);
    } while (written < 0 && errno == EINTR);
    /* A log that cannot be written must not stop anything, and there is nobody left to tell. */
}

void log_set_level(enum log_level level)
{
    assert(level < LOG_LEVEL_COUNT);
    log_threshold = level;
}

void log_set_sink(log_sink_fn *new_sink, void *data)
{
    sink = new_sink == NULL ? on_default_sink : new_sink;
    sink_data = data;
}

const char *log_level_name(enum log_level level)
{
    assert(level < LOG_LEVEL_COUNT);
    return level_names[level];
}

int log_level_parse(const char *name, enum log_level *out)
{
    for (unsigned i = 0; i < LOG_LEVEL_COUNT; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *out = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* Length of the well-formed UTF-8 sequence at text, 0 if there is none (Unicode 15, table 3-7).
 * C1 controls (U+0080 to U+009F) count as none: terminals obey them. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0], low = 0x80, high = 0xBF;
    size_t length;

    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length > left)
        return 0;
    if (first == 0xC2 || first == 0xE0)
        low = 0xA0; /* C1 controls; overlong forms */
    else if (first == 0xED)
        high = 0x9F; /* surrogates */
    else if (first == 0xF0)
        low = 0x90; /* overlong forms */
    else if (first == 0xF4)
        high = 0x8F; /* above U+10FFFF */
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (text[i] < 0x80 || text[i] > 0xBF)
            return 0;
    }
    return length;
}

/* Writes the escape of one byte to out, which has 5 bytes; returns its length. */
static size_t escape_byte(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] = "\n\r\t\\", letters[] = "nrt\\";
    const char *found = byte == '\0' ? NULL : strchr(plain, byte);

    out[0] = '\\';
    if (found != NULL) {
        out[1] = letters[found - plain];
        return 2;
    }
    out[1] = 'x';
    out[2] = digits[byte >> 4];
    out[3] = digits[byte & 15];
    return 4;
}

/* As log_escape() says; *out_read is how much of text it took. */
static size_t escape(char *out, size_t size, const char *text, size_t length, size_t *out_read)
{
    size_t at = 0, used = 0;

    while (at < length) {
        const unsigned char *byte = (const unsigned char *)text + at;
        size_t count = utf8_length(byte, length - at), wanted = count;
        char escaped[5];
        const char *from = text + at;

        if (count == 0 || *byte < 0x20 || *byte == 0x7F || *byte == '\\') {
            count = 1;
            wanted = escape_byte(escaped, *byte);
            from = escaped;
        }
        if (wanted > size - 1 - used)
            break;
        memcpy(out + used, from, wanted);
        used += wanted;
        at += count;
    }
    out[used] = '\0';
    *out_read = at;
    return used;
}

size_t log_escape(char *out, size_t size, const char *text, size_t length)
{
    size_t ignored;

    assert(size > 0);
    return escape(out, size, text, length, &ignored);
}

void log_write(enum log_level level, const char *format, ...)
{
    static const char ellipsis[] = "...";
    char text[LOG_LINE_BYTES + 1], line[LOG_LINE_BYTES + 1];
    int saved = errno, wanted;
    size_t length, used, taken;
    va_list list;

    va_start(list, format);
    wanted = vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (wanted < 0) {
        errno = saved;
        return; /* only a broken format or wide character comes here */
    }
    length = strnlen(text, sizeof(text) - 1);
    used = escape(line, sizeof(line), text, length, &taken);
    if ((size_t)wanted > taken) { /* cut by vsnprintf() or here: again, with room for the dots */
        used = escape(line, sizeof(line) - strlen(ellipsis), text, length, &taken);
        memcpy(line + used, ellipsis, sizeof(ellipsis));
        used += strlen(ellipsis);
    }
    sink(sink_data, level, line, used);
    errno = saved;
}
