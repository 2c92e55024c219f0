/* SPDX-License-Identifier: MIT */
/*
 * Which host and which location answer: tables built once from the configuration.
 * It does not answer anything itself, and opens the roots only at the start.
 * Called by worker.c (building) and exchange.c (looking up).
 */
#include "server/route.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "http/response.h"
#include "log/log.h"
#include "server/glob.h"
#include "server/guard.h"
#include "server/handler.h"

/* An exact name of a host, in lower case as the configuration has it. */
struct route_name {
    struct http_text name;
    const struct route_host *host;
};

/* ---- building ---------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct http_text *x = &((const struct route_name *)a)->name;
    const struct http_text *y = &((const struct route_name *)b)->name;

    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->data, y->data, x->length);
}

static bool is_wildcard(const char *name)
{
    return name[0] == '*' && name[1] == '.';
}

static const struct handler *handler_of(const struct config_location *location)
{
    switch (location->handler) {
    case CONFIG_HANDLER_ECHO:
        return &handler_echo;
    case CONFIG_HANDLER_REDIRECT:
        return &handler_redirect;
    case CONFIG_HANDLER_STATUS:
        return &handler_status;
    case CONFIG_HANDLER_STATIC:
        break;
    }
    return &handler_static;
}

static const char nosniff[] = "X-Content-Type-Options";

static bool has_header(const struct config_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (http_text_equal_nocase(http_text_of(headers[i].name), http_text_of(name)))
            return true;
    return false;
}

static size_t fields_length(const struct config_header *headers, size_t count)
{
    size_t length = 0;

    for (size_t i = 0; i < count; i++)
        length += strlen(headers[i].name) + strlen(headers[i].value) + 4;
    return length;
}

static bool is_vary(const struct config_header *header)
{
    return http_text_equal_nocase(http_text_of(header->name), HTTP_TEXT("Vary"));
}

/* All but Vary, which write_vary() writes. */
static void write_fields(struct http_writer *writer, const struct config_header *headers,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_vary(&headers[i]))
            http_write_named_field(writer, http_text_of(headers[i].name),
                                   http_text_of(headers[i].value));
}

static struct http_text vary_of(const struct config_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_vary(&headers[i]))
            return http_text_of(headers[i].value);
    return (struct http_text){0};
}

static bool has_member(struct http_text list, struct http_text wanted)
{
    struct http_text member;

    while (http_text_next_member(&list, &member))
        if (http_text_equal_nocase(member, wanted))
            return true;
    return false;
}

/* RFC 9110 12.5.5: what is configured and what is ours in one field, each name once. */
static void write_vary(struct http_writer *writer, struct http_text configured,
                       struct http_text own)
{
    const char *before = configured.length != 0 ? ", " : "";
    char *start = writer->at;
    struct http_text member;

    http_write(writer, HTTP_TEXT("Vary: "));
    http_write(writer, configured);
    while (!has_member(configured, HTTP_TEXT("*")) && http_text_next_member(&own, &member)) {
        if (has_member(configured, member))
            continue;
        http_write(writer, http_text_of(before));
        http_write(writer, member);
        before = ", ";
    }
    if (*before == '\0')
        writer->at = start; /* nothing varies */
    else
        http_write(writer, HTTP_TEXT("\r\n"));
}

/* Those of every answer, nosniff among them unless it is set otherwise. */
static struct http_text write_always(struct http_writer *writer,
                                     const struct config_location *location, struct http_text vary)
{
    const struct config_header *always = location->headers_always;
    size_t count = location->header_always_count;
    char *start = writer->at;

    write_fields(writer, always, count);
    write_vary(writer, vary_of(always, count), vary);
    if (!has_header(always, count, nosniff))
        http_write_named_field(writer, http_text_of(nosniff), HTTP_TEXT("nosniff"));
    return (struct http_text){start, (size_t)(writer->at - start)};
}

/* Those of what is served: each name once, and the more special one. */
static struct http_text write_all(struct http_writer *writer,
                                  const struct config_location *location, struct http_text vary)
{
    const struct config_header *headers = location->headers, *always = location->headers_always;
    size_t count = location->header_count, always_count = location->header_always_count;
    struct http_text configured = vary_of(headers, count);
    char *start = writer->at;

    write_fields(writer, headers, count);
    for (size_t i = 0; i < always_count; i++)
        if (!has_header(headers, count, always[i].name))
            write_fields(writer, &always[i], 1);
    write_vary(writer, configured.length != 0 ? configured : vary_of(always, always_count), vary);
    if (!has_header(headers, count, nosniff) && !has_header(always, always_count, nosniff))
        http_write_named_field(writer, http_text_of(nosniff), HTTP_TEXT("nosniff"));
    return (struct http_text){start, (size_t)(writer->at - start)};
}

