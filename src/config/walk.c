/* SPDX-License-Identifier: MIT */
/*
 * Walks libconfig's tree along the schema, from group to group, and stores each value.
 * Does not know single settings, nor what they have to do with each other.
 * Called by load.c.
 */
#include "config/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/arena.h"
#include "config/suggest.h"

static void load_record(struct loader *loader, const struct schema_record *record,
                        const config_setting_t *group, void *base);

static unsigned line_of(const config_setting_t *setting)
{
    return (unsigned)config_setting_source_line(setting);
}

static void refuse(struct loader *loader, const struct schema_record *record,
                   const struct schema_setting *setting, const config_setting_t *node,
                   const struct value *value, int error)
{
    char prefix[64];

    snprintf(prefix, sizeof(prefix), "%s%s", record->name, record->name[0] == '\0' ? "" : ".");
    load_refuse(loader, line_of(node), prefix, setting, value, error);
}

static struct value value_of(const config_setting_t *node)
{
    struct value value = {.kind = VALUE_LIST};

    switch (config_setting_type(node)) {
    case CONFIG_TYPE_BOOL:
        value.kind = VALUE_BOOLEAN;
        value.boolean = config_setting_get_bool(node) != 0;
        break;
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        value.kind = VALUE_INTEGER;
        value.integer = config_setting_get_int64(node);
        break;
    case CONFIG_TYPE_FLOAT:
        value.kind = VALUE_REAL;
        value.real = config_setting_get_float(node);
        break;
    case CONFIG_TYPE_STRING:
        value.kind = VALUE_TEXT;
        value.text = config_setting_get_string(node);
        break;
    case CONFIG_TYPE_GROUP:
        value.kind = VALUE_GROUP;
        break;
    default:
        break;
    }
    return value;
}

/* One text, or a list of them: a name of which there is one needs no list around it. */
static void load_names(struct loader *loader, const struct schema_record *record,
                       const struct schema_setting *setting, const config_setting_t *node,
                       void *base)
{
    bool single = config_setting_type(node) == CONFIG_TYPE_STRING;
    size_t count = single ? 1 : (size_t)config_setting_length(node);
    const char **names;
    bool refused = false;

    if (!single && !config_setting_is_list(node) && !config_setting_is_array(node)) {
        struct value value = value_of(node);

        refuse(loader, record, setting, node, &value, -EINVAL);
        return;
    }
    names = arena_array(loader->values.arena, count, sizeof(*names));
    if (names == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const config_setting_t *item = single ? node : config_setting_get_elem(node, (unsigned)i);
        struct value value = value_of(item);
        const char *expected =
            value.kind == VALUE_TEXT ? setting->check(value.text) : "a text in quotes";
        char found[128];

        names[i] = value.text;
        if (expected == NULL)
            continue;
        refused = true;
        errors_add(&loader->errors, line_of(item), "%s%s%s: expected %s, found %s", record->name,
                   record->name[0] == '\0' ? "" : ".", setting->name, expected,
                   value_found(&value, found, sizeof(found)));
    }
    if (!refused && value_store_names(&loader->values, setting, names, count, base) != 0)
        errors_add_memory(&loader->errors);
}

static void load_list(struct loader *loader, const struct schema_setting *setting,
                      const config_setting_t *node, void *base)
{
    const struct schema_record *record = setting->record;
    size_t count = (size_t)config_setting_length(node);
    char *elements = arena_array(loader->values.arena, count, record->bytes);

    if (elements == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const config_setting_t *group = config_setting_get_elem(node, (unsigned)i);
        char *element = elements + i * record->bytes;

        site_begin(loader, record, element, base, line_of(group));
        if (config_setting_is_group(group)) {
            load_record(loader, record, group, element);
            site_end(loader, record, element, group);
        } else {
            struct value value = value_of(group);
            char found[128];

            errors_add(&loader->errors, line_of(group),
                       "%s: expected a group in each place of the list, found %s", setting->name,
                       value_found(&value, found, sizeof(found)));
        }
    }
    memcpy((char *)base + setting->offset, &elements, sizeof(elements));
    memcpy((char *)base + setting->extra, &count, sizeof(count));
}

