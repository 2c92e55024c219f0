/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line, and prints what is said about it.
 * It checks neither addresses nor numbers: src/config does, wherever they come from.
 * main.c calls it.
 */

#include "daemon/command_line.h"

#include <evix/loop.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CONFIG SYSCONFDIR "/evixd/evixd.conf"

/* Long options without a letter. */
enum { OPTION_ACCESS_LOG = 256, OPTION_ECHO };

static const char letters[] = ":c:l:w:b:tTqvhV";
static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},
    {"listen", required_argument, NULL, 'l'},
    {"workers", required_argument, NULL, 'w'},
    {"backend", required_argument, NULL, 'b'},
    {"test", no_argument, NULL, 't'},
    {"dump", no_argument, NULL, 'T'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"access-log", required_argument, NULL, OPTION_ACCESS_LOG},
    {"echo", required_argument, NULL, OPTION_ECHO},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: evixd [options] [DIRECTORY]\n"
    "Serves DIRECTORY on http://127.0.0.1:8080/, or what a configuration file says.\n"
    "\n"
    "  -c, --config FILE    configuration (default without DIRECTORY: " DEFAULT_CONFIG ")\n"
    "  -l, --listen ADDR    HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH; may be repeated\n"
    "  -w, --workers N      number of worker processes (default: one a core)\n"
    "  -b, --backend NAME   auto, io_uring, epoll or poll\n"
    "  -t, --test           check the configuration and exit\n"
    "  -T, --dump           the same, and print the configuration in force\n"
    "  -q, --quiet          log errors only\n"
    "  -v, --verbose        log more; twice: everything\n"
    "      --access-log F   off, stdout, stderr or a path (default with DIRECTORY:\n"
    "                       stdout if that is a terminal, else off)\n"
    "      --echo PATH      answer requests below PATH with what they send\n"
    "  -h, --help           print this and exit\n"
    "  -V, --version        print the version and what is built in, and exit\n"
    "\n"
    "Exit codes: 0 clean, 1 usage or configuration, 2 could not start, 3 failed while running.\n";

void command_print_version(void)
{
    static const enum evix_backend backends[] = {EVIX_BACKEND_IO_URING, EVIX_BACKEND_EPOLL,
                                                 EVIX_BACKEND_KQUEUE, EVIX_BACKEND_POLL};
    printf("evixd %s\nbackends:", PACKAGE_VERSION);
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        if (evix_backend_built(backends[i]))
            printf(" %s", evix_backend_name(backends[i]));
    }
    printf("\nfeatures:");
#ifdef HAVE_LIBURING
    printf(" +liburing");
#else
    printf(" -liburing");
#endif
#ifdef HAVE_LIBSYSTEMD
    printf(" +libsystemd");
#else
    printf(" -libsystemd");
#endif
#ifdef HAVE_LIBSECCOMP
    printf(" +libseccomp");
#else
    printf(" -libseccomp");
#endif
#ifdef HAVE_LIBCRYPT
    printf(" +libcrypt");
#else
    printf(" -libcrypt");
#endif
    printf("\nconfiguration: %s\n", DEFAULT_CONFIG);
}

void command_print_help(void)
{
    fputs(help, stdout);
}

/* Whether getopt_long() complains of a long option, which was given a value that it takes not. */
static bool is_known(int option)
{
    for (const struct option *known = options; known->name != NULL; known++) {
        if (known->val == option)
            return true;
    }
    return false;
}

/* What getopt_long() found wrong, in one line. */
static void complain(int found, char **arguments)
{
    const char *last = arguments[optind - 1];
    bool is_long = strncmp(last, "--", 2) == 0;
    if (found == ':' && is_long)
        fprintf(stderr, "evixd: option %s needs a value; see evixd --help\n", last);
    else if (found == ':')
        fprintf(stderr, "evixd: option -%c needs a value; see evixd --help\n", optopt);
    else if (optopt == 0)
        fprintf(stderr, "evixd: unknown option %s; see evixd --help\n", last);
    else if (is_known(optopt))
        fprintf(stderr, "evixd: option %s takes no value; see evixd --help\n", last);
    else
        fprintf(stderr, "evixd: unknown option -%c; see evixd --help\n", optopt);
}

static void take_option(struct command *command, int option)
{
    struct config_overrides *overrides = &command->overrides;
    switch (option) {
    case 'c':
        command->file = optarg;
        break;
    case 'l':
        command->listen[overrides->listen_count++] = optarg;
        break;
    case 'w':
        overrides->workers = optarg;
        break;
    case 'b':
        overrides->backend = optarg;
        break;
    case 't':
        if (command->action == COMMAND_RUN)
            command->action = COMMAND_TEST;
        break;
    case 'T':
        command->action = COMMAND_DUMP;
        break;
    case 'q':
        overrides->level = "error";
        break;
    case 'v':
        /* Once more than info is debug. */
        overrides->level =
            overrides->level != NULL && overrides->level[0] == 'i' ? "debug" : "info";
        break;
    case OPTION_ACCESS_LOG:
        overrides->access_log = optarg;
        break;
    case OPTION_ECHO:
        overrides->echo_path = optarg;
        break;
    default:
        command->action = option == 'h' ? COMMAND_HELP : COMMAND_VERSION;
        break;
    }
}

/* What stands beside the options. */
static int read_directory(struct command *command, int count, char **arguments)
{
    command->directory = arguments[optind];
    if (command->directory == NULL) {
        command->file_is_default = command->file == NULL;
        if (command->file_is_default)
            command->file = DEFAULT_CONFIG;
        return 0;
    }
    if (optind + 1 < count) {
        fprintf(stderr, "evixd: one DIRECTORY at most, but \"%s\" follows\n",
                arguments[optind + 1]);
        return -EINVAL;
    }
    if (command->file != NULL) {
        fprintf(stderr, "evixd: give either --config or a DIRECTORY, not both\n");
        return -EINVAL;
    }
    if (command->overrides.access_log == NULL && isatty(STDOUT_FILENO))
        command->overrides.access_log = "stdout";
    return 0;
}

int command_read(struct command *command, int count, char **arguments)
{
    *command =
        (struct command){.action = COMMAND_RUN, .name = arguments[0], .arguments = arguments};
    command->listen = calloc((size_t)count + 1, sizeof(*command->listen));
    if (command->listen == NULL)
        return -ENOMEM;
    command->overrides.listen = command->listen;

    opterr = 0;
    for (;;) {
        int found = getopt_long(count, arguments, letters, options, NULL);
        if (found == -1)
            return read_directory(command, count, arguments);
        if (found == '?' || found == ':') {
            complain(found, arguments);
            return -EINVAL;
        }
        take_option(command, found);
        if (command->action == COMMAND_HELP || command->action == COMMAND_VERSION)
            return 0;
    }
}

int command_load(const struct command *command, struct config **out,
                 const struct config_errors *errors)
{
    if (command->directory != NULL)
        return config_from_directory(command->directory, &command->overrides, out, errors);
    return config_load(command->file, &command->overrides, out, errors);
}

void command_fini(struct command *command)
{
    free(command->listen);
    command->listen = NULL;
}
