/* SPDX-License-Identifier: MIT */
/*
 * The rows of a location, and of what it takes from its host, and a host from the file.
 * Called through schema_location and schema_shared.
 */
#include "config/schema_rows.h"

#include "config/network.h"
#include "config/rules.h"

static const struct schema_choice handlers[] = {
    {"static", CONFIG_HANDLER_STATIC},
    {"echo", CONFIG_HANDLER_ECHO},
    {"redirect", CONFIG_HANDLER_REDIRECT},
    {"status", CONFIG_HANDLER_STATUS},
    {NULL, 0},
};

static const struct schema_choice redirect_statuses[] = {
    {"301", 301}, {"302", 302}, {"303", 303}, {"307", 307}, {"308", 308}, {NULL, 0},
};

static const struct schema_setting error_page_settings[] = {
    {.name = "status",
     .type = SCHEMA_INTEGER,
     .required = true,
     PLACE(struct config_error_page, status),
     .min = 400,
     .max = 599,
     .about = "The status that the page stands for."},
    {.name = "file",
     .type = SCHEMA_TEXT,
     .required = true,
     PLACE(struct config_error_page, file),
     .check = rules_check_file_path,
     .expected = RULES_FILE_PATH_EXPECTED,
     .about = "File beneath the host's root that is sent as its content; without it, the built-in "
              "page is."},
};
static const struct schema_record error_page = {
    .name = "error_pages",
    .bytes = sizeof(struct config_error_page),
    .settings = error_page_settings,
    .count = COUNT(error_page_settings),
};

static const struct schema_setting auth_settings[] = {
    {.name = "realm",
     .type = SCHEMA_TEXT,
     PLACE(struct config_auth, realm),
     .standard = "private",
     .check = rules_check_realm,
     .expected = "a text without quotes and backslashes",
     .about = "What browsers call the place when they ask for a name and password."},
    {.name = "users",
     .type = SCHEMA_FILE,
     PLACE(struct config_auth, users),
     .standard = "",
     .about = "File with a line NAME:HASH for each user, as htpasswd -B makes it; empty: nobody is "
              "asked."},
};
const struct schema_record schema_auth = {
    .name = "auth",
    .bytes = sizeof(struct config_auth),
    .settings = auth_settings,
    .count = COUNT(auth_settings),
};

/* What a location takes from its host, and a host from the file. */
static const struct schema_setting shared_settings[] = {
    {.name = "index",
     .type = SCHEMA_NAMES,
     PLACE(struct config_location, index),
     EXTRA(struct config_location, index_count),
     .standard = "index.html",
     .check = rules_check_index,
     .expected = "a file name, or a list of them",
     .about = "Files that stand for their folder; the first that exists is sent."},
    {.name = "listing",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_location, listing),
     .standard = "false",
     .about = "Answer with a list of the files in a folder that has no index file."},
    {.name = "dotfiles",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_location, dotfiles),
     .standard = "false",
     .about = "Serve names that begin with a dot; .well-known is served anyway."},
    {.name = "precompressed",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_location, precompressed),
     .standard = "true",
     .about = "Send NAME.br, NAME.zst or NAME.gz, if one lies beside a file, is not older, and the "
              "client accepts it, in place of the file."},
    {.name = "headers",
     .type = SCHEMA_HEADERS,
     PLACE(struct config_location, headers),
     EXTRA(struct config_location, header_count),
     .about = "Fields added to what is served (200, 206, 304), on top of those of the level above; "
              "an empty value takes one away."},
    {.name = "headers_always",
     .type = SCHEMA_HEADERS,
     PLACE(struct config_location, headers_always),
     EXTRA(struct config_location, header_always_count),
     .about = "The same, added to errors, redirects and fallbacks as well."},
    {.name = "fallback",
     .type = SCHEMA_TEXT,
     PLACE(struct config_location, fallback),
     .standard = "",
     .check = rules_check_fallback,
     .expected = RULES_FILE_PATH_EXPECTED,
     .about = "File beneath the root that answers page navigations to what is not there; empty: "
              "none."},
    {.name = "error_pages",
     .type = SCHEMA_LIST,
     PLACE(struct config_location, error_pages),
     EXTRA(struct config_location, error_page_count),
     .record = &error_page,
     .about = "Files that are sent as the content of errors."},
    {.name = "allow",
     .type = SCHEMA_NAMES,
     PLACE(struct config_location, allow),
     EXTRA(struct config_location, allow_count),
     .standard = "all",
     .check = network_check,
     .expected = NETWORK_EXPECTED ", or a list of them",
     .about = "Clients that are served; others get 403."},
    {.name = "auth",
     .type = SCHEMA_GROUP,
     PLACE(struct config_location, auth),
     .record = &schema_auth,
     .about = "Names and passwords that are asked for, by the Basic scheme."},
};
const struct schema_record schema_shared = {
    .name = "location",
    .bytes = sizeof(struct config_location),
    .settings = shared_settings,
    .count = COUNT(shared_settings),
};

static const struct schema_setting redirect_settings[] = {
    {.name = "status",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_location, redirect_status),
     .standard = "301",
     .choices = redirect_statuses,
     .about = "301 or 308 for good, 302 or 307 for now, 303 to be fetched with GET."},
    {.name = "to",
     .type = SCHEMA_TEXT,
     .required = true,
     PLACE(struct config_location, redirect_to),
     .check = rules_check_redirect,
     .expected = "an absolute path, or a URL that begins with http:// or https://",
     .about =
         "Stands for the location's path; what follows it and the query are kept. Both end with a "
         "slash, or neither."},
};
static const struct schema_record redirect = {
    .name = "redirect",
    .bytes = sizeof(struct config_location),
    .settings = redirect_settings,
    .count = COUNT(redirect_settings),
};

static const struct schema_setting location_settings[] = {
    {.name = "path",
     .type = SCHEMA_TEXT,
     .required = true,
     PLACE(struct config_location, path),
     .check = rules_check_path,
     .expected = "a normalized absolute path, not percent-encoded",
     .about = "Prefix, on segment boundaries, of the request paths that are meant."},
    {.name = "files",
     .type = SCHEMA_NAMES,
     PLACE(struct config_location, patterns),
     EXTRA(struct config_location, pattern_count),
     .check = rules_check_pattern,
     .expected = "a pattern such as *.css, or a list of them",
     .about = "Of these paths, those whose last name matches one of the patterns; default: all."},
    {.name = "handler",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_location, handler),
     .standard = "static",
     .choices = handlers,
     .about =
         "What answers: files, the echo of what was sent, a redirect, or the server's status."},
    {.name = "root",
     .type = SCHEMA_DIRECTORY,
     PLACE(struct config_location, root),
     .about = "Directory that the whole path is looked up beneath; default: the host's."},
    {.name = "redirect",
     .type = SCHEMA_GROUP,
     .record = &redirect,
     .about = "Send the client elsewhere."},
};
const struct schema_record schema_location = {
    .name = "location",
    .bytes = sizeof(struct config_location),
    .settings = location_settings,
    .count = COUNT(location_settings),
    .shared = &schema_shared,
};
