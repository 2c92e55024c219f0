/* SPDX-License-Identifier: MIT */
#ifndef SERVER_DESCRIPTOR_BUDGET_H
#define SERVER_DESCRIPTOR_BUDGET_H

/*
 * How a worker's descriptors are shared out between connections and files, so that a connection
 * that was accepted finds one for the file that it asks for.
 */

#include "config/config.h"

#include <stddef.h>
#include <stdint.h>

struct descriptor_budget {
    uint32_t connections; /* open at most */
    uint32_t cached;      /* files that the cache may keep open */
};

/*
 * `limit` is the limit of descriptors of the process, `standing` those that are open as long as it
 * lives, `wanted` the connections that the configuration allows.
 */
void descriptor_budget_share(struct descriptor_budget *budget, uint64_t limit, uint64_t standing,
                             uint32_t wanted);

/* The same for this process, before it opens files. */
void descriptor_budget_init(struct descriptor_budget *budget, const struct config *config);

#endif
