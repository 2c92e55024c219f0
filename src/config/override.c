/* SPDX-License-Identifier: MIT */
/*
 * Puts what the command line says over what the file says, and makes a configuration of a mere
 * directory. Does not parse options: main does.
 * Called by load.c and by main.
 */
#include "config/load.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "config/rules.h"

/* Relative paths of the command line are the shell's, not the file's. */
static struct value_context shell_context(const struct loader *loader, char *directory, size_t size)
{
    if (getcwd(directory, size) == NULL)
        snprintf(directory, size, ".");
    return (struct value_context){loader->values.arena, directory};
}

/* One option, stored as the setting of that name in the record would be. */
static void apply(struct loader *loader, const char *option, const char *text,
                  const struct schema_record *record, const char *name, void *base)
{
    char directory[PATH_MAX];
    struct value_context context = shell_context(loader, directory, sizeof(directory));
    size_t offset;
    const struct schema_setting *row = schema_find(record, name, &offset);
    struct schema_setting setting;
    struct value value;
    int error;

    assert(row != NULL);
    if (text == NULL)
        return;
    value = value_from_text(row, text);
    error = value_store(&context, row, &value, base);
    if (error != 0) {
        setting = *row;
        setting.name = option; /* so that the message names what was typed */
        load_refuse(loader, 0, "--", &setting, &value, error);
    }
}

static const struct schema_record *group_of(const char *name)
{
    size_t offset;
    const struct schema_setting *setting = schema_find(&schema_file, name, &offset);

    assert(setting != NULL && setting->record != NULL);
    return setting->record;
}

void override_prepare(struct loader *loader)
{
    const struct config_overrides *overrides = loader->overrides;

    if (overrides->echo_path != NULL) {
        const char *expected = rules_check_path(overrides->echo_path);

        if (expected != NULL)
            errors_add(&loader->errors, 0, "--echo: expected %s, found \"%.200s\"", expected,
                       overrides->echo_path);
        else
            loader->echo_path = arena_string(loader->values.arena, overrides->echo_path);
        if (expected == NULL && loader->echo_path == NULL)
            errors_add_memory(&loader->errors);
    }
    if (overrides->access_log != NULL) {
        struct config_access_log *access_log =
            arena_array(loader->values.arena, 1, sizeof(*access_log));

        if (access_log == NULL) {
            errors_add_memory(&loader->errors);
            return;
        }
        access_log->path = "";
        apply(loader, "access-log", overrides->access_log, group_of("access_log"), "target",
              access_log);
        loader->access_log = access_log;
    }
}

static void replace_listeners(struct loader *loader, const char *const *addresses, size_t count,
                              const char *source)
{
    struct config_listen *listen = arena_array(loader->values.arena, count, sizeof(*listen));

    if (listen == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        site_begin(loader, &schema_listen, &listen[i], loader->config, 0);
        listen[i].source = source;
        apply(loader, "listen", addresses[i], &schema_listen, "address", &listen[i]);
    }
    loader->config->listen = listen;
    loader->config->listen_count = count;
}

void override_apply(struct loader *loader)
{
    static const char *const standard[] = {"127.0.0.1:8080"};
    const struct config_overrides *overrides = loader->overrides;
    struct config *config = loader->config;

    apply(loader, "workers", overrides->workers, &schema_file, "workers", config);
    apply(loader, "backend", overrides->backend, &schema_file, "backend", config);
    apply(loader, "verbose", overrides->level, group_of("error_log"), "level", &config->error_log);
    if (overrides->listen_count > 0)
        replace_listeners(loader, overrides->listen, overrides->listen_count, "--listen");
    else if (config->listen_count == 0)
        replace_listeners(loader, standard, 1, "");
}

static int refuse_directory(const char *directory, int error, const struct config_errors *errors)
{
    char line[PATH_MAX + 128];

    snprintf(line, sizeof(line), "%s: %s", directory, strerror(error));
    errors->report(errors->data, line);
    return -error;
}

/* As a text in quotes, for libconfig. */
static size_t quote(const char *text, char *out)
{
    size_t used = 0;

    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            out[used++] = '\\';
        out[used++] = *text;
    }
    out[used] = '\0';
    return used;
}

int config_from_directory(const char *directory, const struct config_overrides *overrides,
                          struct config **out, const struct config_errors *errors)
{
    char resolved[PATH_MAX], quoted[2 * PATH_MAX], text[2 * PATH_MAX + 128];
    struct stat attributes;
    int length;

    *out = NULL;
    if (realpath(directory, resolved) == NULL || stat(resolved, &attributes) != 0)
        return refuse_directory(directory, errno, errors);
    if (!S_ISDIR(attributes.st_mode))
        return refuse_directory(directory, ENOTDIR, errors);
    if (!rules_is_printable(resolved))
        return refuse_directory(directory, EINVAL, errors);
    quote(resolved, quoted);
    length =
        snprintf(text, sizeof(text), "hosts = ( { root = \"%s\"; listing = true; } );\n", quoted);
    return config_load_text(text, (size_t)length, "", overrides, out, errors);
}
