/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

/*
 * The one table of what can be set: loading, range checks, defaults, messages, the dump and the
 * test of the manual all follow from it. A record is a group of settings that fills one struct;
 * a setting is one row of a record.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_type {
    SCHEMA_BOOLEAN,   /* bool */
    SCHEMA_INTEGER,   /* unsigned of .width; a name of .choices stands for its value */
    SCHEMA_SIZE,      /* unsigned of .width, bytes */
    SCHEMA_TIME,      /* unsigned of .width, milliseconds */
    SCHEMA_MODE,      /* unsigned of .width, permission bits */
    SCHEMA_CHOICE,    /* enum of .choices */
    SCHEMA_TEXT,      /* const char * without control bytes, that passes .check */
    SCHEMA_PATH,      /* const char *, made absolute, of a file that is written; or "" */
    SCHEMA_FILE,      /* the same, of a regular file that exists */
    SCHEMA_DIRECTORY, /* the same, of a directory that exists; or "" */
    SCHEMA_TARGET,    /* enum of .choices, or .other and at .extra the path */
    SCHEMA_FORMAT,    /* enum of .choices, or .other and at .extra the text */
    SCHEMA_ADDRESS,   /* fills a struct config_listen */
    SCHEMA_NAMES,     /* array of const char * that pass .check, at .extra their number */
    SCHEMA_HEADERS,   /* array of struct config_header, at .extra their number */
    SCHEMA_GROUP,     /* the struct of .record, in place */
    SCHEMA_LIST,      /* array of .record's structs, at .extra their number */
};

struct schema_choice {
    const char *name; /* NULL ends the list */
    unsigned value;
};

/* NULL if the text will do, else what was expected instead. */
typedef const char *schema_check_fn(const char *text);

struct schema_record;

struct schema_setting {
    const char *name;
    enum schema_type type;
    bool required;
    size_t offset;        /* in the record's struct */
    size_t extra;         /* offset of what goes with it */
    size_t width;         /* bytes of an unsigned number */
    const char *standard; /* the default as text; NULL: empty, or from the level above */
    uint64_t min, max;
    bool or_zero; /* 0 is taken, too, though it is below .min */
    const struct schema_choice *choices;
    unsigned other; /* value for what is none of the choices */
    schema_check_fn *check;
    const char *expected; /* what .check wants, for messages and the manual */
    const struct schema_record *record;
    const char *about; /* one line */
};

struct schema_record {
    const char *name; /* of one such group, in messages: "limits", "host" */
    size_t bytes;     /* of its struct */
    const struct schema_setting *settings;
    size_t count;
    const struct schema_record *shared; /* settings that are given on to the level below */
    size_t shared_offset;               /* their struct within this one */
};

/* The file itself; all other records hang on it. */
extern const struct schema_record schema_file;
extern const struct schema_record schema_listen;
extern const struct schema_record schema_host;
extern const struct schema_record schema_location;
extern const struct schema_record schema_auth;

/* The setting of that name in the record or its shared part, or NULL. *out_offset is where the
 * struct begins that the setting's offset counts from. */
const struct schema_setting *schema_find(const struct schema_record *record, const char *name,
                                         size_t *out_offset);

/* The value's name, or NULL. */
const char *schema_choice_name(const struct schema_setting *setting, unsigned value);
const struct schema_choice *schema_choice_find(const struct schema_setting *setting,
                                               const char *name);

/* What the setting takes: "an integer from 1 to 65535", "a size from 1K to 1M". Returns out. */
const char *schema_describe(const struct schema_setting *setting, char *out, size_t size);

#endif
