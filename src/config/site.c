/* SPDX-License-Identifier: MIT */
/*
 * Makes listeners, hosts and locations whole: inheritance, handlers, the order of locations.
 * Does not compare hosts or listeners with each other: check.c does.
 * Called by walk.c around each such group, and by override.c.
 */
#include "config/load.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/network.h"

static void store_standards(struct loader *loader, const struct schema_record *record, void *base)
{
    if (value_store_standards(&loader->values, record, base) != 0)
        errors_add_memory(&loader->errors);
}

static void begin_file(struct loader *loader, struct config *config)
{
    store_standards(loader, &schema_file, config);
    store_standards(loader, schema_file.shared, &config->inherited);
}

static void begin_listen(struct loader *loader, struct config_listen *listen, unsigned line)
{
    listen->address = "";
    store_standards(loader, &schema_listen, listen);
    listen->line = line;
    listen->source = line == 0 ? "" : load_source(loader, line); /* the command line has none */
}

static void begin_host(struct loader *loader, struct config_host *host, const struct config *config,
                       unsigned line)
{
    store_standards(loader, &schema_host, host);
    host->inherited = config->inherited;
    host->access_log = config->access_log;
    host->line = line;
    host->source = load_source(loader, line);
}

static void begin_location(struct loader *loader, struct config_location *location,
                           const struct config_host *host, unsigned line)
{
    *location = host->inherited;
    location->root = host->root;
    location->path = "";
    location->redirect_to = "";
    store_standards(loader, &schema_location, location);
    location->line = line;
    location->source = load_source(loader, line);
}

void site_begin(struct loader *loader, const struct schema_record *record, void *element,
                const void *parent, unsigned line)
{
    if (record == &schema_file)
        begin_file(loader, element);
    else if (record == &schema_listen)
        begin_listen(loader, element, line);
    else if (record == &schema_host)
        begin_host(loader, element, parent, line);
    else if (record == &schema_location)
        begin_location(loader, element, parent, line);
}

/* The line of a setting in the group; only called if it is there. */
static unsigned member_line(const config_setting_t *group, const char *name)
{
    return (unsigned)config_setting_source_line(
        config_setting_get_member((config_setting_t *)group, name));
}

static bool has_member(const config_setting_t *group, const char *name)
{
    return config_setting_get_member((config_setting_t *)group, name) != NULL;
}

static void end_listen(struct loader *loader, const struct config_listen *listen,
                       const config_setting_t *group)
{
    sa_family_t family = listen->sockaddr.ss_family;

    static const char *const of_unix_sockets[] = {"mode", "owner", "group"};
    bool network = family == AF_INET || family == AF_INET6;

    for (size_t i = 0; i < sizeof(of_unix_sockets) / sizeof(of_unix_sockets[0]); i++) {
        if (network && has_member(group, of_unix_sockets[i]))
            errors_add(&loader->errors, member_line(group, of_unix_sockets[i]),
                       "listen.%s: only a unix socket has permissions", of_unix_sockets[i]);
    }
}

static bool ends_with_slash(const char *text)
{
    return text[0] != '\0' && text[strlen(text) - 1] == '/';
}

/* What follows the path is put behind `to`. With a slash at the end of one of them only, "/c" and
 * "/" would make "//x", another host, of "/c/x"; and "/" and "https://a.example" would make
 * "https://a.example.evil.example" of "/.evil.example". */
static void check_redirect(struct loader *loader, const struct config_location *location,
                           const config_setting_t *redirect)
{
    if (location->path[0] == '\0' || location->redirect_to[0] == '\0' ||
        ends_with_slash(location->path) == ends_with_slash(location->redirect_to))
        return;
    errors_add(&loader->errors, member_line(redirect, "to"),
               "redirect.to: expected a slash at the end of both or neither of the path \"%.200s\" "
               "and \"%.200s\", which stands for it",
               location->path, location->redirect_to);
}

