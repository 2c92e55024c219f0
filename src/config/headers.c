/* SPDX-License-Identifier: MIT */
/*
 * Reads the header fields of a location, on top of those that it inherits.
 * Does not add them to responses: the server does.
 * Called by walk.c.
 */
#include "config/load.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "config/arena.h"
#include "config/rules.h"

/* Whether the field is good; what is wrong with it is told. */
static bool check_field(struct loader *loader, const config_setting_t *node, const char *value)
{
    unsigned line = (unsigned)config_setting_source_line(node);
    const char *name = config_setting_name(node);
    const char *expected = rules_check_header_name(name);

    if (expected != NULL) {
        errors_add(&loader->errors, line, "headers: expected %s, found \"%.100s\"", expected, name);
        return false;
    }
    expected = value == NULL ? "a text in quotes" : rules_check_header_value(value);
    if (expected != NULL)
        errors_add(&loader->errors, line, "headers.%.100s: expected %s", name, expected);
    return expected == NULL;
}

static size_t find_field(const struct config_header *headers, size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcasecmp(headers[i].name, name) != 0)
        i++;
    return i;
}

/* Puts the field in its place among count others, or takes it away if it has no value. Returns the
 * new count; headers has room for one more. */
static size_t set_field(struct loader *loader, struct config_header *headers, size_t count,
                        const char *name, const char *value)
{
    size_t at = find_field(headers, count, name);

    if (value[0] == '\0') {
        if (at == count)
            return count;
        memmove(&headers[at], &headers[at + 1], (count - at - 1) * sizeof(*headers));
        return count - 1;
    }
    headers[at].name = arena_string(loader->values.arena, name);
    headers[at].value = arena_string(loader->values.arena, value);
    if (headers[at].name == NULL || headers[at].value == NULL) {
        errors_add_memory(&loader->errors);
        return at;
    }
    return at == count ? count + 1 : count;
}

void headers_load(struct loader *loader, const struct schema_setting *setting,
                  const config_setting_t *group, void *base)
{
    char *place = (char *)base + setting->offset, *count_place = (char *)base + setting->extra;
    const struct config_header *inherited;
    size_t own = (size_t)config_setting_length(group), count, most;
    struct config_header *headers;

    memcpy(&inherited, place, sizeof(inherited));
    memcpy(&count, count_place, sizeof(count));
    most = count + own;
    headers = arena_array(loader->values.arena, most, sizeof(*headers));
    if (headers == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    if (count > 0)
        memcpy(headers, inherited, count * sizeof(*headers));
    for (size_t i = 0; i < own && !loader->errors.out_of_memory; i++) {
        const config_setting_t *node =
            config_setting_get_elem((config_setting_t *)group, (unsigned)i);
        const char *value = config_setting_get_string(node);

        if (check_field(loader, node, value))
            count = set_field(loader, headers, count, config_setting_name(node), value);
    }
    assert(count <= most);
    memcpy(place, &headers, sizeof(headers));
    memcpy(count_place, &count, sizeof(count));
}
