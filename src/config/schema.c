/* SPDX-License-Identifier: MIT */
/*
 * The table of settings: name, type, default, range, place, and a line on what it is for.
 * Does not read, store or print a value: load.c, value.c and dump.c do, row by row.
 * Called by the whole room and by the test that compares the manual with it.
 */
#include "config/schema.h"

#include <string.h>

#include "config/address.h"
#include "config/config.h"
#include "config/network.h"
#include "config/rules.h"

#define PLACE(type, member) .offset = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define EXTRA(type, member) .extra = offsetof(type, member)
#define COUNT(settings)     (sizeof(settings) / sizeof((settings)[0]))

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define DAY (UINT64_C(24) * 60 * 60 * 1000)

static const struct schema_choice backends[] = {
    {"auto", CONFIG_BACKEND_AUTO},
    {"io_uring", CONFIG_BACKEND_IO_URING},
    {"epoll", CONFIG_BACKEND_EPOLL},
    {"poll", CONFIG_BACKEND_POLL},
    {NULL, 0},
};

static const struct schema_choice automatic[] = {{"auto", 0}, {NULL, 0}};

static const struct schema_choice error_targets[] = {
    {"stderr", CONFIG_TARGET_STDERR},
    {"syslog", CONFIG_TARGET_SYSLOG},
    {NULL, 0},
};

static const struct schema_choice access_targets[] = {
    {"off", CONFIG_TARGET_OFF},
    {"stdout", CONFIG_TARGET_STDOUT},
    {"stderr", CONFIG_TARGET_STDERR},
    {NULL, 0},
};

static const struct schema_choice levels[] = {
    {"error", LOG_LEVEL_ERROR}, {"warning", LOG_LEVEL_WARNING}, {"notice", LOG_LEVEL_NOTICE},
    {"info", LOG_LEVEL_INFO},   {"debug", LOG_LEVEL_DEBUG},     {NULL, 0},
};

static const struct schema_choice formats[] = {
    {"common", CONFIG_LOG_COMMON},
    {"combined", CONFIG_LOG_COMBINED},
    {"json", CONFIG_LOG_JSON},
    {NULL, 0},
};

static const struct schema_choice caches[] = {
    {"watch", CONFIG_CACHE_WATCH},
    {"stat", CONFIG_CACHE_STAT},
    {"off", CONFIG_CACHE_OFF},
    {NULL, 0},
};

static const struct schema_choice symlinks[] = {
    {"beneath", CONFIG_SYMLINKS_BENEATH},
    {"follow", CONFIG_SYMLINKS_FOLLOW},
    {"refuse", CONFIG_SYMLINKS_REFUSE},
    {NULL, 0},
};

static const struct schema_choice protocols[] = {
    {"http", CONFIG_PROTOCOL_HTTP},
    {"echo", CONFIG_PROTOCOL_ECHO},
    {NULL, 0},
};

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
static const struct schema_record error_log = {
    .name = "error_log",
    .bytes = sizeof(struct config_error_log),
    .settings = error_log_settings,
    .count = COUNT(error_log_settings),
};

static const struct schema_setting limits_settings[] = {
    {.name = "connections",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_limits, connections),
     .standard = "10000",
     .min = 1,
     .max = 1000000,
     .about = "Connections open at once in each worker."},
    {.name = "connections_per_address",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_limits, connections_per_address),
     .standard = "0",
     .max = 1000000,
     .about = "Connections of one client address in each worker; 0: no limit."},
    {.name = "target",
     .type = SCHEMA_SIZE,
     PLACE(struct config_limits, target_bytes),
     .standard = "8K",
     .min = 64,
     .max = MIB,
     .about = "Longest request target; a longer one is answered with 414."},
    {.name = "head",
     .type = SCHEMA_SIZE,
     PLACE(struct config_limits, head_bytes),
     .standard = "32K",
     .min = 256,
     .max = MIB,
     .about = "Longest request head; a longer one is answered with 431."},
    {.name = "fields",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_limits, fields),
     .standard = "100",
     .min = 1,
     .max = 10000,
     .about = "Most fields in a request head; more are answered with 431."},
    {.name = "body",
     .type = SCHEMA_SIZE,
     PLACE(struct config_limits, body_bytes),
     .standard = "16M",
     .max = TIB,
     .about = "Largest request body; a larger one is answered with 413."},
    {.name = "requests_per_connection",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_limits, requests_per_connection),
     .standard = "0",
     .max = 1000000000,
     .about = "Requests after which a connection is closed; 0: no limit."},
    {.name = "min_rate",
     .type = SCHEMA_SIZE,
     PLACE(struct config_limits, min_rate),
     .standard = "128",
     .max = GIB,
     .about = "Bytes a second that a client must at least send or take; 0: any."},
};
static const struct schema_record limits = {
    .name = "limits",
    .bytes = sizeof(struct config_limits),
    .settings = limits_settings,
    .count = COUNT(limits_settings),
};