/* A redirect is named by its group; naming the handler, too, is allowed if it is the same. */
static void end_location(struct loader *loader, struct config_location *location,
                         const config_setting_t *group)
{
    bool redirect = has_member(group, "redirect");

    if (redirect && has_member(group, "handler") && location->handler != CONFIG_HANDLER_REDIRECT)
        errors_add(&loader->errors, member_line(group, "handler"),
                   "location.handler: expected \"redirect\", since the location has a redirect");
    if (!redirect && location->handler == CONFIG_HANDLER_REDIRECT)
        errors_add(&loader->errors, member_line(group, "handler"),
                   "location.handler: \"redirect\" needs a redirect = { status = ...; to = ...; }");
    if (redirect) {
        location->handler = CONFIG_HANDLER_REDIRECT;
        check_redirect(loader, location,
                       config_setting_get_member((config_setting_t *)group, "redirect"));
    } else {
        location->redirect_status = 0;
    }
    location->path_length = strlen(location->path);
}

/* Longest first, of one path those with patterns first, in the order of the file: then the first
 * that matches is the right one. */
static int compare_locations(const void *left, const void *right)
{
    const struct config_location *a = left, *b = right;
    int order = strcmp(a->path, b->path);

    if (a->path_length != b->path_length)
        return a->path_length < b->path_length ? 1 : -1;
    if (order != 0)
        return order;
    if ((a->pattern_count == 0) != (b->pattern_count == 0))
        return a->pattern_count == 0 ? 1 : -1;
    return a->line == b->line ? 0 : a->line < b->line ? -1 : 1;
}

/* The one that is in force for all files below the path. */
static struct config_location *find_location(struct config_location *locations, size_t count,
                                             const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (locations[i].pattern_count == 0 && strcmp(locations[i].path, path) == 0)
            return &locations[i];
    }
    return NULL;
}

static void add_location(struct loader *loader, struct config_host *host,
                         struct config_location *location, const char *path)
{
    begin_location(loader, location, host, host->line);
    location->path = path;
    location->path_length = strlen(path);
    location->redirect_status = 0;
}

/* Those of the file, the command line's echo, and "/" if nobody said it: room for two more. */
static void complete_locations(struct loader *loader, struct config_host *host)
{
    size_t count = host->location_count;
    struct config_location *all = arena_array(loader->values.arena, count + 2, sizeof(*all));

    if (all == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    if (count > 0)
        memcpy(all, host->locations, count * sizeof(*all));
    if (loader->echo_path != NULL) {
        struct config_location *echo = find_location(all, count, loader->echo_path);

        if (echo == NULL)
            echo = &all[count++];
        add_location(loader, host, echo, loader->echo_path);
        echo->handler = CONFIG_HANDLER_ECHO;
    }
    if (find_location(all, count, "/") == NULL)
        add_location(loader, host, &all[count++], "/");
    assert(count > 0 && count <= host->location_count + 2);
    qsort(all, count, sizeof(*all), compare_locations);
    host->locations = all;
    host->location_count = count;
}

/* True if a matches whatever b does, for all that the texts tell. */
static bool has_patterns_of(const struct config_location *a, const struct config_location *b)
{
    size_t same = 0;

    for (size_t i = 0; i < b->pattern_count; i++) {
        for (size_t j = 0; j < a->pattern_count; j++)
            same += strcmp(a->patterns[j], b->patterns[i]) == 0;
    }
    return a->pattern_count == 0 ? b->pattern_count == 0 : same >= b->pattern_count;
}

/* A location that another one of the same path goes before could never be reached. */
static void check_reachable(struct loader *loader, const struct config_host *host, size_t index)
{
    const struct config_location *location = &host->locations[index];

    for (size_t i = index; i > 0 && strcmp(host->locations[i - 1].path, location->path) == 0; i--) {
        const struct config_location *before = &host->locations[i - 1];

        if (location->path[0] == '\0' || !has_patterns_of(before, location) ||
            (before->pattern_count != 0 && location->pattern_count == 0))
            continue;
        errors_add(&loader->errors, location->line,
                   "location.path: \"%.200s\" has a location already, at %s%s", location->path,
                   before->source, location->pattern_count == 0 ? "" : ", for the same files");
        return;
    }
}

static void check_roots(struct loader *loader, const struct config_host *host)
{
    for (size_t i = 0; i < host->location_count; i++) {
        const struct config_location *location = &host->locations[i];

        if (location->handler == CONFIG_HANDLER_STATIC && location->root[0] == '\0') {
            errors_add(
                &loader->errors, host->line,
                "host: no root: expected root = \"/DIRECTORY\"; for what is below \"%.200s\"",
                location->path);
            return; /* one line tells enough: the host's root is missing for all of them */
        }
        if (location->error_page_count != 0 && host->root[0] == '\0') {
            errors_add(&loader->errors, host->line,
                       "host: no root: expected root = \"/DIRECTORY\"; for the files of its "
                       "error_pages");
            return;
        }
    }
}

/* One page a status: a second one would never be seen. */
static void check_error_pages(struct loader *loader, const struct config_host *host,
                              const struct config_location *location)
{
    for (size_t i = 0; i < location->error_page_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (location->error_pages[i].status != location->error_pages[j].status ||
                location->error_pages[i].status == 0) /* one that was refused */
                continue;
            errors_add(&loader->errors, location->line == 0 ? host->line : location->line,
                       "error_pages: status %u is given twice", location->error_pages[i].status);
            return;
        }
    }
}

