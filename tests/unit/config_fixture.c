/* SPDX-License-Identifier: MIT */
/*
 * Sets up a folder for the tests of the configuration and keeps the messages of each load.
 * Does not know what is tested.
 * Called by tests/unit/test_config_*.c.
 */

#include "config_fixture.h"

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char fixture_folder[256];
char fixture_messages[16384];

static void on_message(void *data, const char *line)
{
    size_t used = strlen(fixture_messages), folder = strlen(fixture_folder);
    const char *found;

    (void)data;
    ck_assert_msg(strchr(line, '\n') == NULL, "a message of two lines: %s", line);
    while ((found = strstr(line, fixture_folder)) != NULL) {
        used += (size_t)snprintf(fixture_messages + used, sizeof(fixture_messages) - used, "%.*s",
                                 (int)(found - line), line);
        line = found + folder + (found[folder] == '/');
        ck_assert_uint_lt(used, sizeof(fixture_messages));
    }
    used +=
        (size_t)snprintf(fixture_messages + used, sizeof(fixture_messages) - used, "%s\n", line);
    ck_assert_uint_lt(used, sizeof(fixture_messages));
}

const struct config_errors fixture_errors = {.report = on_message};

void fixture_setup(void)
{
    const char *where = getenv("TMPDIR");
    char path[sizeof(fixture_folder) + 8], resolved[4096];

    snprintf(path, sizeof(path), "%s/evixd-config-XXXXXX", where == NULL ? "/tmp" : where);
    ck_assert_ptr_nonnull(mkdtemp(path));
    ck_assert_ptr_nonnull(realpath(path, resolved));
    ck_assert_uint_lt(strlen(resolved), sizeof(fixture_folder));
    strcpy(fixture_folder, resolved);
    snprintf(path, sizeof(path), "%s/www", fixture_folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/logs", fixture_folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    fixture_messages[0] = '\0';
}

static int on_entry(const char *path, const struct stat *attributes, int type, struct FTW *ftw)
{
    (void)attributes;
    (void)type;
    (void)ftw;
    return remove(path);
}

void fixture_teardown(void)
{
    ck_assert_int_eq(nftw(fixture_folder, on_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void fixture_write(const char *name, const char *text)
{
    char path[sizeof(fixture_folder) + 64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

char *fixture_expand(const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);

    ck_assert_ptr_nonnull(stream);
    for (; *text != '\0'; text++) {
        if (*text == '@' && strncmp(text, "@include", 8) != 0)
            fputs(fixture_folder, stream);
        else
            putc(*text, stream);
    }
    ck_assert_int_eq(fclose(stream), 0);
    return out;
}

struct config *fixture_load(const char *text, const struct config_overrides *overrides,
                            int expected)
{
    char path[sizeof(fixture_folder) + 64];
    char *expanded = fixture_expand(text);
    struct config *config;
    int result;

    fixture_messages[0] = '\0';
    fixture_write("test.conf", expanded);
    snprintf(path, sizeof(path), "%s/test.conf", fixture_folder);
    result = config_load(path, overrides, &config, &fixture_errors);
    ck_assert_msg(result == expected, "loading returned %d, not %d, saying:\n%.2000s", result,
                  expected, fixture_messages);
    ck_assert_msg((result == 0) == (config != NULL), "result and configuration differ");
    ck_assert_msg((result == 0) == (fixture_messages[0] == '\0'), "result and messages differ: %s",
                  fixture_messages);
    free(expanded);
    return config;
}

void fixture_refuse(const char *text, const char *messages)
{
    fixture_load(text, NULL, -EINVAL);
    ck_assert_msg(strcmp(fixture_messages, messages) == 0, "of:\n%s\nit said:\n%snot:\n%s", text,
                  fixture_messages, messages);
}

const struct config_location *fixture_location(const struct config *config, size_t host,
                                               const char *path)
{
    for (size_t i = 0; i < config->hosts[host].location_count; i++) {
        if (strcmp(config->hosts[host].locations[i].path, path) == 0)
            return &config->hosts[host].locations[i];
    }
    ck_abort_msg("host %zu has no location %s", host, path);
    return NULL;
}

char *fixture_dump(const struct config *config)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(config_dump(config, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    return out;
}
