/* SPDX-License-Identifier: MIT */
/*
 * Finds rows of the table of settings, and names of their choices.
 * The rows are in schema_file.c and the files of the records that hang on it; load.c, value.c and
 * dump.c read, store and print their values. Called by the whole room and by the manual's test.
 */
#include "config/schema.h"

#include <string.h>

const struct schema_setting *schema_find(const struct schema_record *record, const char *name,
                                         size_t *out_offset)
{
    size_t offset = 0;

    for (; record != NULL; offset = record->shared_offset, record = record->shared) {
        for (size_t i = 0; i < record->count; i++) {
            if (strcmp(record->settings[i].name, name) == 0) {
                *out_offset = offset;
                return &record->settings[i];
            }
        }
    }
    return NULL;
}

const char *schema_choice_name(const struct schema_setting *setting, unsigned value)
{
    for (const struct schema_choice *choice = setting->choices;
         choice != NULL && choice->name != NULL; choice++) {
        if (choice->value == value)
            return choice->name;
    }
    return NULL;
}

const struct schema_choice *schema_choice_find(const struct schema_setting *setting,
                                               const char *name)
{
    for (const struct schema_choice *choice = setting->choices;
         choice != NULL && choice->name != NULL; choice++) {
        if (strcmp(choice->name, name) == 0)
            return choice;
    }
    return NULL;
}
