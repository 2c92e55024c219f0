/* SPDX-License-Identifier: MIT */
/*
 * Checks one value against its row of the schema and stores it.
 * Does not know libconfig, lines of files, or what other settings say.
 * Called by load.c, override.c and site.c.
 */
#include "config/value.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config/address.h"
#include "config/arena.h"
#include "config/config.h"
#include "config/rules.h"
#include "config/suggest.h"
#include "config/units.h"

/* Fields are written with memcpy(): an offset from the table says nothing about alignment to the
 * compiler, and this is the one way that needs no cast of a pointer to another type. */
static void put(void *base, size_t offset, const void *value, size_t size)
{
    memcpy((char *)base + offset, value, size);
}

static void put_unsigned(void *base, const struct schema_setting *setting, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    assert(setting->width == sizeof(value) || setting->width == sizeof(narrow));
    if (setting->width == sizeof(value))
        put(base, setting->offset, &value, sizeof(value));
    else
        put(base, setting->offset, &narrow, sizeof(narrow));
}

static int put_text(const struct value_context *context, void *base, size_t offset,
                    const char *text)
{
    char *copy = arena_string(context->arena, text);

    if (copy == NULL)
        return -ENOMEM;
    put(base, offset, &copy, sizeof(copy));
    return 0;
}

struct value value_from_text(const struct schema_setting *setting, const char *text)
{
    struct value value = {.kind = VALUE_TEXT, .text = text};
    uint64_t number;

    if (setting->type == SCHEMA_INTEGER && units_parse_integer(text, &number) == 0 &&
        number <= INT64_MAX) {
        value.kind = VALUE_INTEGER;
        value.integer = (long long)number;
    } else if (setting->type == SCHEMA_BOOLEAN) {
        value.kind = VALUE_BOOLEAN;
        value.boolean = strcmp(text, "true") == 0;
    }
    return value;
}

/* The number that a value stands for, in the setting's unit. */
static int parse_number(const struct schema_setting *setting, const struct value *value,
                        uint64_t *out)
{
    if (value->kind == VALUE_TEXT && setting->type == SCHEMA_SIZE)
        return units_parse_size(value->text, out);
    if (value->kind == VALUE_TEXT && setting->type == SCHEMA_TIME)
        return units_parse_time(value->text, out);
    if (value->kind == VALUE_TEXT && setting->type == SCHEMA_MODE)
        return units_parse_mode(value->text, out);
    if (value->kind == VALUE_REAL && setting->type == SCHEMA_TIME)
        return units_seconds_to_ms(value->real, out);
    if (value->kind != VALUE_INTEGER || setting->type == SCHEMA_MODE)
        return -EINVAL;
    if (value->integer < 0)
        return -ERANGE;
    *out = (uint64_t)value->integer;
    if (setting->type == SCHEMA_TIME && __builtin_mul_overflow(*out, 1000, out))
        return -ERANGE;
    return 0;
}

static int store_number(const struct schema_setting *setting, const struct value *value, void *base)
{
    uint64_t number;
    int error;

    if (value->kind == VALUE_TEXT && setting->choices != NULL) {
        const struct schema_choice *choice = schema_choice_find(setting, value->text);

        if (choice == NULL)
            return -EINVAL;
        put_unsigned(base, setting, choice->value);
        return 0;
    }
    error = parse_number(setting, value, &number);
    if (error != 0)
        return error;
    if (setting->max == 0) { /* a number that is one of the choices, such as a status */
        if (number > UINT32_MAX || schema_choice_name(setting, (unsigned)number) == NULL)
            return -ERANGE;
    } else if ((number < setting->min || number > setting->max) &&
               !(setting->or_zero && number == 0)) {
        return -ERANGE;
    }
    put_unsigned(base, setting, number);
    return 0;
}

/* A file that is written may come into being later; the folder that it is in may not. */
static int check_written(const char *path)
{
    struct stat attributes;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);

    if (length >= sizeof(folder))
        return -ENAMETOOLONG;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (stat(length == 0 ? "/" : folder, &attributes) != 0)
        return -errno;
    if (!S_ISDIR(attributes.st_mode))
        return -ENOTDIR;
    return stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode) ? -EISDIR : 0;
}

