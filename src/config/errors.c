/* SPDX-License-Identifier: MIT */
/*
 * Gathers, sorts and reports what is wrong with a configuration.
 * Does not print: lines go to the caller's sink.
 * Called by the whole room.
 */
#include "config/errors.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/text.h"

#define MESSAGE_BYTES 1024

void errors_fini(struct errors *errors)
{
    for (size_t i = 0; i < errors->count && i < ERRORS_KEPT; i++)
        free(errors->kept[i].message);
    memset(errors, 0, sizeof(*errors));
}

/* A name from the file may hold any byte; a message is one line all the same. */
static void hide_controls(char *message)
{
    for (char *at = message; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = '?';
    }
}

void errors_add(struct errors *errors, unsigned line, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    char *copy;
    va_list list;

    if (errors->count >= ERRORS_KEPT) {
        errors->count++;
        return;
    }
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    hide_controls(message);
    copy = strdup(message);
    if (copy == NULL) {
        errors_add_memory(errors);
        return;
    }
    errors->kept[errors->count++] = (struct errors_entry){line, copy};
}

void errors_add_memory(struct errors *errors)
{
    errors->out_of_memory = true;
}

/* By insertion: it is short, and entries of one line keep the order in which they were found. */
static void sort(struct errors_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct errors_entry entry = entries[i];
        size_t j = i;

        for (; j > 0 && entries[j - 1].line > entry.line; j--)
            entries[j] = entries[j - 1];
        entries[j] = entry;
    }
}

static void report_entry(const struct errors_entry *entry, const struct text *text,
                         const struct config_errors *sink)
{
    char line[MESSAGE_BYTES + 512];
    unsigned file_line;
    const char *file;

    if (entry->line == 0) {
        sink->report(sink->data, entry->message);
        return;
    }
    assert(text != NULL);
    file = text_place(text, entry->line, &file_line);
    snprintf(line, sizeof(line), "%.400s:%u: %s", file, file_line, entry->message);
    sink->report(sink->data, line);
}

int errors_report(struct errors *errors, const struct text *text, const struct config_errors *sink)
{
    size_t kept = errors->count < ERRORS_KEPT ? errors->count : ERRORS_KEPT;

    sort(errors->kept, kept);
    for (size_t i = 0; i < kept; i++)
        report_entry(&errors->kept[i], text, sink);
    if (errors->count > kept) {
        char line[64];

        snprintf(line, sizeof(line), "and %zu errors more", errors->count - kept);
        sink->report(sink->data, line);
    }
    if (errors->out_of_memory) {
        sink->report(sink->data, "out of memory");
        return -ENOMEM;
    }
    return errors->count == 0 ? 0 : -EINVAL;
}