/* The configured headers as they are sent, in one piece of memory, which `fields` begins with. */
static int build_fields(struct route *route)
{
    static const struct http_text coding = {"Accept-Encoding", 15}, none = {0};
    const struct config_location *location = route->location;
    struct http_writer writer;
    size_t own = sizeof(nosniff) + sizeof("Vary: , Accept-Encoding" ROUTE_FALLBACK_NAMES) + 16;
    size_t length =
        5 * (fields_length(location->headers, location->header_count) +
             fields_length(location->headers_always, location->header_always_count) + own);
    char *memory = malloc(length);

    if (memory == NULL)
        return -ENOMEM;
    http_writer_init(&writer, memory, length);
    route->fields[false] = write_all(&writer, location, none);
    route->fields[true] = write_all(&writer, location, coding);
    route->fields_always = write_always(&writer, location, none);
    route->fields_fallback[false] =
        write_always(&writer, location, HTTP_TEXT(ROUTE_FALLBACK_NAMES));
    route->fields_fallback[true] =
        write_always(&writer, location, HTTP_TEXT(ROUTE_FALLBACK_NAMES ", Accept-Encoding"));
    assert(!writer.failed);
    return 0;
}

static enum root_symlinks symlinks_of(const struct config *config)
{
    switch (config->files.symlinks) {
    case CONFIG_SYMLINKS_FOLLOW:
        return ROOT_SYMLINKS_FOLLOW;
    case CONFIG_SYMLINKS_REFUSE:
        return ROOT_SYMLINKS_REFUSE;
    case CONFIG_SYMLINKS_BENEATH:
        break;
    }
    return ROOT_SYMLINKS_BENEATH;
}

static int open_root(struct route *route, const struct route_table *table, struct store *store)
{
    const struct config_location *location = route->location;
    struct root_options options = {
        .path = location->root,
        .symlinks = symlinks_of(table->config),
        .may_be_absent = table->may_lack_roots,
        .dotfiles = location->dotfiles,
        .precompressed = location->precompressed,
    };
    const char **index = calloc(location->index_count + 1, sizeof(*index));

    if (index == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < location->index_count; i++)
        index[i] = location->index[i];
    options.index = index;

    int error = store_root(store, &options, &route->root);
    free(index);
    if (error != 0)
        log_event(LOG_LEVEL_ERROR, "%s: cannot open the root %s: %s", location->source,
                  location->root, strerror(-error));
    return error;
}

static int build_route(struct route *route, const struct route_table *table, struct store *store)
{
    route->handler = handler_of(route->location);
    route->is_guarded = guard_is_needed(route->location);
    int error = build_fields(route);
    if (error == 0 && route->handler == &handler_static)
        error = open_root(route, table, store);
    return error;
}

/* Hidden names are fine here: the configuration names them, not the client. */
static int open_error_root(struct route_host *host, const struct route_table *table,
                           struct store *store)
{
    static const char *const no_index[] = {NULL};
    struct root_options options = {.path = host->config->root,
                                   .symlinks = symlinks_of(table->config),
                                   .may_be_absent = table->may_lack_roots,
                                   .index = no_index,
                                   .dotfiles = true};
    bool is_needed = false;

    for (size_t i = 0; i < host->config->location_count; i++)
        is_needed |= host->config->locations[i].error_page_count != 0;
    return is_needed ? store_root(store, &options, &host->error_root) : 0;
}

static int build_host(struct route_table *table, struct route_host *host, struct store *store)
{
    const struct config_host *config = host->config;

    host->routes = calloc(config->location_count, sizeof(*host->routes));
    if (host->routes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < config->location_count; i++) {
        host->routes[i].location = &config->locations[i];
        int error = build_route(&host->routes[i], table, store);
        if (error != 0)
            return error;
        host->is_guarded |= host->routes[i].is_guarded;
    }
    for (size_t i = 0; i < config->name_count; i++)
        if (!is_wildcard(config->names[i]))
            table->names[table->name_count++] =
                (struct route_name){http_text_of(config->names[i]), host};
    if (config == table->config->default_host)
        table->fallback = host;
    return open_error_root(host, table, store);
}

