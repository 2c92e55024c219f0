/* SPDX-License-Identifier: MIT */
/*
 * Prints a configuration as the file that would give it.
 * Does not print what was inherited where it came from: each location shows its own final values.
 * Called by main for --dump, and by tests.
 */
#include "config/config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config/schema.h"
#include "config/units.h"

static void dump_record(FILE *stream, const struct schema_record *record, const void *base,
                        int depth);

static void get(const void *base, size_t offset, void *out, size_t size)
{
    memcpy(out, (const char *)base + offset, size);
}

static uint64_t get_unsigned(const void *base, const struct schema_setting *setting)
{
    uint64_t wide;
    uint32_t narrow;

    assert(setting->width == sizeof(wide) || setting->width == sizeof(narrow));
    if (setting->width == sizeof(wide)) {
        get(base, setting->offset, &wide, sizeof(wide));
        return wide;
    }
    get(base, setting->offset, &narrow, sizeof(narrow));
    return narrow;
}

static const char *get_text(const void *base, size_t offset)
{
    const char *text;

    get(base, offset, &text, sizeof(text));
    return text;
}

static size_t get_count(const void *base, const struct schema_setting *setting)
{
    size_t count;

    get(base, setting->extra, &count, sizeof(count));
    return count;
}

static void indent(FILE *stream, int depth)
{
    fprintf(stream, "%*s", 4 * depth, "");
}

static void dump_text(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', stream);
        if (*text == '\t')
            fputs("\\t", stream);
        else
            putc(*text, stream);
    }
    putc('"', stream);
}

static void dump_names(FILE *stream, const struct schema_setting *setting, const void *base)
{
    size_t count = get_count(base, setting);
    const char *const *names;

    get(base, setting->offset, &names, sizeof(names));
    fputs("(", stream);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? " " : ", ", stream);
        dump_text(stream, names[i]);
    }
    fputs(" )", stream);
}

static void dump_headers(FILE *stream, const struct schema_setting *setting, const void *base,
                         int depth)
{
    size_t count = get_count(base, setting);
    const struct config_header *headers;

    get(base, setting->offset, &headers, sizeof(headers));
    fputs("{\n", stream);
    for (size_t i = 0; i < count; i++) {
        indent(stream, depth + 1);
        fprintf(stream, "%s = ", headers[i].name);
        dump_text(stream, headers[i].value);
        fputs(";\n", stream);
    }
    indent(stream, depth);
    putc('}', stream);
}

static void dump_list(FILE *stream, const struct schema_setting *setting, const void *base,
                      int depth)
{
    size_t count = get_count(base, setting);
    const char *elements;

    get(base, setting->offset, &elements, sizeof(elements));
    fputs("(\n", stream);
    for (size_t i = 0; i < count; i++) {
        indent(stream, depth + 1);
        fputs("{\n", stream);
        dump_record(stream, setting->record, elements + i * setting->record->bytes, depth + 2);
        indent(stream, depth + 1);
        fputs(i + 1 < count ? "},\n" : "}\n", stream);
    }
    indent(stream, depth);
    putc(')', stream);
}

static void dump_number(FILE *stream, const struct schema_setting *setting, const void *base)
{
    uint64_t value = get_unsigned(base, setting);
    const char *name = value > UINT32_MAX ? NULL : schema_choice_name(setting, (unsigned)value);
    char text[UNITS_TEXT_BYTES];

    switch (setting->type) {
    case SCHEMA_SIZE:
        fprintf(stream, "\"%s\"", units_format_size(value, text));
        break;
    case SCHEMA_TIME:
        fprintf(stream, "\"%s\"", units_format_time(value, text));
        break;
    case SCHEMA_MODE:
        fprintf(stream, "\"%04" PRIo64 "\"", value);
        break;
    default:
        /* a number that may only be one of its choices is written as the number it is */
        if (name != NULL && setting->max != 0)
            fprintf(stream, "\"%s\"", name);
        else
            fprintf(stream, "%" PRIu64, value);
        break;
    }
}

static void dump_choice(FILE *stream, const struct schema_setting *setting, const void *base)
{
    const char *name = schema_choice_name(setting, (unsigned)get_unsigned(base, setting));

    dump_text(stream, name != NULL ? name : get_text(base, setting->extra));
}

static void dump_boolean(FILE *stream, const struct schema_setting *setting, const void *base)
{
    bool value;

    get(base, setting->offset, &value, sizeof(value));
    fputs(value ? "true" : "false", stream);
}

static void dump_value(FILE *stream, const struct schema_setting *setting, const void *base,
                       int depth)
{
    switch (setting->type) {
    case SCHEMA_BOOLEAN:
        dump_boolean(stream, setting, base);
        break;
    case SCHEMA_INTEGER:
    case SCHEMA_SIZE:
    case SCHEMA_TIME:
    case SCHEMA_MODE:
        dump_number(stream, setting, base);
        break;
    case SCHEMA_CHOICE:
    case SCHEMA_TARGET:
    case SCHEMA_FORMAT:
        dump_choice(stream, setting, base);
        break;
    case SCHEMA_TEXT:
    case SCHEMA_PATH:
    case SCHEMA_FILE:
    case SCHEMA_DIRECTORY:
    case SCHEMA_ADDRESS:
        dump_text(stream, get_text(base, setting->offset));
        break;
    case SCHEMA_NAMES:
        dump_names(stream, setting, base);
        break;
    case SCHEMA_HEADERS:
        dump_headers(stream, setting, base, depth);
        break;
    case SCHEMA_GROUP:
        fputs("{\n", stream);
        dump_record(stream, setting->record, (const char *)base + setting->offset, depth + 1);
        indent(stream, depth);
        putc('}', stream);
        break;
    case SCHEMA_LIST:
        dump_list(stream, setting, base, depth);
        break;
    }
}

/* Settings that have no meaning for this very listener or location, and would be refused. */
static bool is_idle(const struct schema_record *record, const struct schema_setting *setting,
                    const void *base)
{
    if (record == &schema_listen &&
        (setting->type == SCHEMA_MODE || strcmp(setting->name, "owner") == 0 ||
         strcmp(setting->name, "group") == 0))
        return ((const struct config_listen *)base)->sockaddr.ss_family != AF_UNIX;
    if (record == &schema_location && setting->type == SCHEMA_GROUP)
        return ((const struct config_location *)base)->handler != CONFIG_HANDLER_REDIRECT;
    return false;
}

static void dump_settings(FILE *stream, const struct schema_record *record, const void *base,
                          int depth)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct schema_setting *setting = &record->settings[i];

        if (is_idle(record, setting, base))
            continue;
        indent(stream, depth);
        fprintf(stream, "%s = ", setting->name);
        dump_value(stream, setting, base, depth);
        fputs(";\n", stream);
    }
}

/* Shared settings are printed in locations only: printed above, too, they would be inherited once
 * more, and a header that a location took away would come back. */
static void dump_record(FILE *stream, const struct schema_record *record, const void *base,
                        int depth)
{
    dump_settings(stream, record, base, depth);
    if (record == &schema_location)
        dump_settings(stream, record->shared, (const char *)base + record->shared_offset, depth);
}

int config_dump(const struct config *config, FILE *stream)
{
    dump_record(stream, &schema_file, config, 0);
    return fflush(stream) != 0 || ferror(stream) ? -EIO : 0;
}