static const struct schema_setting timeouts_settings[] = {
    {.name = "head",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, head_ms),
     .standard = "15s",
     .max = DAY,
     .about = "For a request head to arrive whole; 0: no limit."},
    {.name = "body",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, body_ms),
     .standard = "30s",
     .max = DAY,
     .about = "Without progress of a request body; 0: no limit."},
    {.name = "send",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, send_ms),
     .standard = "30s",
     .max = DAY,
     .about = "Without progress of a response; 0: no limit."},
    {.name = "keep_alive",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, keep_alive_ms),
     .standard = "65s",
     .max = DAY,
     .about = "Idle between two requests of a connection; 0: no limit."},
    {.name = "linger",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, linger_ms),
     .standard = "5s",
     .max = DAY,
     .about = "Reading on after the last response, so that the client gets it; 0: not at all."},
    {.name = "shutdown",
     .type = SCHEMA_TIME,
     PLACE(struct config_timeouts, shutdown_ms),
     .standard = "30s",
     .max = DAY,
     .about = "For requests in flight at a graceful stop; 0: until they are done."},
};
static const struct schema_record timeouts = {
    .name = "timeouts",
    .bytes = sizeof(struct config_timeouts),
    .settings = timeouts_settings,
    .count = COUNT(timeouts_settings),
};

static const struct schema_setting files_settings[] = {
    {.name = "cache",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_files, cache),
     .standard = "watch",
     .choices = caches,
     .about = "How cached files are kept fresh: watched for changes, checked with one stat a "
              "request, or not cached."},
    {.name = "entries",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_files, entries),
     .standard = "20000",
     .min = 1,
     .max = 10000000,
     .about = "Files and negative answers that each worker keeps at most."},
    {.name = "memory",
     .type = SCHEMA_SIZE,
     PLACE(struct config_files, memory_bytes),
     .standard = "64M",
     .max = TIB,
     .about = "Bytes of files that each worker keeps in memory at most."},
    {.name = "small",
     .type = SCHEMA_SIZE,
     PLACE(struct config_files, small_bytes),
     .standard = "64K",
     .max = 16 * MIB,
     .about = "Files up to this size are kept in memory; larger ones are sent from the file."},
    {.name = "symlinks",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_files, symlinks),
     .standard = "beneath",
     .choices = symlinks,
     .about = "Symbolic links are followed while they stay beneath the root, wherever they lead, "
              "or not at all."},
};
static const struct schema_record files = {
    .name = "files",
    .bytes = sizeof(struct config_files),
    .settings = files_settings,
    .count = COUNT(files_settings),
};

static const struct schema_setting listen_settings[] = {
    {.name = "address",
     .type = SCHEMA_ADDRESS,
     .required = true,
     PLACE(struct config_listen, address),
     .expected = ADDRESS_EXPECTED,
     .about = "Where to listen: HOST is numeric or localhost; without it, on every address."},
    {.name = "name",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, name),
     .standard = "",
     .check = rules_check_socket_name,
     .expected = "the name of a socket",
     .about =
         "Name of a socket that systemd opened (FileDescriptorName=) and that is taken instead; "
         "without it, the one with this address is."},
    {.name = "backlog",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_listen, backlog),
     .standard = "4096",
     .min = 1,
     .max = 65535,
     .about = "Connections that wait to be accepted; the kernel's somaxconn bounds it."},
    {.name = "defer_accept",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_listen, defer_accept),
     .standard = "true",
     .about = "HTTP over TCP: accept a connection when its first bytes have come, or after a "
              "second without any."},
    {.name = "mode",
     .type = SCHEMA_MODE,
     PLACE(struct config_listen, mode),
     .standard = "0660",
     .max = 0777,
     .about = "Permissions of a unix socket."},
    {.name = "owner",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, owner),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of an account",
     .about = "Owner of a unix socket; empty: who starts evixd."},
    {.name = "group",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, group),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of a group",
     .about = "Group of a unix socket; empty: the group of who starts evixd."},
    {.name = "protocol",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_listen, protocol),
     .standard = "http",
     .choices = protocols,
     .about = "HTTP, or the plain TCP echo service of RFC 862."},
};
const struct schema_record schema_listen = {
    .name = "listen",
    .bytes = sizeof(struct config_listen),
    .settings = listen_settings,
    .count = COUNT(listen_settings),
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
static const struct schema_record access_log = {
    .name = "access_log",
    .bytes = sizeof(struct config_access_log),
    .settings = access_log_settings,
    .count = COUNT(access_log_settings),
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
static const struct schema_record auth = {
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
     .record = &auth,
     .about = "Names and passwords that are asked for, by the Basic scheme."},
};
static const struct schema_record shared = {
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
     .about = "Who answers: files, the echo of what was sent, a redirect, or the server's status."},
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
    .shared = &shared,
};

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
     .record = &access_log,
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
    .shared = &shared,
    .shared_offset = offsetof(struct config_host, inherited),
};

