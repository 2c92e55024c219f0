/* SPDX-License-Identifier: MIT */
/*
 * Checks what no single setting can be blamed for: names and addresses given twice, nothing to
 * serve, limits that contradict each other. Does not look at values one by one: value.c does.
 * Called by load.c when all settings are in place.
 */
#include "config/load.h"

#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>

#include "config/address.h"

/* Where a setting that was given at the top of the file stands. */
static unsigned line_of(const config_setting_t *root, const char *name)
{
    return (unsigned)config_setting_source_line(
        config_setting_get_member((config_setting_t *)root, name));
}

static void check_accounts(struct loader *loader, const config_setting_t *root)
{
    const struct config *config = loader->config;

    if (config->user[0] != '\0' && getpwnam(config->user) == NULL)
        errors_add(&loader->errors, line_of(root, "user"), "user: there is no user \"%.100s\"",
                   config->user);
    if (config->group[0] != '\0' && getgrnam(config->group) == NULL)
        errors_add(&loader->errors, line_of(root, "group"), "group: there is no group \"%.100s\"",
                   config->group);
    for (size_t i = 0; i < config->listen_count; i++) {
        const struct config_listen *listen = &config->listen[i];

        if (listen->owner[0] != '\0' && getpwnam(listen->owner) == NULL)
            errors_add(&loader->errors, listen->line, "listen.owner: there is no user \"%.100s\"",
                       listen->owner);
        if (listen->group[0] != '\0' && getgrnam(listen->group) == NULL)
            errors_add(&loader->errors, listen->line, "listen.group: there is no group \"%.100s\"",
                       listen->group);
    }
}

/* Port 0 is a new one each time. */
static bool is_same_address(const struct config_listen *a, const struct config_listen *b)
{
    bool network = a->sockaddr.ss_family != AF_UNIX;

    if (a->address[0] == '\0' || (network && address_port(&a->sockaddr) == 0))
        return false;
    return a->sockaddr_length == b->sockaddr_length &&
           memcmp(&a->sockaddr, &b->sockaddr, sizeof(a->sockaddr)) == 0;
}

static bool is_any_v4(const struct config_listen *listen)
{
    struct sockaddr_in address;

    memcpy(&address, &listen->sockaddr, sizeof(address));
    return address.sin_family == AF_INET && address.sin_addr.s_addr == htonl(INADDR_ANY);
}

static bool is_any_v6(const struct config_listen *listen)
{
    struct sockaddr_in6 address;

    memcpy(&address, &listen->sockaddr, sizeof(address));
    return address.sin6_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr);
}

/* [::] takes IPv4 as well, unless IPv4's any address with this port is there in its own right. */
static void check_listeners(struct loader *loader)
{
    struct config_listen *listen = (struct config_listen *)loader->config->listen;
    size_t count = loader->config->listen_count;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (i != j && is_any_v6(&listen[i]) && is_any_v4(&listen[j]) &&
                address_port(&listen[i].sockaddr) == address_port(&listen[j].sockaddr))
                listen[i].v6_only = true;
            if (j < i && is_same_address(&listen[i], &listen[j])) {
                errors_add(&loader->errors, listen[i].line,
                           "%s: \"%s\" is listened on already, by %s",
                           listen[i].line == 0 ? listen[i].source : "listen.address",
                           listen[i].address, listen[j].source);
                break;
            }
        }
    }
}

static void check_limits(struct loader *loader)
{
    const struct config_limits *limits = &loader->config->limits;

    if (limits->target_bytes > limits->head_bytes)
        errors_add(&loader->errors, 0,
                   "%s: limits.target (%u) is larger than limits.head (%u), which it is part of",
                   loader->config->path, limits->target_bytes, limits->head_bytes);
}

/* The host that has the name, among those before host, or NULL. */
static const struct config_host *find_name(const struct config *config,
                                           const struct config_host *host, size_t index)
{
    const char *name = host->names[index];

    for (const struct config_host *other = config->hosts; other <= host; other++) {
        for (size_t i = 0; i < other->name_count && (other != host || i < index); i++) {
            if (strcmp(other->names[i], name) == 0)
                return other;
        }
    }
    return NULL;
}

static void check_names(struct loader *loader, const struct config_host *host)
{
    const struct config *config = loader->config;

    for (size_t i = 0; i < host->name_count; i++) {
        const struct config_host *other = find_name(config, host, i);

        if (other != NULL)
            errors_add(&loader->errors, host->line, "host.names: \"%s\" is given twice, at %s",
                       host->names[i], other->source);
    }
    if (host->name_count == 0 && host != config->default_host)
        errors_add(&loader->errors, host->line,
                   "host: it has no names and is not the default, so nothing can reach it");
}

static void check_hosts(struct loader *loader)
{
    struct config *config = loader->config;
    struct config_host *hosts = (struct config_host *)config->hosts;
    struct config_host *chosen = NULL;

    for (size_t i = 0; i < config->host_count; i++) {
        if (!hosts[i].is_default)
            continue;
        if (chosen != NULL)
            errors_add(&loader->errors, hosts[i].line,
                       "host.default: there is a default host already, at %s", chosen->source);
        else
            chosen = &hosts[i];
    }
    if (chosen == NULL && config->host_count > 0)
        chosen = &hosts[0];
    if (chosen != NULL)
        chosen->is_default = true;
    config->default_host = chosen;
    for (size_t i = 0; i < config->host_count; i++)
        check_names(loader, &hosts[i]);
}

static void check_something_to_serve(struct loader *loader, const config_setting_t *root)
{
    const struct config *config = loader->config;
    bool http = false;

    for (size_t i = 0; i < config->listen_count; i++)
        http = http || config->listen[i].protocol == CONFIG_PROTOCOL_HTTP;
    if (http && config->host_count == 0 && walk_knows_all(&schema_file, root))
        errors_add(&loader->errors, 0,
                   "%s: nothing to serve: expected hosts = ( { root = \"/DIRECTORY\"; } );",
                   config->path);
}

void check_config(struct loader *loader, const config_setting_t *root)
{
    if (loader->errors.out_of_memory)
        return;
    check_accounts(loader, root);
    check_limits(loader);
    check_listeners(loader);
    check_hosts(loader);
    check_something_to_serve(loader, root);
}
