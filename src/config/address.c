/* SPDX-License-Identifier: MIT */
/*
 * Turns the text of a listen address into a socket address and back.
 * Does not resolve names, does not touch a socket or a path.
 * Called by value.c and check.c, and by whoever prints an address.
 */
#include "config/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "config/units.h"

static const char unix_prefix[] = "unix:";

static int parse_unix(const char *path, struct sockaddr_storage *out, socklen_t *out_length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);

    if (length == 0)
        return -EINVAL;
    if (length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length + 1);
    memset(out, 0, sizeof(*out));
    memcpy(out, &address, sizeof(address));
    *out_length = (socklen_t)sizeof(address);
    return 0;
}

static int parse_port(const char *text, in_port_t *out)
{
    uint64_t port;
    int error = units_parse_integer(text, &port);

    if (error != 0)
        return error;
    if (port > UINT16_MAX)
        return -ERANGE;
    *out = htons((uint16_t)port);
    return 0;
}

static int parse_v4(const char *host, in_port_t port, struct sockaddr_storage *out,
                    socklen_t *out_length)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};

    /* inet_pton() and not getaddrinfo(), to which "127.1" and "0x7f000001" are addresses too */
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                  &address.sin_addr) != 1)
        return -EINVAL;
    memset(out, 0, sizeof(*out));
    memcpy(out, &address, sizeof(address));
    *out_length = (socklen_t)sizeof(address);
    return 0;
}

/* getaddrinfo() here, since it knows scopes: [fe80::1%eth0]:80. */
static int parse_v6(const char *host, in_port_t port, struct sockaddr_storage *out,
                    socklen_t *out_length)
{
    struct addrinfo hints = {.ai_family = AF_INET6,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;
    struct sockaddr_in6 address;

    if (getaddrinfo(host, "0", &hints, &found) != 0)
        return -EINVAL;
    memcpy(&address, found->ai_addr, sizeof(address));
    freeaddrinfo(found);
    address.sin6_port = port;
    memset(out, 0, sizeof(*out));
    memcpy(out, &address, sizeof(address));
    *out_length = (socklen_t)sizeof(address);
    return 0;
}

static int parse_wildcard(in_port_t port, struct sockaddr_storage *out, socklen_t *out_length)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = port};

    memset(out, 0, sizeof(*out));
    memcpy(out, &address, sizeof(address));
    *out_length = (socklen_t)sizeof(address);
    return 0;
}

int address_parse(const char *text, struct sockaddr_storage *out, socklen_t *out_length,
                  bool *out_wildcard)
{
    const char *colon = strrchr(text, ':');
    char host[ADDRESS_TEXT_BYTES];
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    in_port_t port;
    int error;

    *out_wildcard = false;
    if (strncmp(text, unix_prefix, strlen(unix_prefix)) == 0)
        return parse_unix(text + strlen(unix_prefix), out, out_length);
    error = parse_port(colon == NULL ? text : colon + 1, &port);
    if (error != 0)
        return error;
    if (length == 0 || (length == 1 && text[0] == '*')) {
        *out_wildcard = true;
        return parse_wildcard(port, out, out_length);
    }
    if (length >= sizeof(host))
        return -EINVAL;
    if (text[0] == '[' && text[length - 1] == ']') {
        memcpy(host, text + 1, length - 2);
        host[length - 2] = '\0';
        return parse_v6(host, port, out, out_length);
    }
    memcpy(host, text, length);
    host[length] = '\0';
    return parse_v4(host, port, out, out_length);
}

const char *address_expected(const char *text, int error)
{
    const char *colon = strrchr(text, ':');
    in_port_t port;

    if (error == -ENAMETOOLONG)
        return "an address of at most 107 bytes";
    if (error == -ERANGE)
        return "a port from 0 to 65535";
    /* Colons and brackets before that are of an IPv6 address, or of a URL. */
    if (colon != NULL && colon == text + strcspn(text, ":[") && parse_port(colon + 1, &port) == 0)
        return "an IP address or localhost before the port";
    return ADDRESS_EXPECTED;
}

int address_format(const struct sockaddr_storage *address, char *out, size_t size)
{
    char host[ADDRESS_TEXT_BYTES];
    struct sockaddr_un local;

    switch (address->ss_family) {
    case AF_UNIX:
        memcpy(&local, address, sizeof(local));
        snprintf(out, size, "%s%.*s", unix_prefix, (int)sizeof(local.sun_path), local.sun_path);
        return 0;
    case AF_INET:
    case AF_INET6:
        if (getnameinfo((const struct sockaddr *)address,
                        address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                                      : sizeof(struct sockaddr_in6),
                        host, sizeof(host), NULL, 0, NI_NUMERICHOST) != 0)
            return -EAFNOSUPPORT;
        snprintf(out, size, address->ss_family == AF_INET ? "%s:%u" : "[%s]:%u", host,
                 address_port(address));
        return 0;
    default:
        return -EAFNOSUPPORT;
    }
}

unsigned address_port(const struct sockaddr_storage *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    switch (address->ss_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof(v4));
        return ntohs(v4.sin_port);
    case AF_INET6:
        memcpy(&v6, address, sizeof(v6));
        return ntohs(v6.sin6_port);
    default:
        return 0;
    }
}
