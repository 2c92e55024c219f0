/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

/*
 * The configuration in force: plain data, complete and checked, never changed after loading.
 *
 * Loading fills every field: what the file does not say has its default, what a location does not
 * say has its host's value, what the host does not say the file's. Readers look at one struct and
 * need no rules. All memory belongs to the struct config; everything dies in config_free().
 * Strings are never NULL unless the field says so; "" stands for "not set".
 *
 * Loading reads the file, its includes and the attributes of the paths named in it. It opens no
 * socket, creates and removes nothing, looks no name up in the network, and prints nothing.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "log/log.h"

#define CONFIG_MUST_CHECK __attribute__((warn_unused_result))

enum config_backend {
    CONFIG_BACKEND_AUTO,
    CONFIG_BACKEND_IO_URING,
    CONFIG_BACKEND_EPOLL,
    CONFIG_BACKEND_POLL,
};

/* Where a log goes. The access log knows no syslog, the error log no off and no stdout. */
enum config_target {
    CONFIG_TARGET_OFF,
    CONFIG_TARGET_STDOUT,
    CONFIG_TARGET_STDERR,
    CONFIG_TARGET_SYSLOG,
    CONFIG_TARGET_FILE,
};

struct config_error_log {
    enum config_target target;
    const char *path; /* an absolute path for CONFIG_TARGET_FILE, else "" */
    enum log_level level;
};

enum config_log_format {
    CONFIG_LOG_COMMON,
    CONFIG_LOG_COMBINED,
    CONFIG_LOG_JSON,
    CONFIG_LOG_CUSTOM, /* Apache's % directives, in format_text */
};

struct config_access_log {
    enum config_target target;
    const char *path; /* as above */
    enum config_log_format format;
    const char *format_text; /* of CONFIG_LOG_CUSTOM, else "" */
};

/* 0 switches a limit off where its line says so. */
struct config_limits {
    uint32_t connections;             /* open at once, in each worker */
    uint32_t connections_per_address; /* of one client address, in each worker; 0: no limit */
    uint32_t target_bytes;            /* longest request target, else 414 */
    uint32_t head_bytes;              /* longest request head, else 431 */
    uint32_t fields;                  /* most fields in a head, else 431 */
    uint64_t body_bytes;              /* largest request body, else 413 */
    uint32_t requests_per_connection; /* then it is closed; 0: no limit */
    uint32_t min_rate;                /* bytes a second that a client must at least move; 0: none */
};

/* Milliseconds; 0 switches a timeout off. */
struct config_timeouts {
    uint32_t head_ms;       /* from the first byte of a request (or accept) to the head's end */
    uint32_t body_ms;       /* without progress of a request body */
    uint32_t send_ms;       /* without progress of a response */
    uint32_t keep_alive_ms; /* idle between two requests */
    uint32_t linger_ms;     /* reading on after the last response, so that it arrives */
    uint32_t shutdown_ms;   /* graceful stop: then what is left is cut off; 0: wait for it */
    uint32_t stuck_ms;      /* a worker's event loop does not turn: then it is replaced; 0: never */
};

enum config_cache {
    CONFIG_CACHE_OFF,
    CONFIG_CACHE_STAT,  /* revalidate with one stat a request */
    CONFIG_CACHE_WATCH, /* inotify where it sees changes, stat where it does not */
};

enum config_symlinks {
    CONFIG_SYMLINKS_REFUSE,
    CONFIG_SYMLINKS_BENEATH, /* followed while they stay under the root */
    CONFIG_SYMLINKS_FOLLOW,
};

struct config_files {
    enum config_cache cache;
    uint32_t entries;      /* in each worker */
    uint64_t memory_bytes; /* in each worker */
    uint64_t small_bytes;  /* files up to this size are kept in memory */
    enum config_symlinks symlinks;
};

enum config_protocol {
    CONFIG_PROTOCOL_HTTP,
    CONFIG_PROTOCOL_ECHO, /* RFC 862 over TCP */
};

struct config_listen {
    const char *address; /* as address.h writes it: "127.0.0.1:80", "[::1]:80", ":80", "unix:/x" */
    struct sockaddr_storage sockaddr;
    socklen_t sockaddr_length;
    const char *name; /* of a service manager's socket that may stand for it; "": none */
    bool wildcard;    /* given as PORT or :PORT, held as [::]; 0.0.0.0 will do without IPv6 */
    bool v6_only;     /* IPV6_V6ONLY: another listener has 0.0.0.0 with this port */
    unsigned backlog;
    bool defer_accept; /* TCP_DEFER_ACCEPT */
    mode_t mode;       /* of a unix socket, as the next two */
    const char *owner; /* "": who starts evixd */
    const char *group; /* "": the group of who starts evixd */
    enum config_protocol protocol;
    const char *source; /* "FILE:LINE" or "--listen", for messages */
    unsigned line;      /* private */
};

struct config_header {
    const char *name;
    const char *value; /* no control bytes but tab */
};

/* Whom a location allows: a network, or all clients of unix sockets. */
struct config_network {
    struct in6_addr prefix; /* IPv4 mapped */
    uint8_t bits;           /* how many of the prefix count */
    bool is_unix;
};

struct config_error_page {
    unsigned status;
    const char *file; /* a path beneath the host's root */
};

struct config_auth {
    const char *realm; /* without quotes and backslashes */
    const char *users; /* path of an htpasswd file; "": nobody is asked */
};

