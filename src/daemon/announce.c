/* SPDX-License-Identifier: MIT */
/*
 * Says where the server can be reached.
 * It looks nothing up: the addresses are those that were really bound.
 * master.c calls it, when every worker serves.
 */

#include "daemon/announce.h"

#include "log/log.h"

#include <stdio.h>
#include <string.h>

/* A URL where there is one: for HTTP over TCP. */
static void format_place(const struct sockets *sockets, size_t index, char *out, size_t size)
{
    const char *address = sockets->listeners[index].address;
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    if (sockets->config->listen[index].protocol == CONFIG_PROTOCOL_ECHO)
        snprintf(out, size, "echo on %s", address);
    else
        snprintf(out, size, is_unix ? "%s" : "http://%s/", address);
}

/* Of HTTP on every address, which is none that a browser could open; else NULL. */
static const char *port_of_wildcard(const struct sockets *sockets, size_t index)
{
    static const char *const wildcards[] = {"[::]:", "0.0.0.0:"};
    const char *address = sockets->listeners[index].address;
    for (size_t i = 0; i < sizeof(wildcards) / sizeof(wildcards[0]); i++)
        if (sockets->config->listen[index].protocol == CONFIG_PROTOCOL_HTTP &&
            strncmp(address, wildcards[i], strlen(wildcards[i])) == 0)
            return address + strlen(wildcards[i]);
    return NULL;
}

void announce_on_stdout(const struct sockets *sockets, const char *directory)
{
    for (size_t i = 0; i < sockets->config->listen_count; i++) {
        char place[SOCKETS_ADDRESS_BYTES + 16];
        const char *port = port_of_wildcard(sockets, i);
        format_place(sockets, i, place, sizeof(place));
        if (port != NULL)
            printf("Serving %s on every address, here on http://localhost:%s/\n", directory, port);
        else
            printf("Serving %s on %s\n", directory, place);
    }
    fflush(stdout); /* nobody to tell if it fails */
}

void announce_in_log(const struct sockets *sockets)
{
    for (size_t i = 0; i < sockets->config->listen_count; i++) {
        char place[SOCKETS_ADDRESS_BYTES + 16];
        if (sockets->listeners[i].is_inherited)
            continue;
        format_place(sockets, i, place, sizeof(place));
        if (strncmp(place, "echo on ", 8) == 0)
            log_event(LOG_LEVEL_NOTICE, "%s", place);
        else
            log_event(LOG_LEVEL_NOTICE, "listening on %s", place);
    }
}