static void load_setting(struct loader *loader, const struct schema_record *record,
                         const struct schema_setting *setting, const config_setting_t *node,
                         void *base)
{
    struct value value = value_of(node);
    int error = -EINVAL;

    switch (setting->type) {
    case SCHEMA_NAMES:
        load_names(loader, record, setting, node, base);
        return;
    case SCHEMA_GROUP:
        if (value.kind != VALUE_GROUP)
            break;
        load_record(loader, setting->record, node, (char *)base + setting->offset);
        site_end(loader, setting->record, (char *)base + setting->offset, node);
        return;
    case SCHEMA_HEADERS:
        if (value.kind != VALUE_GROUP)
            break;
        headers_load(loader, setting, node, base);
        return;
    case SCHEMA_LIST:
        if (value.kind != VALUE_LIST)
            break;
        load_list(loader, setting, node, base);
        return;
    default:
        error = value_store(&loader->values, setting, &value, base);
        if (error == 0)
            return;
        break;
    }
    refuse(loader, record, setting, node, &value, error);
}

/* The group that knows a name which its own does not: settings are often one level astray. */
static const struct schema_setting *find_home(const struct schema_record *record, const char *name)
{
    size_t offset;

    for (size_t i = 0; i < record->count; i++) {
        const struct schema_setting *setting = &record->settings[i], *found;

        if (setting->record == NULL)
            continue;
        if (schema_find(setting->record, name, &offset) != NULL)
            return setting;
        found = find_home(setting->record, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static void refuse_unknown(struct loader *loader, const struct schema_record *record,
                           const config_setting_t *node)
{
    const char *name = config_setting_name(node);
    struct suggestion suggestion = {.name = name};
    const struct schema_setting *home = find_home(&schema_file, name);
    const char *in = record->name[0] == '\0' ? "" : " in ";

    for (const struct schema_record *part = record; part != NULL; part = part->shared) {
        for (size_t i = 0; i < part->count; i++)
            suggest_offer(&suggestion, part->settings[i].name);
    }
    if (suggestion.nearest != NULL)
        errors_add(&loader->errors, line_of(node),
                   "unknown setting \"%.64s\"%s%s; did you mean \"%s\"?", name, in, record->name,
                   suggestion.nearest);
    else if (home != NULL)
        errors_add(&loader->errors, line_of(node),
                   "unknown setting \"%.64s\"%s%s; it belongs in %s", name, in, record->name,
                   home->name);
    else
        errors_add(&loader->errors, line_of(node), "unknown setting \"%.64s\"%s%s", name, in,
                   record->name);
}

static bool knows_all_elements(const struct schema_record *record, const config_setting_t *list)
{
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);

        if (config_setting_is_group(element) && !walk_knows_all(record, element))
            return false;
    }
    return true;
}

bool walk_knows_all(const struct schema_record *record, const config_setting_t *group)
{
    size_t offset;

    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *node = config_setting_get_elem(group, (unsigned)i);
        const struct schema_setting *setting =
            schema_find(record, config_setting_name(node), &offset);

        if (setting == NULL)
            return false;
        if (setting->record == NULL)
            continue;
        if (config_setting_is_group(node) ? !walk_knows_all(setting->record, node)
                                          : !knows_all_elements(setting->record, node))
            return false;
    }
    return true;
}

/* In the order of the schema, not of the file: what is given on to others must be there first.
 * Settings that several groups share are told of by the name of the one that they were found in. */
static void load_known(struct loader *loader, const struct schema_record *home,
                       const struct schema_record *record, const config_setting_t *group,
                       void *base)
{
    if (record->shared != NULL)
        load_known(loader, home, record->shared, group, (char *)base + record->shared_offset);
    for (size_t i = 0; i < record->count; i++) {
        const struct schema_setting *setting = &record->settings[i];
        const config_setting_t *node =
            config_setting_get_member((config_setting_t *)group, setting->name);

        if (node != NULL)
            load_setting(loader, home, setting, node, base);
        else if (setting->required && walk_knows_all(home, group))
            errors_add(&loader->errors, line_of(group), "%s: \"%s\" is missing", home->name,
                       setting->name);
    }
}

static void load_record(struct loader *loader, const struct schema_record *record,
                        const config_setting_t *group, void *base)
{
    size_t offset;

    load_known(loader, record, record, group, base);
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *node = config_setting_get_elem(group, (unsigned)i);

        if (schema_find(record, config_setting_name(node), &offset) == NULL)
            refuse_unknown(loader, record, node);
    }
}

void walk_file(struct loader *loader, const config_setting_t *root)
{
    load_record(loader, &schema_file, root, loader->config);
}