enum config_handler {
    CONFIG_HANDLER_STATIC,
    CONFIG_HANDLER_ECHO,
    CONFIG_HANDLER_REDIRECT,
    CONFIG_HANDLER_STATUS,
};

/*
 * Settings for the paths below a prefix. The prefix matches on segment boundaries: "/img" matches
 * "/img" and "/img/a", never "/img2"; "/img/" matches "/img/" and what is below. It is compared
 * with the decoded, normalized path of the request.
 */
struct config_location {
    const char *path;
    size_t path_length;
    enum config_handler handler;
    const char *root; /* absolute, no slash at the end (but "/"); the request's whole path is looked
                         up beneath it. "" only if the handler is not static */
    const char *const *index;
    size_t index_count;
    bool listing;
    bool dotfiles;      /* serve names that begin with a dot (".well-known" is served anyway) */
    bool precompressed; /* send siblings (.br, .zst, .gz) to who accepts them */
    const struct config_header *headers; /* each name once, in any case of letters */
    size_t header_count;
    const struct config_header *headers_always; /* the same, of every answer */
    size_t header_always_count;
    const char *const *patterns; /* names of files that are meant; none: all */
    size_t pattern_count;
    const char *fallback; /* a path beneath the root that answers navigations; "": none */
    const struct config_error_page *error_pages; /* each status once */
    size_t error_page_count;
    const char *const *allow; /* as in the file */
    size_t allow_count;
    const struct config_network *networks; /* the same, but for "all" */
    size_t network_count;
    struct config_auth auth;
    bool allows_all;          /* "all" is among them */
    unsigned redirect_status; /* 0 if the handler is not redirect */
    const char
        *redirect_to;   /* stands for the matched prefix, the rest and the query are kept; "" */
    const char *source; /* "FILE:LINE" */
    unsigned line;      /* private */
};

struct config_host {
    const char *const *names; /* lower case; "example.org", or "*.example.org" for all below it */
    size_t name_count;
    bool is_default; /* exactly one host has it, if there is any */
    const char *root;
    struct config_access_log access_log;
    const struct config_location *locations; /* longest path first, of one path those with patterns
                                                first, so that the first that matches is the right
                                                one; the last is always "/" without patterns */
    size_t location_count;
    const char *source;               /* "FILE:LINE" */
    unsigned line;                    /* private */
    struct config_location inherited; /* private: what the locations begin with */
};

struct config_arena;

struct config {
    const char *path; /* of the file; "" if there is none */
    unsigned workers; /* 0: one a core */
    enum config_backend backend;
    const char *user;     /* "": stay who we are */
    const char *group;    /* "": the user's own group */
    bool seccomp;         /* workers give up the system calls that they do not need */
    const char *pid_file; /* "": none */
    struct config_error_log error_log;
    bool cpu_affinity;
    struct config_limits limits;
    struct config_timeouts timeouts;
    struct config_files files;
    const char *mime_types;             /* "": the built-in table alone */
    const char *default_type;           /* of files whose name tells nothing */
    const struct config_listen *listen; /* at least one */
    size_t listen_count;
    const struct config_host *hosts; /* at least one, unless all listeners are echo */
    size_t host_count;
    const struct config_host *default_host; /* NULL only without hosts */
    struct config_access_log access_log;    /* private: what the hosts begin with */
    struct config_location inherited;       /* private: the same */
    struct config_arena *arena;             /* private */
};

/* What the command line says; it wins over the file. NULL (or 0) where it says nothing. */
struct config_overrides {
    const char *const *listen; /* replaces the file's listeners */
    size_t listen_count;
    const char *workers;
    const char *backend;
    const char *level;      /* of the error log */
    const char *access_log; /* of every host: off, stdout, stderr or a path */
    const char *echo_path;  /* in every host, an echo location more */
};

/*
 * Where messages go: one call for each thing that is wrong, a line without newline, such as
 * `evixd.conf:12: unknown setting "keepalive" in timeouts; did you mean "keep_alive"?`
 */
typedef void config_error_fn(void *data, const char *line);

struct config_errors {
    config_error_fn *report;
    void *data;
};

/*
 * Reads the file at path, with all that it includes. Returns 0 and *out, which the caller frees,
 * or, after all errors were reported (at least one), -EINVAL for what the file or an override
 * says, -ENOMEM, or the error with which the file could not be read; *out is NULL then.
 */
CONFIG_MUST_CHECK int config_load(const char *path, const struct config_overrides *overrides,
                                  struct config **out, const struct config_errors *errors);

/* The same for text that was read already; name stands in the messages, and its folder is where
 * relative includes are looked for. */
CONFIG_MUST_CHECK int config_load_text(const char *text, size_t length, const char *name,
                                       const struct config_overrides *overrides,
                                       struct config **out, const struct config_errors *errors);

/*
 * The configuration of `evixd DIRECTORY`: 127.0.0.1:8080, one host, listings, no access log
 * unless overrides->access_log asks for one.
 */
CONFIG_MUST_CHECK int config_from_directory(const char *directory,
                                            const struct config_overrides *overrides,
                                            struct config **out,
                                            const struct config_errors *errors);

/* Prints the configuration as text that config_load() reads back as the same. 0 or -EIO. */
CONFIG_MUST_CHECK int config_dump(const struct config *config, FILE *stream);

/* NULL is fine. */
void config_free(struct config *config);

#endif
