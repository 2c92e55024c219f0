/* SPDX-License-Identifier: MIT */
/*
 * Turns the text of a client's address or network into a prefix.
 * Does not resolve names, nor compare addresses: the server does that.
 * Called through the schema, and by site.c.
 */
#include "config/network.h"

#include <arpa/inet.h>
#include <string.h>

#include "config/units.h"

#define V4_BITS_BEFORE 96 /* of ::ffff:0:0/96, which IPv4 addresses are mapped to */

static bool parse_v4(const char *text, struct config_network *out)
{
    struct in_addr address;

    if (inet_pton(AF_INET, text, &address) != 1)
        return false;
    memset(&out->prefix, 0, sizeof(out->prefix));
    out->prefix.s6_addr[10] = out->prefix.s6_addr[11] = 0xff;
    memcpy(out->prefix.s6_addr + 12, &address, sizeof(address));
    return true;
}

static bool has_bits_behind(const struct config_network *network)
{
    for (unsigned bit = network->bits; bit < 128; bit++) {
        if ((network->prefix.s6_addr[bit / 8] & (0x80 >> bit % 8)) != 0)
            return true;
    }
    return false;
}

/* NULL, or what was expected. */
static const char *parse(const char *text, struct config_network *out)
{
    const char *slash = strchr(text, '/');
    size_t length = slash == NULL ? strlen(text) : (size_t)(slash - text);
    char host[INET6_ADDRSTRLEN];
    unsigned before = V4_BITS_BEFORE;
    uint64_t bits;

    *out = (struct config_network){.bits = 128};
    if (length >= sizeof(host))
        return NETWORK_EXPECTED;
    memcpy(host, text, length);
    host[length] = '\0';
    if (!parse_v4(host, out)) {
        before = 0;
        if (inet_pton(AF_INET6, host, &out->prefix) != 1)
            return NETWORK_EXPECTED;
    }
    if (slash == NULL)
        return NULL;
    if (units_parse_integer(slash + 1, &bits) != 0 || bits > 128 - before)
        return before == 0 ? "a prefix of 0 to 128 bits" : "a prefix of 0 to 32 bits";
    out->bits = (uint8_t)(before + bits);
    if (has_bits_behind(out))
        return "a network without bits behind its prefix, such as 10.0.0.0/8";
    return NULL;
}

const char *network_check(const char *text)
{
    struct config_network network;

    if (strcmp(text, "all") == 0 || strcmp(text, "unix") == 0)
        return NULL;
    return parse(text, &network);
}

bool network_parse(const char *text, struct config_network *out)
{
    *out = (struct config_network){.is_unix = true};
    if (strcmp(text, "all") == 0)
        return false;
    if (strcmp(text, "unix") != 0)
        (void)parse(text, out);
    return true;
}
