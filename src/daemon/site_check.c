/* SPDX-License-Identifier: MIT */
/*
 * Warns of files that the configuration names and that workers could not read.
 * It refuses nothing, and does not judge by files.symlinks: what is found may still not be served.
 * master.c calls it, for --test.
 */

#include "daemon/site_check.h"

#include "log/log.h"
#include "server/password_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A location and the host that it is of. */
struct place {
    const struct config_host *host;
    const struct config_location *location;
};

typedef bool same_fn(const struct place *a, const struct place *b);

/* Locations inherit: what is amiss is told of the first that has it. */
static bool was_told(const struct config *config, const struct place *place, same_fn *is_same)
{
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];
        for (size_t j = 0; j < host->location_count; j++) {
            struct place before = {host, &host->locations[j]};
            if (before.location == place->location)
                return false;
            if (is_same(&before, place))
                return true;
        }
    }
    return false;
}

/* A regular file, or a folder; its content is not looked at. 0 or a negative errno. */
static int try_to_open(const char *path, int flags)
{
    struct stat status;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = 0;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0)
        error = -errno;
    else if (!(flags & O_DIRECTORY) && !S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    close(fd);
    return error;
}

static void check_beneath(const char *source, const char *what, const char *root, const char *file)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s%s", root, file);
    int error = -ENAMETOOLONG;
    if (length >= 0 && (size_t)length < sizeof(path))
        error = try_to_open(path, O_RDONLY);
    if (error < 0)
        log_event(LOG_LEVEL_WARNING, "%s: warning: %s: workers cannot read %s: %s", source, what,
                  path, strerror(-error));
}

/* Users */

static bool has_same_users(const struct place *a, const struct place *b)
{
    return strcmp(a->location->auth.users, b->location->auth.users) == 0;
}

static void check_users(const char *source, const char *path)
{
    struct password_file *file = password_file_read(path, NULL, 1);
    if (file == NULL)
        return;
    if (file->error != 0)
        log_event(LOG_LEVEL_WARNING,
                  "%s: warning: auth.users: workers cannot read %s, so nobody is let in by it: %s",
                  source, path, strerror(-file->error));
    for (unsigned i = 0; i < file->problem_count; i++)
        log_event(LOG_LEVEL_WARNING, "%s:%u: warning: left out: %s", path, file->problems[i].line,
                  file->problems[i].text);
    password_file_unref(&file);
}

/* Files beneath roots */

static bool has_same_pages(const struct place *a, const struct place *b)
{
    return a->location->error_pages == b->location->error_pages &&
           strcmp(a->host->root, b->host->root) == 0;
}

static bool has_same_root(const struct place *a, const struct place *b)
{
    return a->location->handler == CONFIG_HANDLER_STATIC &&
           strcmp(a->location->root, b->location->root) == 0;
}

static bool has_same_fallback(const struct place *a, const struct place *b)
{
    return has_same_root(a, b) && strcmp(a->location->fallback, b->location->fallback) == 0;
}

static void check_root(const struct config *config, const struct place *place)
{
    const struct config_location *location = place->location;
    const char *action = "open";
    int error = try_to_open(location->root, O_PATH | O_DIRECTORY);
    /* O_PATH asks for no right to the folder itself, and without this one all beneath is shut. */
    if (error == 0 && faccessat(AT_FDCWD, location->root, X_OK, AT_EACCESS) != 0) {
        action = "search";
        error = -errno;
    }
    if (error < 0 && !was_told(config, place, has_same_root))
        log_event(LOG_LEVEL_WARNING, "%s: warning: root: workers cannot %s %s: %s",
                  location->source, action, location->root, strerror(-error));
    if (error == 0 && location->fallback[0] != '\0' && !was_told(config, place, has_same_fallback))
        check_beneath(location->source, "fallback", location->root, location->fallback);
}

static void check_place(const struct config *config, const struct place *place)
{
    const struct config_location *location = place->location;
    if (location->auth.users[0] != '\0' && !was_told(config, place, has_same_users))
        check_users(location->source, location->auth.users);
    if (location->error_page_count != 0 && !was_told(config, place, has_same_pages))
        for (size_t i = 0; i < location->error_page_count; i++)
            check_beneath(location->source, "error_pages", place->host->root,
                          location->error_pages[i].file);
    if (location->handler == CONFIG_HANDLER_STATIC)
        check_root(config, place);
}

static void check_all(const struct config *config)
{
    if (config->mime_types[0] != '\0')
        check_beneath(config->path, "mime_types", "", config->mime_types);
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];
        for (size_t j = 0; j < host->location_count; j++)
            check_place(config, &(struct place){host, &host->locations[j]});
    }
}

void site_check(const struct config *config, const struct privileges *privileges)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (privileges_drop(privileges) == 0)
            check_all(config);
        _exit(0);
    }
    if (pid < 0)
        log_event(LOG_LEVEL_WARNING, "warning: the files of the site are not looked at: %s",
                  strerror(errno));
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
