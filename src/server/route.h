/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

/* From a host name and a path to a location, its root and its handler: built once, then read. */

#include "config/config.h"
#include "files/store.h"
#include "http/text.h"

struct handler;
struct access_log;
struct auth_realm;

/* What the choice between a fallback and a 404 depends on (RFC 9110 12.5.5). */
#define ROUTE_FALLBACK_NAMES  "Accept, Sec-Fetch-Dest"
#define ROUTE_FALLBACK_VARIES HTTP_TEXT("Vary: " ROUTE_FALLBACK_NAMES "\r\n")

/* A location, with what is worked out once. */
struct route {
    const struct config_location *location;
    const struct handler *handler;
    struct auth_realm *realm;            /* whose passwords are asked for; NULL: nobody's */
    struct root *root;                   /* static handler; the store's */
    struct http_text fields[2];          /* its configured headers as lines, for 2xx and 304;
                                            [true]: with Accept-Encoding in Vary */
    struct http_text fields_always;      /* and for all else, */
    struct http_text fields_fallback[2]; /* but for a fallback */
    bool is_guarded;                     /* not everybody may pass: see guard.h */
};

struct route_host {
    const struct config_host *config;
    struct route *routes; /* in the configuration's order: longest path first */
    struct access_log *access_log;
    bool is_guarded;         /* one of the routes is */
    struct root *error_root; /* of the files of error_pages; NULL: there are none */
};

struct route_table {
    const struct config *config;
    struct route_host *hosts;
    struct route_name *names; /* sorted, for exact names */
    size_t name_count;
    bool may_lack_roots;               /* then what cannot be opened now is tried again later */
    const struct route_host *fallback; /* the default host */
};

/* `may_lack_roots`: one that cannot be opened is tried again when it is asked for. 0, or a negative
 * errno, and what it was about was logged. */
int route_table_init(struct route_table *table, const struct config *config, struct store *store,
                     bool may_lack_roots);
void route_table_fini(struct route_table *table);

/* The host that answers to a name (any case, without port): exact, longest wildcard, default. */
const struct route_host *route_find_host(const struct route_table *table, struct http_text name);

/* The location with the longest prefix of a decoded path, on segment boundaries; never NULL. */
const struct route *route_find(const struct route_host *host, const char *path, size_t length);

/* Whether a location is named by the path and a slash. */
bool route_has_folder(const struct route_host *host, const char *path, size_t length);

#endif
