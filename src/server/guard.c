/* SPDX-License-Identifier: MIT */
/*
 * Stands before a route: who may not see it is told so, whatever there is behind.
 * It knows no files and no handlers.
 * Called by exchange.c, for routes that have a guard.
 */
#include "server/guard.h"

#include "server/allow.h"
#include "server/worker_state.h"

bool guard_is_needed(const struct config_location *location)
{
    return !location->allows_all;
}

bool guard_admit(struct exchange *exchange)
{
    const struct config_location *location = exchange->route->location;
    struct in6_addr client;

    if (!allow_has(location, worker_client_address(exchange, &client) ? &client : NULL)) {
        exchange_fail(exchange, 403, "the client's address is not among those that are allowed");
        return false;
    }
    return true;
}