/* Lists come last: what their elements inherit must be there. */
static const struct schema_setting file_settings[] = {
    {.name = "workers",
     .type = SCHEMA_INTEGER,
     PLACE(struct config, workers),
     .standard = "auto",
     .min = 1,
     .max = 1024,
     .choices = automatic,
     .about = "Processes that serve; auto: one for each core."},
    {.name = "cpu_affinity",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config, cpu_affinity),
     .standard = "false",
     .about = "Each worker stays on one of the CPUs that evixd may use, one after the other."},
    {.name = "backend",
     .type = SCHEMA_CHOICE,
     PLACE(struct config, backend),
     .standard = "auto",
     .choices = backends,
     .about = "How the kernel is asked for events; auto: the best that may be used."},
    {.name = "user",
     .type = SCHEMA_TEXT,
     PLACE(struct config, user),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of an account",
     .about = "Workers become this user if evixd is started as root; empty: they do not."},
    {.name = "group",
     .type = SCHEMA_TEXT,
     PLACE(struct config, group),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of a group",
     .about = "And this group; empty: the user's own."},
    {.name = "seccomp",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config, seccomp),
     .standard = "true",
     .about = "Workers give up the system calls that they do not need, where libseccomp is built "
              "in."},
    {.name = "pid_file",
     .type = SCHEMA_PATH,
     PLACE(struct config, pid_file),
     .standard = "",
     .about = "File for the master's process number; empty: none."},
    {.name = "error_log",
     .type = SCHEMA_GROUP,
     PLACE(struct config, error_log),
     .record = &error_log,
     .about = "Log of the program's own events."},
    {.name = "limits",
     .type = SCHEMA_GROUP,
     PLACE(struct config, limits),
     .record = &limits,
     .about = "How much a client may ask for."},
    {.name = "timeouts",
     .type = SCHEMA_GROUP,
     PLACE(struct config, timeouts),
     .record = &timeouts,
     .about = "How long a client may take."},
    {.name = "files",
     .type = SCHEMA_GROUP,
     PLACE(struct config, files),
     .record = &files,
     .about = "How files are read and cached."},
    {.name = "mime_types",
     .type = SCHEMA_FILE,
     PLACE(struct config, mime_types),
     .standard = "",
     .about = "File of media types, over those that are built in; empty: none."},
    {.name = "default_type",
     .type = SCHEMA_TEXT,
     PLACE(struct config, default_type),
     .standard = "application/octet-stream",
     .check = rules_check_media_type,
     .expected = "a media type such as text/plain",
     .about = "Media type of files whose name tells none."},
    {.name = "access_log",
     .type = SCHEMA_GROUP,
     PLACE(struct config, access_log),
     .record = &access_log,
     .about = "Log of requests, for hosts that have none of their own."},
    {.name = "listen",
     .type = SCHEMA_LIST,
     PLACE(struct config, listen),
     EXTRA(struct config, listen_count),
     .record = &schema_listen,
     .about = "Addresses to listen on; without any, 127.0.0.1:8080."},
    {.name = "hosts",
     .type = SCHEMA_LIST,
     PLACE(struct config, hosts),
     EXTRA(struct config, host_count),
     .record = &schema_host,
     .about = "What is served under which names."},
};
const struct schema_record schema_file = {
    .name = "",
    .bytes = sizeof(struct config),
    .settings = file_settings,
    .count = COUNT(file_settings),
    .shared = &shared,
    .shared_offset = offsetof(struct config, inherited),
};

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
