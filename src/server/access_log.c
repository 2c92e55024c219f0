/* SPDX-License-Identifier: MIT */
/*
 * Buffers the lines of an access log and writes them without ever waiting.
 * It does not know what a line looks like (log_format.c), nor what a descriptor is (log_output.c).
 * A worker opens one for each host that has a log; connections write to it.
 */

#include "server/access_log.h"

#include "log/log.h"
#include "server/counters.h"
#include "server/log_piece.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_DELAY_MS 1000
/* Until a pipe or socket that is full is tried again, whose reader reads on. */
#define ROOM_DELAY_MS 10
#define TOLD_AGAIN_MS 1000 /* of a reader that is too slow now and then */
#define CLOSE_WAIT_MS 100  /* what a full pipe gets at exit, before its lines are given up */

static const char *log_name(const struct access_log *log)
{
    switch (log->config->target) {
    case CONFIG_TARGET_STDOUT:
        return "stdout";
    case CONFIG_TARGET_STDERR:
        return "stderr";
    default:
        return log->config->path;
    }
}

static size_t count_lines(const char *data, size_t length)
{
    size_t count = 0;
    for (const char *end = data + length; data < end; count++) {
        data = memchr(data, '\n', (size_t)(end - data));
        if (data == NULL)
            break;
        data++;
    }
    return count;
}

static uint64_t now_ms(const struct access_log *log)
{
    return evix_now_ms(log->flush_timer.handle.loop);
}

static void note_lost(struct access_log *log, size_t count)
{
    log->lost += count;
    if (log->slot != NULL)
        counters_add(&log->slot->data.counts[COUNTER_LOG_LOST], count);
}

static void note_failure(struct access_log *log, int error)
{
    log->is_failing = true;
    if (log->is_told || (log->told_ms != 0 && now_ms(log) < log->told_ms + TOLD_AGAIN_MS))
        return;
    log->is_told = true;
    log->told_ms = now_ms(log);
    log_event(LOG_LEVEL_ERROR, "access log %s: %s; lines are kept while there is room, then lost",
              log_name(log), evix_strerror(error));
}

static void note_success(struct access_log *log)
{
    log->is_failing = false;
    if (!log->is_told)
        return;
    log->is_told = false;
    log_event(LOG_LEVEL_NOTICE, "access log %s: written again, %" PRIu64 " lines were lost",
              log_name(log), log->lost);
    log->lost = 0;
}

/* Drops the lines that are written whole; of one that was begun, the beginning stays as well, so
 * that it can be written again elsewhere. */
static void drop_written(struct access_log *log, size_t written)
{
    const char *end = memrchr(log->buffer, '\n', written);
    size_t whole = end == NULL ? 0 : (size_t)(end - log->buffer) + 1;
    log->begun = written - whole;
    log->used -= whole;
    if (log->used != 0)
        memmove(log->buffer, log->buffer + whole, log->used);
}

/* One attempt; whatever was not taken moves to the front of the buffer. 0 or a negative errno. */
static int write_buffer(struct access_log *log)
{
    if (log->used == 0)
        return 0;
    if (log->output.fd < 0) {
        int error = log_output_open(&log->output, log->config->target, log->config->path);
        if (error < 0)
            return error;
    }
    if (log->begun != 0 && !log_output_resume(&log->output))
        log->begun = 0;
    ssize_t written =
        log_output_write(&log->output, log->buffer + log->begun, log->used - log->begun);
    if (written < 0)
        return (int)written;
    assert((size_t)written <= log->used - log->begun);
    drop_written(log, log->begun + (size_t)written);
    if (log->used == 0) /* else the next attempt tells why */
        note_success(log);
    return 0;
}

static void try_to_write(struct access_log *log)
{
    int error = write_buffer(log);
    bool is_full = error == 0 || error == -EAGAIN; /* which is no fault until a line is lost */
    if (!is_full)
        note_failure(log, error);
    if (log->used != 0)
        evix_timer_start(&log->flush_timer, is_full ? ROOM_DELAY_MS : FLUSH_DELAY_MS, 0);
}

static void on_flush(struct evix_timer *timer)
{
    struct access_log *log = (void *)((char *)timer - offsetof(struct access_log, flush_timer));
    access_log_flush(log);
}

