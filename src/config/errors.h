/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_ERRORS_H
#define CONFIG_ERRORS_H

/*
 * What is wrong with a configuration, gathered while it is read and told in the order of its
 * lines. Lines are those of the joined text (text.h); 0 stands for what has no line, such as the
 * command line, and is told first.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

struct text;

/* More than these are counted, not kept: a file in a foreign format is wrong everywhere. */
#define ERRORS_KEPT 50

struct errors_entry {
    unsigned line;
    char *message;
};

struct errors {
    struct errors_entry kept[ERRORS_KEPT];
    size_t count; /* of all */
    bool out_of_memory;
};

/* All zero is an empty list. */
void errors_fini(struct errors *errors);

void errors_add(struct errors *errors, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes that memory ran out: the result is -ENOMEM, whatever else was found. */
void errors_add_memory(struct errors *errors);

/* Tells all to the sink and returns 0 if there were none, -ENOMEM or -EINVAL. text places the
 * lines and may be NULL if no entry has one. */
int errors_report(struct errors *errors, const struct text *text, const struct config_errors *sink);

#endif
