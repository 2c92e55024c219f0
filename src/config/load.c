/* SPDX-License-Identifier: MIT */
/*
 * Loads a configuration: file, joined text, libconfig's tree, structs, checks, in this order.
 * Does not know single settings, nor print: messages go to the caller's sink.
 * Called by main and by the daemon's reload.
 */
#include "config/load.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"

const char *load_source(struct loader *loader, unsigned line)
{
    unsigned file_line;
    const char *file = text_place(&loader->text, line, &file_line);
    const char *source = arena_print(loader->values.arena, "%s:%u", file, file_line);

    if (source == NULL) {
        errors_add_memory(&loader->errors);
        return "";
    }
    return source;
}

/* The path in a value that names one: that of a unix socket has a prefix. */
static const char *path_of(const struct schema_setting *setting, const struct value *value)
{
    static const char prefix[] = "unix:";
    size_t length = sizeof(prefix) - 1;

    if (setting->type == SCHEMA_ADDRESS && strncmp(value->text, prefix, length) == 0)
        return value->text + length;
    return value->text;
}

void load_refuse(struct loader *loader, unsigned line, const char *prefix,
                 const struct schema_setting *setting, const struct value *value, int error)
{
    const char *suggestion = value_suggestion(setting, value);
    bool is_written = setting->type == SCHEMA_TARGET || setting->type == SCHEMA_PATH ||
                      setting->type == SCHEMA_ADDRESS;
    char expected[256], found[128];

    if (error == -ENOMEM)
        errors_add_memory(&loader->errors);
    else if (error == -EINVAL || error == -ERANGE || error == -ENAMETOOLONG)
        errors_add(&loader->errors, line, "%s%s: expected %s, found %s%s%s%s", prefix,
                   setting->name, value_expected(setting, value, error, expected, sizeof(expected)),
                   value_found(value, found, sizeof(found)),
                   suggestion == NULL ? "" : "; did you mean \"",
                   suggestion == NULL ? "" : suggestion, suggestion == NULL ? "" : "\"?");
    else
        errors_add(&loader->errors, line, "%s%s: %s\"%.400s\": %s", prefix, setting->name,
                   is_written && error != -EISDIR ? "the folder of " : "", path_of(setting, value),
                   strerror(-error));
}

/* The value that the line gives to its only setting; NULL if it is not as simple as that. */
static const char *value_on_line(const char *line, size_t length, size_t *out_name_length)
{
    size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    size_t at = name;

    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    if (name == 0 || at >= length || (line[at] != '=' && line[at] != ':') ||
        memchr(line + at + 1, '=', length - at - 1) != NULL)
        return NULL;
    *out_name_length = name;
    at++;
    return line + at + strspn(line + at, " \t");
}

static const char *syntax_hint(const char *line, size_t length)
{
    size_t name_length, word;
    const char *value = value_on_line(line, length, &name_length);

    if (value != NULL && *value == '\'')
        return "expected a text in double quotes";
    if (value != NULL && isalpha((unsigned char)*value)) {
        word = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (!(word == 4 && strncasecmp(value, "true", 4) == 0) &&
            !(word == 5 && strncasecmp(value, "false", 5) == 0))
            return "expected true, false, or a text in double quotes";
    }
    return "expected name = value; or a closing bracket";
}

/* Names the setting where the line has but one. */
static void refuse_duplicate(struct loader *loader, unsigned line, const char *text, size_t length)
{
    size_t name_length;

    if (value_on_line(text, length, &name_length) != NULL)
        errors_add(&loader->errors, line, "%.*s: this setting was given before: %.*s",
                   (int)name_length, text, (int)length, text);
    else
        errors_add(&loader->errors, line, "a setting was given before: %.*s", (int)length, text);
}