static int open_log(struct access_log *log, struct evix_loop *loop,
                    const struct config_access_log *config, bool can_wait)
{
    *log = (struct access_log){.config = config, .delay_ms = FLUSH_DELAY_MS, .output.fd = -1};
    evix_timer_init(&log->flush_timer, loop, on_flush);
    evix_unref(&log->flush_timer.handle); /* a worker that is done does not wait for it */
    if (config->target == CONFIG_TARGET_OFF)
        return 0;

    size_t position;
    int error = log_format_compile(&log->format, config->format, config->format_text, &position);
    if (error < 0)
        goto report;
    error = log_output_open(&log->output, config->target, config->path);
    if (error < 0 && !can_wait)
        goto free_format;
    if (error < 0)
        note_failure(log, error);
    error = -ENOMEM;
    log->buffer = malloc(ACCESS_LOG_BUFFER_BYTES);
    if (log->buffer == NULL)
        goto close_output;
    if (log->output.fd >= 0 && isatty(log->output.fd))
        log->delay_ms = 0;
    return 0;

close_output:
    log_output_close(&log->output);
free_format:
    log_format_free(&log->format);
report:
    log_event(LOG_LEVEL_ERROR, "cannot open access log %s: %s", log_name(log),
              evix_strerror(error));
    return error;
}

int access_log_open(struct access_log *log, struct evix_loop *loop,
                    const struct config_access_log *config)
{
    return open_log(log, loop, config, false);
}

int access_log_open_patiently(struct access_log *log, struct evix_loop *loop,
                              const struct config_access_log *config)
{
    return open_log(log, loop, config, true);
}

void access_log_count_in(struct access_log *log, struct counters_slot *slot)
{
    log->slot = slot;
}

static void note_cut(struct access_log *log)
{
    if (log->slot != NULL)
        counters_add(&log->slot->data.counts[COUNTER_LOG_CUT], 1);
}

/* -ENOSPC: there is no room now, nor could it be made by cutting a line that is too long. */
static ssize_t add_line(struct access_log *log, const struct access_record *record)
{
    size_t room = ACCESS_LOG_BUFFER_BYTES - log->used;
    size_t longest = log_output_line_bytes(&log->output);
    if (longest > ACCESS_LOG_BUFFER_BYTES)
        longest = ACCESS_LOG_BUFFER_BYTES;
    struct log_line line = {.data = log->buffer + log->used,
                            .capacity = room < longest ? room : longest};
    ssize_t length = log_format_line(&log->format, record, &log->clock, &line);
    if (length < 0 && room >= longest)
        length = (ssize_t)log_format_cut_line(&log->format, record, &log->clock, &line);
    if (length >= 0 && line.is_cut)
        note_cut(log);
    return length;
}

bool access_log_wants_response(const struct access_log *log)
{
    for (size_t i = 0; i < log->format.count; i++)
        if (log->format.pieces[i].kind == PIECE_RESPONSE_FIELD)
            return true;
    return false;
}

void access_log_write(struct access_log *log, const struct access_record *record)
{
    if (log->buffer == NULL)
        return;
    ssize_t length = add_line(log, record);
    /* While writing fails, only the timer tries: a full disk must not cost a call a request. */
    if (length < 0 && !log->is_failing && log->used != 0) {
        try_to_write(log);
        length = add_line(log, record);
    }
    if (length < 0) {
        note_lost(log, 1);
        note_failure(log, -EAGAIN);
        return;
    }
    log->used += (size_t)length;
    if (!evix_is_active(&log->flush_timer.handle))
        evix_timer_start(&log->flush_timer, log->delay_ms, 0);
}

void access_log_flush(struct access_log *log)
{
    if (log->buffer == NULL)
        return;
    try_to_write(log);
    if (log->used == 0)
        evix_timer_stop(&log->flush_timer);
}

int access_log_reopen(struct access_log *log)
{
    if (log->buffer == NULL || log->config->target != CONFIG_TARGET_FILE)
        return 0;
    access_log_flush(log);
    struct log_output output;
    int error = log_output_open(&output, log->config->target, log->config->path);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot open access log %s: %s; the old file stays in use",
                  log_name(log), evix_strerror(error));
        return error;
    }
    if (log->output.fd >= 0 && log_output_is_same(&log->output, &output)) {
        log_output_close(&output); /* a line that was begun goes on there */
        return 0;
    }
    log_output_close(&log->output);
    log->output = output;
    log->begun = 0;
    if (log->used != 0)
        access_log_flush(log);
    return 0;
}

void access_log_close(struct access_log *log)
{
    if (log->buffer == NULL)
        return;
    evix_timer_stop(&log->flush_timer);
    struct pollfd room = {.fd = log->output.fd, .events = POLLOUT};
    while (log->used != 0 && poll(&room, 1, CLOSE_WAIT_MS) > 0) {
        int error = write_buffer(log);
        if (error < 0 && error != -EAGAIN)
            break;
    }
    note_lost(log, count_lines(log->buffer, log->used));
    if (log->lost != 0)
        log_event(LOG_LEVEL_ERROR, "access log %s: %" PRIu64 " lines were lost", log_name(log),
                  log->lost);
    log_output_close(&log->output);
    log_format_free(&log->format);
    free(log->buffer);
    log->buffer = NULL;
    log->used = 0;
}