static int store_choice(const struct value_context *context, const struct schema_setting *setting,
                        const struct value *value, void *base)
{
    const struct schema_choice *choice;
    char *text;

    if (value->kind != VALUE_TEXT)
        return -EINVAL;
    choice = schema_choice_find(setting, value->text);
    if (choice != NULL) {
        put_unsigned(base, setting, choice->value);
        return setting->type == SCHEMA_CHOICE ? 0 : put_text(context, base, setting->extra, "");
    }
    if (setting->type == SCHEMA_CHOICE)
        return -EINVAL;
    if (setting->type == SCHEMA_FORMAT) {
        assert(setting->check != NULL);
        if (setting->check(value->text) != NULL)
            return -EINVAL;
        put_unsigned(base, setting, setting->other);
        return put_text(context, base, setting->extra, value->text);
    }
    /* A path without a slash is more likely a mistyped word: "of" must not become a file. */
    if (strchr(value->text, '/') == NULL || !rules_is_printable(value->text))
        return -EINVAL;
    text = value_absolute_path(context, value->text);
    if (text == NULL)
        return -ENOMEM;
    put_unsigned(base, setting, setting->other);
    put(base, setting->extra, &text, sizeof(text));
    return check_written(text);
}

char *value_absolute_path(const struct value_context *context, const char *text)
{
    size_t length = strlen(text);

    while (length > 1 && text[length - 1] == '/')
        length--;
    if (text[0] == '/' || length == 0)
        return arena_copy(context->arena, text, length);
    return arena_print(context->arena, "%s/%.*s",
                       strcmp(context->directory, "/") == 0 ? "" : context->directory, (int)length,
                       text);
}

/* Stored even if it is not there, so that the message about it stays the only one. */
static int store_path(const struct value_context *context, const struct schema_setting *setting,
                      const struct value *value, void *base)
{
    struct stat attributes;
    char *path;

    if (value->kind != VALUE_TEXT || !rules_is_printable(value->text))
        return -EINVAL;
    path = value_absolute_path(context, value->text);
    if (path == NULL)
        return -ENOMEM;
    put(base, setting->offset, &path, sizeof(path));
    if (path[0] == '\0')
        return 0;
    if (setting->type == SCHEMA_PATH)
        return check_written(path);
    if (stat(path, &attributes) != 0)
        return -errno;
    if (setting->type == SCHEMA_DIRECTORY && !S_ISDIR(attributes.st_mode))
        return -ENOTDIR;
    if (setting->type == SCHEMA_FILE && !S_ISREG(attributes.st_mode))
        return S_ISDIR(attributes.st_mode) ? -EISDIR : -EINVAL;
    return 0;
}

static int store_text(const struct value_context *context, const struct schema_setting *setting,
                      const struct value *value, void *base)
{
    if (value->kind != VALUE_TEXT || !rules_is_printable(value->text))
        return -EINVAL;
    if (setting->check != NULL && setting->check(value->text) != NULL)
        return -EINVAL;
    return put_text(context, base, setting->offset, value->text);
}

/* A wildcard keeps its short form: "[::]:80" would say that IPv4 alone will not do. */
static int store_address(const struct value_context *context, const struct value *value,
                         struct config_listen *listen)
{
    static const char unix_prefix[] = "unix:";
    size_t prefix_length = sizeof(unix_prefix) - 1;
    char canonical[ADDRESS_TEXT_BYTES];
    const char *text = value->text, *path = NULL;
    int error;

    if (value->kind != VALUE_TEXT || !rules_is_printable(text))
        return -EINVAL;
    /* Elsewhere an abstract socket, which has no owner and no mode: so neither that nor a file. */
    if (strncmp(text, unix_prefix, prefix_length) == 0 && text[prefix_length] == '@')
        return -EINVAL;
    if (strncmp(text, unix_prefix, prefix_length) == 0 && text[prefix_length] != '\0') {
        path = value_absolute_path(context, text + prefix_length);
        text = path == NULL ? NULL : arena_print(context->arena, "%s%s", unix_prefix, path);
        if (text == NULL)
            return -ENOMEM;
    }
    error = address_parse(text, &listen->sockaddr, &listen->sockaddr_length, &listen->wildcard);
    if (error != 0)
        return error;
    if (listen->wildcard)
        snprintf(canonical, sizeof(canonical), ":%u", address_port(&listen->sockaddr));
    else if (address_format(&listen->sockaddr, canonical, sizeof(canonical)) != 0)
        return -EINVAL;
    listen->address = arena_string(context->arena, canonical);
    if (listen->address == NULL)
        return -ENOMEM;
    return path == NULL ? 0 : check_written(path);
}