/* libconfig says where it gave up, not why: show what stands there. */
static void refuse_syntax(struct loader *loader, const config_t *tree)
{
    unsigned line = (unsigned)config_error_line(tree), at = 1;
    bool twice = strstr(config_error_text(tree), "duplicate") != NULL;
    const char *text = loader->text.bytes == NULL ? "" : loader->text.bytes;
    size_t length;

    while (at < line && *text != '\0')
        at += *text++ == '\n';
    text += strspn(text, " \t\r");
    length = strcspn(text, "\n");
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length > 60)
        length = 60;
    if (*text == '\0')
        errors_add(&loader->errors, line, "%s at the end of the file: is a bracket left open?",
                   config_error_text(tree));
    else if (twice)
        refuse_duplicate(loader, line, text, length);
    else
        errors_add(&loader->errors, line, "%s at or before: %.*s (%s)", config_error_text(tree),
                   (int)length, text, syntax_hint(text, length));
}

static void load_tree(struct loader *loader)
{
    bool whole = loader->errors.count == 0;
    config_t tree;

    config_init(&tree);
    if (!config_read_string(&tree, loader->text.bytes == NULL ? "" : loader->text.bytes)) {
        if (whole) /* else the cause was told already */
            refuse_syntax(loader, &tree);
        goto destroy;
    }
    override_prepare(loader);
    walk_file(loader, config_root_setting(&tree));
    override_apply(loader);
    if (whole) /* else it is no wonder if something is missing */
        check_config(loader, config_root_setting(&tree));
destroy:
    config_destroy(&tree);
}

/* The folder that a file lies in, absolute if that can be found out. */
static char *folder_of(struct config_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL
                       ? arena_string(arena, ".")
                       : arena_copy(arena, path, (size_t)(slash - path) + (slash == path));
    char resolved[PATH_MAX];

    if (folder == NULL || realpath(folder, resolved) == NULL)
        return folder;
    return arena_string(arena, resolved);
}

static int loader_init(struct loader *loader, const char *name,
                       const struct config_overrides *overrides)
{
    static const struct config_overrides none;
    struct config_arena *arena = arena_new();
    struct config *config;

    memset(loader, 0, sizeof(*loader));
    if (arena == NULL)
        return -ENOMEM;
    config = arena_array(arena, 1, sizeof(*config));
    if (config == NULL)
        goto free_arena;
    config->arena = arena;
    config->path = arena_string(arena, name);
    loader->config = config;
    loader->overrides = overrides == NULL ? &none : overrides;
    loader->values.arena = arena;
    loader->values.directory = folder_of(arena, name);
    text_init(&loader->text, arena);
    if (config->path == NULL || loader->values.directory == NULL)
        goto free_arena;
    site_begin(loader, &schema_file, config, NULL, 0);
    return 0;
free_arena:
    arena_free(arena);
    return -ENOMEM;
}

/* Memory that ran out is the one error that needs no place in the list. */
static int refuse_memory(const struct config_errors *errors)
{
    errors->report(errors->data, "out of memory");
    return -ENOMEM;
}

static int finish(struct loader *loader, int error, struct config **out,
                  const struct config_errors *errors)
{
    int result;

    if (error == 0 && !loader->text.broken && !loader->errors.out_of_memory)
        load_tree(loader);
    result = errors_report(&loader->errors, &loader->text, errors);
    errors_fini(&loader->errors);
    if (error != 0)
        result = error;
    if (result == 0)
        *out = loader->config;
    else
        arena_free(loader->values.arena);
    return result;
}

int config_load(const char *path, const struct config_overrides *overrides, struct config **out,
                const struct config_errors *errors)
{
    struct loader loader;

    *out = NULL;
    if (loader_init(&loader, path, overrides) != 0)
        return refuse_memory(errors);
    return finish(&loader, text_add_file(&loader.text, path, &loader.errors), out, errors);
}

int config_load_text(const char *text, size_t length, const char *name,
                     const struct config_overrides *overrides, struct config **out,
                     const struct config_errors *errors)
{
    struct loader loader;

    *out = NULL;
    if (loader_init(&loader, name, overrides) != 0)
        return refuse_memory(errors);
    text_add(&loader.text, name, text, length, &loader.errors);
    return finish(&loader, 0, out, errors);
}

void config_free(struct config *config)
{
    if (config != NULL)
        arena_free(config->arena);
}
