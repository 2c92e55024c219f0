/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ALLOW_H
#define SERVER_ALLOW_H

#include <netinet/in.h>
#include <stdbool.h>

#include "config/config.h"

/*
 * Whether the location's `allow` has the client: an address, IPv4 mapped, or NULL for a client of a
 * unix socket, whose address is not known.
 */
bool allow_has(const struct config_location *location, const struct in6_addr *client);

#endif
