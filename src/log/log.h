/* SPDX-License-Identifier: MIT */
#ifndef LOG_LOG_H
#define LOG_LOG_H

/*
 * The bottom room: events of the program, one line each, handed to one sink.
 *
 * A line is formatted on the caller's stack, cut at LOG_LINE_BYTES, and every byte that could
 * forge a second line or drive a terminal is escaped before the sink sees it. Nothing here
 * allocates, buffers or knows of files, processes and clients: the daemon's sink adds time, level
 * and pid, and writes. Until a sink is set, lines go to standard error after "evixd: ".
 *
 * Any thread may log, if the sink allows it; sink and level are set before threads are started.
 * Not for signal handlers.
 */

#include <stdbool.h>
#include <stddef.h>

enum log_level {
    LOG_LEVEL_ERROR,   /* something that was asked for could not be done */
    LOG_LEVEL_WARNING, /* it works, but not as it should */
    LOG_LEVEL_NOTICE,  /* start, reload, stop */
    LOG_LEVEL_INFO,    /* why a request was answered by 3xx, 4xx or 5xx */
    LOG_LEVEL_DEBUG,
};
#define LOG_LEVEL_COUNT 5

/* The longest line that a sink sees, the ending NUL not counted; a cut line ends in "...". */
#define LOG_LINE_BYTES 1023

/* Takes one event: a line without newline, NUL-terminated, valid until the sink returns. */
typedef void log_sink_fn(void *data, enum log_level level, const char *line, size_t length);

/* The level that is in force. Read through log_enabled(), written by log_set_level(). */
extern enum log_level log_threshold;

/* One compare: guard what is costly to work out for a line that may not be wanted. */
static inline bool log_enabled(enum log_level level)
{
    return level <= log_threshold;
}

/* log_event(level, format, ...): one event. The arguments of a disabled level are not evaluated. */
#define log_event(level, ...)                                                                      \
    do {                                                                                           \
        if (log_enabled(level))                                                                    \
            log_write((level), __VA_ARGS__);                                                       \
    } while (0)

/* What log_event() calls; writes whatever the level is. errno is kept, and %m works. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Events up to this level are passed on. The default is LOG_LEVEL_NOTICE. */
void log_set_level(enum log_level level);

/* All events go to this sink from now on; NULL sets the default (standard error) again. */
void log_set_sink(log_sink_fn *sink, void *data);

/* "error", "warning", "notice", "info" or "debug". */
const char *log_level_name(enum log_level level);

/* The reverse: 0, or -EINVAL for a name that is none of them. */
int log_level_parse(const char *name, enum log_level *out);

/*
 * Copies text to out so that it stays one line and shows itself: control bytes, DEL, the
 * backslash and bytes that are not well-formed UTF-8 become \n, \r, \t, \\ or \xHH. At most
 * size - 1 bytes and a NUL are written; an escape is written whole or not at all, and what does
 * not fit is dropped. Returns the length written. size must not be 0.
 */
size_t log_escape(char *out, size_t size, const char *text, size_t length);

#endif
