/* SPDX-License-Identifier: MIT */
/*
 * Command line, then configuration, then master: each step says itself what is wrong.
 */

#include "config/config.h"
#include "daemon/command_line.h"
#include "daemon/descriptors.h"
#include "daemon/exit_code.h"
#include "daemon/master.h"
#include "daemon/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void on_config_error(void *data, const char *line)
{
    (void)data;
    fprintf(stderr, "evixd: %s\n", line);
}

/* -t and -T: binds nothing, creates nothing, removes nothing. */
static int check(const struct command *command, const struct config *config)
{
    if (master_check(config) < 0)
        return EXIT_CODE_USAGE;
    if (command->action == COMMAND_DUMP)
        return config_dump(config, stdout) < 0 ? EXIT_CODE_RUNNING : EXIT_CODE_CLEAN;
    printf("evixd: the configuration of %s is well\n",
           command->directory != NULL ? command->directory : command->file);
    return EXIT_CODE_CLEAN;
}

static int load_and_act(const struct command *command)
{
    const struct config_errors errors = {.report = on_config_error};
    struct config *config;
    int error = command_load(command, &config, &errors);
    if (error == -ENOENT && command->file_is_default)
        on_config_error(NULL, "name a DIRECTORY to serve, or a --config FILE; see evixd --help");
    if (error < 0)
        return EXIT_CODE_USAGE;
    if (command->action == COMMAND_RUN)
        return master_run(command, config);
    int code = check(command, config);
    config_free(config);
    return code;
}

static int act(const struct command *command)
{
    switch (command->action) {
    case COMMAND_HELP:
        command_print_help();
        return EXIT_CODE_CLEAN;
    case COMMAND_VERSION:
        command_print_version();
        return EXIT_CODE_CLEAN;
    default:
        return load_and_act(command);
    }
}

int main(int count, char **arguments)
{
    struct command command;
    int code = EXIT_CODE_USAGE;
    signals_reset();
    int error = descriptors_fill_standard();
    if (error < 0) { /* heard where standard error is not the one that is closed */
        fprintf(stderr, "evixd: cannot open /dev/null: %s\n", strerror(-error));
        return EXIT_CODE_START;
    }
    if (command_read(&command, count, arguments) == 0)
        code = act(&command);
    command_fini(&command);
    if (fflush(stdout) != 0 && code == EXIT_CODE_CLEAN)
        code = EXIT_CODE_RUNNING;
    return code;
}
