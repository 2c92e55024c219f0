/* SPDX-License-Identifier: MIT */
#ifndef SERVER_COUNTERS_TABLE_H
#define SERVER_COUNTERS_TABLE_H

/* What the counters are called: one table for Prometheus, JSON and the page. */

#include "server/counters.h"

struct counter_name {
    const char *family; /* Prometheus, behind "evixd_" */
    const char *label;  /* the name of its label, which is also the group in JSON; NULL: none */
    const char *value;  /* of the label; without one the key in JSON */
    const char *about;  /* of the family: given where the family begins */
};

extern const struct counter_name counter_names[COUNTER_COUNT];

/* "reading", "sending" and so on: what the connections do. */
extern const char *const connection_wait_names[WAIT_COUNT];

/* The timeout that ends such a wait, as the configuration calls it; NULL: there is none. */
extern const char *const connection_timeout_names[WAIT_COUNT];

#endif