int route_table_init(struct route_table *table, const struct config *config, struct store *store,
                     bool may_lack_roots)
{
    size_t names = 0;
    int error = -ENOMEM;

    *table = (struct route_table){.config = config, .may_lack_roots = may_lack_roots};
    for (size_t i = 0; i < config->host_count; i++)
        names += config->hosts[i].name_count;
    table->hosts = calloc(config->host_count + 1, sizeof(*table->hosts));
    table->names = calloc(names + 1, sizeof(*table->names));
    if (table->hosts == NULL || table->names == NULL)
        goto fail;
    for (size_t i = 0; i < config->host_count; i++) {
        table->hosts[i].config = &config->hosts[i];
        error = build_host(table, &table->hosts[i], store);
        if (error != 0)
            goto fail;
    }
    qsort(table->names, table->name_count, sizeof(*table->names), compare_names);
    return 0;

fail:
    if (error == -ENOMEM)
        log_event(LOG_LEVEL_ERROR, "no memory for the table of locations");
    route_table_fini(table);
    return error;
}

void route_table_fini(struct route_table *table)
{
    for (size_t i = 0; table->hosts != NULL && i < table->config->host_count; i++) {
        struct route_host *host = &table->hosts[i];

        for (size_t j = 0; host->routes != NULL && j < host->config->location_count; j++)
            free((char *)(uintptr_t)host->routes[j].fields[false].data);
        free(host->routes);
    }
    free(table->hosts);
    free(table->names);
    *table = (struct route_table){0};
}

/* ---- looking up -------------------------------------------------------------------------- */

static const struct route_host *find_exact(const struct route_table *table, struct http_text name)
{
    struct route_name key = {.name = name};
    const struct route_name *found =
        bsearch(&key, table->names, table->name_count, sizeof(key), compare_names);

    return found != NULL ? found->host : NULL;
}

/* "*.example.org" answers to all names below example.org, not to itself. */
static bool wildcard_matches(const char *pattern, struct http_text name)
{
    struct http_text suffix = http_text_of(pattern + 1);

    return name.length > suffix.length &&
           memcmp(name.data + name.length - suffix.length, suffix.data, suffix.length) == 0;
}

static const struct route_host *find_wildcard(const struct route_table *table,
                                              struct http_text name)
{
    const struct route_host *best = NULL;
    size_t best_length = 0;

    for (size_t i = 0; i < table->config->host_count; i++) {
        const struct config_host *config = table->hosts[i].config;

        for (size_t j = 0; j < config->name_count; j++) {
            size_t length = strlen(config->names[j]);

            if (length > best_length && is_wildcard(config->names[j]) &&
                wildcard_matches(config->names[j], name)) {
                best = &table->hosts[i];
                best_length = length;
            }
        }
    }
    return best;
}

const struct route_host *route_find_host(const struct route_table *table, struct http_text name)
{
    char memory[256];

    /* One host without alternatives needs no look-up, whatever the client calls it. */
    if (table->config->host_count == 1 || name.length == 0 || name.length > sizeof(memory))
        return table->fallback;
    if (name.data[name.length - 1] == '.')
        name.length--; /* the root of the DNS, written out: the same host */
    for (size_t i = 0; i < name.length; i++) {
        char byte = name.data[i];

        memory[i] = byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) : byte;
    }
    name.data = memory;

    const struct route_host *host = find_exact(table, name);
    if (host == NULL)
        host = find_wildcard(table, name);
    return host != NULL ? host : table->fallback;
}

static bool prefix_matches(const struct config_location *location, const char *path, size_t length)
{
    size_t prefix = location->path_length;

    if (length < prefix || memcmp(path, location->path, prefix) != 0)
        return false;
    return length == prefix || location->path[prefix - 1] == '/' || path[prefix] == '/';
}

/* Compares what follows the last slash: nothing, for a folder, and that matches no pattern. */
static bool name_matches(const struct config_location *location, const char *path, size_t length)
{
    const char *name = path + length;

    while (name[-1] != '/')
        name--;
    for (size_t i = 0; *name != '\0' && i < location->pattern_count; i++)
        if (glob_matches(location->patterns[i], name))
            return true;
    return false;
}

const struct route *route_find(const struct route_host *host, const char *path, size_t length)
{
    size_t last = host->config->location_count - 1;

    for (size_t i = 0; i < last; i++) {
        const struct config_location *location = host->routes[i].location;

        if (prefix_matches(location, path, length) &&
            (location->pattern_count == 0 || name_matches(location, path, length)))
            return &host->routes[i];
    }
    return &host->routes[last]; /* "/" */
}

bool route_has_folder(const struct route_host *host, const char *path, size_t length)
{
    for (size_t i = 0; i < host->config->location_count; i++) {
        const struct config_location *location = host->routes[i].location;

        if (location->path_length == length + 1 && location->path[length] == '/' &&
            memcmp(location->path, path, length) == 0)
            return true;
    }
    return false;
}
