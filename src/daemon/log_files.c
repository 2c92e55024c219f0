/* SPDX-License-Identifier: MIT */
/*
 * Prepares what the logs of a configuration need.
 * It writes no line: error_log.c and the server's access_log.c do.
 * master.c calls it.
 */

#include "daemon/log_files.h"

#include "log/log.h"
#include "server/log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Only a file that was made right here is given away. To give away one that was found would hand
 * any file of the host to whoever can put a link into the folder.
 */
static int create_file(const char *path, const struct privileges *privileges)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0)
        return -errno;
    int error = 0;
    if (privileges->is_dropped && fchown(fd, privileges->uid, privileges->gid) != 0)
        error = -errno;
    close(fd);
    return error;
}

/* That it can be opened now is no promise, but what cannot be is said before anything changes. */
static int try_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENXIO ? 0 : -errno; /* a pipe that nobody reads from yet */
    close(fd);
    return 0;
}

static int prepare(const char *path, const char *source, const struct privileges *privileges)
{
    const char *what = "create";
    int error = create_file(path, privileges);
    if (error == -EEXIST) {
        what = "open";
        error = try_file(path);
    }
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "%s%scannot %s the log file %s: %s", source,
                  source[0] != '\0' ? ": " : "", what, path, strerror(-error));
    return error;
}

int log_files_create(const struct config *config, const struct privileges *privileges)
{
    int result = 0;
    if (config->error_log.target == CONFIG_TARGET_FILE)
        result = prepare(config->error_log.path, config->path, privileges);
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_access_log *log = &config->hosts[i].access_log;
        int error = 0;
        if (log->target == CONFIG_TARGET_FILE)
            error = prepare(log->path, config->hosts[i].source, privileges);
        if (error < 0)
            result = error;
    }
    return result;
}

int log_files_check_formats(const struct config *config)
{
    int result = 0;
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];
        struct log_format format;
        size_t position;
        int error = log_format_compile(&format, host->access_log.format,
                                       host->access_log.format_text, &position);
        if (error == 0) {
            log_format_free(&format);
            continue;
        }
        result = error;
        if (error == -EINVAL)
            log_event(LOG_LEVEL_ERROR, "%s: the access log's format is wrong at \"%.24s\"",
                      host->source, host->access_log.format_text + position);
    }
    return result;
}