int value_store(const struct value_context *context, const struct schema_setting *setting,
                const struct value *value, void *base)
{
    switch (setting->type) {
    case SCHEMA_BOOLEAN:
        if (value->kind != VALUE_BOOLEAN)
            return -EINVAL;
        put(base, setting->offset, &value->boolean, sizeof(value->boolean));
        return 0;
    case SCHEMA_INTEGER:
    case SCHEMA_SIZE:
    case SCHEMA_TIME:
    case SCHEMA_MODE:
        return store_number(setting, value, base);
    case SCHEMA_CHOICE:
    case SCHEMA_TARGET:
    case SCHEMA_FORMAT:
        return store_choice(context, setting, value, base);
    case SCHEMA_TEXT:
        return store_text(context, setting, value, base);
    case SCHEMA_PATH:
    case SCHEMA_FILE:
    case SCHEMA_DIRECTORY:
        return store_path(context, setting, value, base);
    case SCHEMA_ADDRESS:
        return store_address(context, value, base);
    case SCHEMA_NAMES:
    case SCHEMA_HEADERS:
    case SCHEMA_GROUP:
    case SCHEMA_LIST:
        break;
    }
    return -EINVAL;
}

int value_store_names(const struct value_context *context, const struct schema_setting *setting,
                      const char *const *names, size_t count, void *base)
{
    char **copies = arena_array(context->arena, count, sizeof(*copies));

    assert(setting->type == SCHEMA_NAMES);
    if (copies == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        copies[i] = arena_string(context->arena, names[i]);
        if (copies[i] == NULL)
            return -ENOMEM;
    }
    put(base, setting->offset, &copies, sizeof(copies));
    put(base, setting->extra, &count, sizeof(count));
    return 0;
}

int value_store_standards(const struct value_context *context, const struct schema_record *record,
                          void *base)
{
    int error = 0;

    for (size_t i = 0; i < record->count && error == 0; i++) {
        const struct schema_setting *setting = &record->settings[i];

        if (setting->type == SCHEMA_GROUP) {
            error = value_store_standards(context, setting->record, (char *)base + setting->offset);
        } else if (setting->standard != NULL && setting->type == SCHEMA_NAMES) {
            error = value_store_names(context, setting, &setting->standard, 1, base);
        } else if (setting->standard != NULL) {
            struct value value = value_from_text(setting, setting->standard);

            error = value_store(context, setting, &value, base);
        }
    }
    return error;
}

const char *value_found(const struct value *value, char *out, size_t size)
{
    switch (value->kind) {
    case VALUE_BOOLEAN:
        return value->boolean ? "true" : "false";
    case VALUE_INTEGER:
        snprintf(out, size, "%lld", value->integer);
        return out;
    case VALUE_REAL:
        snprintf(out, size, "%g", value->real);
        return out;
    case VALUE_TEXT:
        snprintf(out, size, "\"%.100s%s\"", value->text, strlen(value->text) > 100 ? "..." : "");
        return out;
    case VALUE_LIST:
        return "a list";
    case VALUE_GROUP:
        return "a group";
    }
    return "";
}

/* Where it is the unit that is wrong, and not the range, those that there are. */
static void append_units(const struct schema_setting *setting, const char *text, char *out,
                         size_t size)
{
    size_t used = strlen(out);
    uint64_t number;

    if (setting->type == SCHEMA_SIZE && units_parse_size(text, &number) == -EINVAL)
        snprintf(out + used, size - used,
                 ", in bytes or with K, M, G or T right behind the number");
    else if (setting->type == SCHEMA_TIME && units_parse_time(text, &number) == -EINVAL)
        snprintf(out + used, size - used,
                 ", in seconds or with ms, s, m or h right behind the number");
}

const char *value_expected(const struct schema_setting *setting, const struct value *value,
                           int error, char *out, size_t size)
{
    const char *amiss = NULL;

    if (value->kind == VALUE_TEXT) {
        if (setting->check != NULL && setting->type != SCHEMA_NAMES)
            amiss = setting->check(value->text);
        else if (setting->type == SCHEMA_ADDRESS)
            amiss = address_expected(value->text, error);
    }
    if (amiss != NULL)
        return amiss;
    schema_describe(setting, out, size);
    if (value->kind == VALUE_TEXT)
        append_units(setting, value->text, out, size);
    return out;
}

const char *value_suggestion(const struct schema_setting *setting, const struct value *value)
{
    struct suggestion suggestion = {.name = value->text};

    if (value->kind != VALUE_TEXT || setting->choices == NULL)
        return NULL;
    for (const struct schema_choice *choice = setting->choices; choice->name != NULL; choice++)
        suggest_offer(&suggestion, choice->name);
    return suggestion.nearest;
}
