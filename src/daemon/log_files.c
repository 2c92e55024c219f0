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
#include <unistd.h>

/*
 * Only a file that was made right here is given away. To give away one that was found would hand
 * any file of the host to whoever can put a link into the folder.
 */
static void create_file(const char *path, const struct privileges *privileges)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0) {
        if (errno != EEXIST)
            log_event(LOG_LEVEL_WARNING, "cannot create the log file %s: %m", path);
        return;
    }
    if (fchown(fd, privileges->uid, privileges->gid) != 0)
        log_event(LOG_LEVEL_WARNING, "cannot give the log file %s to the workers: %m", path);
    close(fd);
}

void log_files_create(const struct config *config, const struct privileges *privileges)
{
    if (!privileges->is_dropped)
        return;
    if (config->error_log.target == CONFIG_TARGET_FILE)
        create_file(config->error_log.path, privileges);
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_access_log *log = &config->hosts[i].access_log;
        if (log->target == CONFIG_TARGET_FILE)
            create_file(log->path, privileges);
    }
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
