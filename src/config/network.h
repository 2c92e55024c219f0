/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_NETWORK_H
#define CONFIG_NETWORK_H

/*
 * Clients as texts of a list of whom to allow: an address, a network in the notation of RFC 4632
 * ("10.0.0.0/8", "2001:db8::/32"), "unix" for all clients of unix sockets, "all".
 */

#include "config/config.h"

#define NETWORK_EXPECTED "an address, a network such as 10.0.0.0/8, \"unix\" or \"all\""

/* NULL, or what was expected instead. */
const char *network_check(const char *text);

/* The client that a text which passed the check stands for; false for "all". */
bool network_parse(const char *text, struct config_network *out);

#endif