/* The texts of `allow` as what they stand for. */
static void complete_allow(struct loader *loader, struct config_location *location)
{
    struct config_network *networks =
        arena_array(loader->values.arena, location->allow_count, sizeof(*networks));
    size_t count = 0;

    if (networks == NULL) {
        errors_add_memory(&loader->errors);
        return;
    }
    for (size_t i = 0; i < location->allow_count; i++) {
        if (network_parse(location->allow[i], &networks[count]))
            count++;
        else
            location->allows_all = true;
    }
    location->networks = networks;
    location->network_count = count;
}

#ifdef HAVE_LIBCRYPT
static const bool has_crypt = true;
#else
static const bool has_crypt = false;
#endif

/* To serve what was to be protected would be the worst of answers. */
static void check_auth(struct loader *loader, const struct config_host *host,
                       const struct config_location *location)
{
    if (!has_crypt && location->auth.users[0] != '\0')
        errors_add(&loader->errors, location->line == 0 ? host->line : location->line,
                   "auth.users: this evixd was built without libcrypt and cannot check passwords");
}

static void complete_access(struct loader *loader, struct config_host *host)
{
    struct config_location *locations = (struct config_location *)host->locations;

    for (size_t i = 0; i < host->location_count; i++) {
        complete_allow(loader, &locations[i]);
        check_error_pages(loader, host, &locations[i]);
        check_auth(loader, host, &locations[i]);
    }
}

/* A realm alone would look like protection and ask nobody. */
static void end_auth(struct loader *loader, const struct config_auth *auth,
                     const config_setting_t *group)
{
    if (auth->users[0] == '\0' && !has_member(group, "users") &&
        walk_knows_all(&schema_auth, group))
        errors_add(&loader->errors, (unsigned)config_setting_source_line(group),
                   "auth: expected users = \"/FILE\"; without it nobody is asked (\"\" says that "
                   "this is meant)");
}

/* Names are compared in lower case: RFC 9110 section 4.2.3. */
static void end_host(struct loader *loader, struct config_host *host, const config_setting_t *group)
{
    for (size_t i = 0; i < host->name_count; i++) {
        for (char *at = (char *)host->names[i]; *at != '\0'; at++)
            *at = (char)tolower((unsigned char)*at);
    }
    if (loader->access_log != NULL) {
        host->access_log.target = loader->access_log->target;
        host->access_log.path = loader->access_log->path;
    }
    complete_locations(loader, host);
    complete_access(loader, host);
    for (size_t i = 0; i < host->location_count; i++)
        check_reachable(loader, host, i);
    if (walk_knows_all(&schema_host, group)) /* else it may stand there under a wrong name */
        check_roots(loader, host);
}

void site_end(struct loader *loader, const struct schema_record *record, void *element,
              const config_setting_t *group)
{
    if (loader->errors.out_of_memory)
        return; /* what was to be made whole may be missing */
    if (record == &schema_listen)
        end_listen(loader, element, group);
    else if (record == &schema_location)
        end_location(loader, element, group);
    else if (record == &schema_host)
        end_host(loader, element, group);
    else if (record == &schema_auth)
        end_auth(loader, element, group);
}
