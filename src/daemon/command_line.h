/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_COMMAND_LINE_H
#define EVIXD_DAEMON_COMMAND_LINE_H

#include "config/config.h"

enum command_action {
    COMMAND_RUN,
    COMMAND_TEST, /* check the configuration */
    COMMAND_DUMP, /* the same, and print it */
    COMMAND_HELP,
    COMMAND_VERSION,
};

/* What the arguments ask for. All strings are those of the arguments. */
struct command {
    enum command_action action;
    const char *name;      /* by which the program was called */
    char **arguments;      /* all of them */
    const char *file;      /* of the configuration; not looked at if there is a directory */
    bool file_is_default;  /* nothing was named */
    const char *directory; /* NULL: the configuration comes from a file */
    struct config_overrides overrides;
    const char **listen; /* what overrides.listen is; private */
};

/*
 * Fills `command`, which the caller gives back with command_fini() in any case. 0, -ENOMEM, or
 * -EINVAL after one line on standard error.
 */
CONFIG_MUST_CHECK int command_read(struct command *command, int count, char **arguments);
void command_fini(struct command *command);

/* The configuration that the command asks for, as it is now: config_load() and its kin. */
CONFIG_MUST_CHECK int command_load(const struct command *command, struct config **out,
                                   const struct config_errors *errors);

/* To standard output. */
void command_print_help(void);
void command_print_version(void);

#endif
