/* SPDX-License-Identifier: MIT */
/*
 * The rows of a host.
 * Called through schema_host.
 */
#include "config/schema_rows.h"

#include "config/rules.h"

static const struct schema_setting host_settings[] = {
    {.name = "names",
     .type = SCHEMA_NAMES,
     PLACE(struct config_host, names),
     EXTRA(struct config_host, name_count),
     .check = rules_check_host,
     .expected = "a host name, \"*.\" and a host name, or a list of them",
     .about = "Host names that are meant, without port; *.example.org stands for all below it."},
    {.name = "default",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_host, is_default),
     .standard = "false",
     .about = "Answers for names that no host has; without one, the first host does."},
    {.name = "root",
     .type = SCHEMA_DIRECTORY,
     PLACE(struct config_host, root),
     .standard = "",
     .about = "Directory with the host's files."},
    {.name = "access_log",
     .type = SCHEMA_GROUP,
     PLACE(struct config_host, access_log),
     .record = &schema_access_log,
     .about = "Log of requests; what it leaves out comes from the file's access_log."},
    {.name = "locations",
     .type = SCHEMA_LIST,
     PLACE(struct config_host, locations),
     EXTRA(struct config_host, location_count),
     .record = &schema_location,
     .about = "Parts of the host with settings of their own; the longest path wins."},
};
const struct schema_record schema_host = {
    .name = "host",
    .bytes = sizeof(struct config_host),
    .settings = host_settings,
    .count = COUNT(host_settings),
    .shared = &schema_shared,
    .shared_offset = offsetof(struct config_host, inherited),
};
