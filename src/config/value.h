/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

/*
 * One value on its way from a file, a default or the command line into the struct: checked
 * against its row of the schema, then stored where the row says.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/schema.h"

struct config_arena;

enum value_kind {
    VALUE_BOOLEAN,
    VALUE_INTEGER,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_LIST, /* what is in it is not here: lists and groups are walked by load.c */
    VALUE_GROUP,
};

struct value {
    enum value_kind kind;
    bool boolean;
    long long integer;
    double real;
    const char *text;
};

/* Where values go, and what they are made of. */
struct value_context {
    struct config_arena *arena; /* copies of texts */
    const char *directory;      /* relative paths are taken from here */
};

/* A default or an argument: a text, or what its setting's type makes of it. */
struct value value_from_text(const struct schema_setting *setting, const char *text);

/*
 * Stores the value in the struct at base. 0; -EINVAL or -ERANGE if it is not what the setting
 * takes (see value_expected()); -ENOMEM; or the error with which a path that must exist could not
 * be looked at. Not for groups, lists, names and headers.
 */
int value_store(const struct value_context *context, const struct schema_setting *setting,
                const struct value *value, void *base);

/* An array of texts, each of which must pass the setting's check; they are copied. 0 or -ENOMEM. */
int value_store_names(const struct value_context *context, const struct schema_setting *setting,
                      const char *const *names, size_t count, void *base);

/* The setting's standard values, those of its groups included, in the struct at base: 0 or
 * -ENOMEM. What has none is left as it is. */
int value_store_standards(const struct value_context *context, const struct schema_record *record,
                          void *base);

/* The text as an absolute path, without slashes at its end; "" stays. NULL without memory. */
char *value_absolute_path(const struct value_context *context, const char *text);

/* For messages, all into out: what was found; what the setting takes, with what is amiss with this
 * very value, for which value_store() gave the error; the nearest known word, or NULL. */
const char *value_found(const struct value *value, char *out, size_t size);
const char *value_expected(const struct schema_setting *setting, const struct value *value,
                           int error, char *out, size_t size);
const char *value_suggestion(const struct schema_setting *setting, const struct value *value);

#endif
