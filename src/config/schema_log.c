/* SPDX-License-Identifier: MIT */
/*
 * The rows of the two logs: of events, and of requests.
 * Called through their records.
 */
#include "config/schema_rows.h"

#include "config/rules.h"

static const struct schema_choice error_targets[] = {
    {"stderr", CONFIG_TARGET_STDERR},
    {"syslog", CONFIG_TARGET_SYSLOG},
    {NULL, 0},
};

static const struct schema_choice levels[] = {
    {"error", LOG_LEVEL_ERROR}, {"warning", LOG_LEVEL_WARNING}, {"notice", LOG_LEVEL_NOTICE},
    {"info", LOG_LEVEL_INFO},   {"debug", LOG_LEVEL_DEBUG},     {NULL, 0},
};

static const struct schema_choice access_targets[] = {
    {"off", CONFIG_TARGET_OFF},
    {"stdout", CONFIG_TARGET_STDOUT},
    {"stderr", CONFIG_TARGET_STDERR},
    {NULL, 0},
};

static const struct schema_choice formats[] = {
    {"common", CONFIG_LOG_COMMON},
    {"combined", CONFIG_LOG_COMBINED},
    {"json", CONFIG_LOG_JSON},
    {NULL, 0},
};

static const struct schema_setting error_log_settings[] = {
    {.name = "target",
     .type = SCHEMA_TARGET,
     PLACE(struct config_error_log, target),
     EXTRA(struct config_error_log, path),
     .standard = "stderr",
     .choices = error_targets,
     .other = CONFIG_TARGET_FILE,
     .about = "Where events of the program go, one line each."},
    {.name = "level",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_error_log, level),
     .standard = "notice",
     .choices = levels,
     .about = "Events up to this level are written; info says why a request was refused."},
};
const struct schema_record schema_error_log = {
    .name = "error_log",
    .bytes = sizeof(struct config_error_log),
    .settings = error_log_settings,
    .count = COUNT(error_log_settings),
};

static const struct schema_setting access_log_settings[] = {
    {.name = "target",
     .type = SCHEMA_TARGET,
     PLACE(struct config_access_log, target),
     EXTRA(struct config_access_log, path),
     .standard = "off",
     .choices = access_targets,
     .other = CONFIG_TARGET_FILE,
     .about = "Where a line for each request goes."},
    {.name = "format",
     .type = SCHEMA_FORMAT,
     PLACE(struct config_access_log, format),
     EXTRA(struct config_access_log, format_text),
     .standard = "combined",
     .choices = formats,
     .other = CONFIG_LOG_CUSTOM,
     .check = rules_check_format,
     .about = "How the line looks."},
};
const struct schema_record schema_access_log = {
    .name = "access_log",
    .bytes = sizeof(struct config_access_log),
    .settings = access_log_settings,
    .count = COUNT(access_log_settings),
};
