/* SPDX-License-Identifier: MIT */
#ifndef SERVER_GUARD_H
#define SERVER_GUARD_H

#include "server/exchange.h"

/* Whether the route lets not everybody in. */
bool guard_is_needed(const struct config_location *location);

/*
 * Lets the exchange pass, or answers it. False: it was answered, or will be, and goes on by
 * exchange_handle() if it may.
 */
bool guard_admit(struct exchange *exchange);

#endif
