/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_LOAD_H
#define CONFIG_LOAD_H

/*
 * What the files of this room share while one configuration is being loaded. Nobody outside
 * includes this.
 */

#include <libconfig.h>

#include "config/config.h"
#include "config/errors.h"
#include "config/schema.h"
#include "config/text.h"
#include "config/value.h"

struct loader {
    struct config *config;
    struct value_context values; /* of the file */
    struct text text;
    struct errors errors;
    const struct config_overrides *overrides;   /* never NULL */
    const char *echo_path;                      /* an override that was checked, or NULL */
    const struct config_access_log *access_log; /* the same */
};

/* load.c: a value that its setting does not take: NAME: expected X, found Y. A prefix with a dot
 * in it, or "--", comes before the setting's name. */
void load_refuse(struct loader *loader, unsigned line, const char *prefix,
                 const struct schema_setting *setting, const struct value *value, int error);

/* load.c: "FILE:LINE" in the arena; "" if memory ran out. */
const char *load_source(struct loader *loader, unsigned line);

/* walk.c: all settings of the file, from libconfig's root. */
void walk_file(struct loader *loader, const config_setting_t *root);

/* walk.c: whether no setting in the group, and in those within it, has an unknown name. What is
 * said to be missing may be what such a name was meant for. */
bool walk_knows_all(const struct schema_record *record, const config_setting_t *group);

/* site.c: before and after a listener, host or location takes its settings from a group; after it
 * for the groups within them, too. */
void site_begin(struct loader *loader, const struct schema_record *record, void *element,
                const void *parent, unsigned line);
void site_end(struct loader *loader, const struct schema_record *record, void *element,
              const config_setting_t *group);

/* headers.c: the fields of a group, on top of those that the struct at base has already. */
void headers_load(struct loader *loader, const struct schema_setting *setting,
                  const config_setting_t *group, void *base);

/* override.c: what the command line says; prepare before the file's settings are taken, apply
 * afterwards. */
void override_prepare(struct loader *loader);
void override_apply(struct loader *loader);

/* check.c: what no single setting can be blamed for. */
void check_config(struct loader *loader, const config_setting_t *root);

#endif
