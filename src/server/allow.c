/* SPDX-License-Identifier: MIT */
/*
 * Compares a client's address with the networks that a location allows.
 * It refuses nothing: guard.c does, and is the caller.
 */
#include "server/allow.h"

#include <string.h>

#define V4_BITS_BEFORE 96

static bool is_within(const struct in6_addr *client, const struct config_network *network)
{
    unsigned bytes = network->bits / 8, rest = network->bits % 8;

    /* ::/0 is all of IPv6; that IPv4 has a place in it as well is our own business. */
    if (network->bits < V4_BITS_BEFORE && IN6_IS_ADDR_V4MAPPED(client))
        return false;
    if (memcmp(client, &network->prefix, bytes) != 0)
        return false;
    return rest == 0 ||
           ((client->s6_addr[bytes] ^ network->prefix.s6_addr[bytes]) >> (8 - rest)) == 0;
}

bool allow_has(const struct config_location *location, const struct in6_addr *client)
{
    if (location->allows_all)
        return true;
    for (size_t i = 0; i < location->network_count; i++) {
        const struct config_network *network = &location->networks[i];

        if (client == NULL ? network->is_unix : !network->is_unix && is_within(client, network))
            return true;
    }
    return false;
}
