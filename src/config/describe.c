/* SPDX-License-Identifier: MIT */
/*
 * Says in words what a setting takes, out of its row in the schema.
 * Does not check values: value.c does.
 * Called for messages, and by the test that compares the manual with the schema.
 */
#include "config/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"

/* Appends "a", "b" or LAST; numbers go without quotes. */
static size_t describe_choices(const struct schema_setting *setting, const char *last, char *out,
                               size_t size)
{
    const char *quote = setting->type == SCHEMA_INTEGER && setting->max == 0 ? "" : "\"";
    size_t used = 0;

    for (const struct schema_choice *choice = setting->choices; choice->name != NULL; choice++) {
        bool more = choice[1].name != NULL;
        const char *separator = choice == setting->choices ? "" : more || last ? ", " : " or ";

        used += (size_t)snprintf(out + used, size - used, "%s%s%s%s", separator, quote,
                                 choice->name, quote);
    }
    if (last != NULL)
        used += (size_t)snprintf(out + used, size - used, " or %s", last);
    return used;
}

static void describe_range(const struct schema_setting *setting, const char *noun, char *out,
                           size_t size)
{
    char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];

    if (setting->type == SCHEMA_SIZE) {
        units_format_size(setting->min, low);
        units_format_size(setting->max, high);
    } else if (setting->type == SCHEMA_TIME) {
        units_format_time(setting->min, low);
        units_format_time(setting->max, high);
    } else {
        snprintf(low, sizeof(low), "%" PRIu64, setting->min);
        snprintf(high, sizeof(high), "%" PRIu64, setting->max);
    }
    snprintf(out, size, "%s%s from %s to %s", setting->or_zero ? "0, or " : "", noun,
             strcmp(low, "0s") == 0 ? "0" : low, high);
}

const char *schema_describe(const struct schema_setting *setting, char *out, size_t size)
{
    char range[128];

    switch (setting->type) {
    case SCHEMA_BOOLEAN:
        snprintf(out, size, "true or false");
        break;
    case SCHEMA_INTEGER:
        describe_range(setting, "an integer", range, sizeof(range));
        if (setting->choices == NULL)
            snprintf(out, size, "%s", range);
        else
            describe_choices(setting, setting->max == 0 ? NULL : range, out, size);
        break;
    case SCHEMA_SIZE:
        describe_range(setting, "a size", out, size);
        break;
    case SCHEMA_TIME:
        describe_range(setting, "a time", out, size);
        break;
    case SCHEMA_MODE:
        snprintf(out, size, "octal permissions in quotes, such as \"0660\"");
        break;
    case SCHEMA_CHOICE:
        describe_choices(setting, NULL, out, size);
        break;
    case SCHEMA_TARGET:
        describe_choices(setting, "a path with a slash", out, size);
        break;
    case SCHEMA_FORMAT:
        describe_choices(setting, "a text with % directives", out, size);
        break;
    case SCHEMA_PATH:
        snprintf(out, size, "a path");
        break;
    case SCHEMA_FILE:
        snprintf(out, size, "the path of a file");
        break;
    case SCHEMA_DIRECTORY:
        snprintf(out, size, "the path of a directory");
        break;
    case SCHEMA_TEXT:
    case SCHEMA_ADDRESS:
    case SCHEMA_NAMES:
        snprintf(out, size, "%s", setting->expected);
        break;
    case SCHEMA_HEADERS:
        snprintf(out, size, "a group of fields: { Name = \"value\"; }");
        break;
    case SCHEMA_GROUP:
        snprintf(out, size, "a group: { name = value; ... }");
        break;
    case SCHEMA_LIST:
        snprintf(out, size, "a list of groups: ( { name = value; ... }, ... )");
        break;
    }
    return out;
}
