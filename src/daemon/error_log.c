/* SPDX-License-Identifier: MIT */
/*
 * Writes the events of all processes to where the error log goes, without ever waiting.
 * It decides neither what is logged (src/log) nor when to open the file anew (master.c).
 * generation.c opens it; src/log calls it for each event.
 */

#include "daemon/error_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* One page that master and workers share. */
struct error_log_shared {
    atomic_uint generation; /* counts up with each rotation */
    atomic_bool is_started;
};

/* A line with what goes before it and its newline. */
#define WHOLE_LINE_BYTES (LOG_LINE_BYTES + 128)

static const int syslog_levels[LOG_LEVEL_COUNT] = {LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO,
                                                   LOG_DEBUG};

static const struct error_log *in_use; /* the sink of this process */

/* systemd names the socket that it gave us; standard error may have been redirected since. */
static bool stderr_is_journal(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    struct stat status;
    uintmax_t device, inode;
    if (text == NULL || sscanf(text, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) != 2)
        return false;
    return fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/* syslog(3) waits where its daemon is stuck, so the datagrams are sent by ourselves. */
static int open_syslog(struct log_output *output)
{
    static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    *output = (struct log_output){.fd = fd, .kind = LOG_OUTPUT_SOCKET, .is_owned = true};
    return 0;
}

static int open_output(const struct error_log *log, struct log_output *output)
{
    if (log->config->target == CONFIG_TARGET_SYSLOG)
        return open_syslog(output);
    return log_output_open(output, log->config->target, log->config->path);
}

/* What stands before an event, in the manner of the target. Returns its length. */
static size_t write_prefix(const struct error_log *log, enum log_level level, char *out,
                           size_t size)
{
    struct timespec now;
    struct tm local;
    char time[32] = "", zone[8] = "";
    int length;

    if (log->is_journal)
        return (size_t)snprintf(out, size, "<%d>", syslog_levels[level]);
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    if (log->config->target == CONFIG_TARGET_SYSLOG) {
        strftime(time, sizeof(time), "%b %e %H:%M:%S", &local);
        length = snprintf(out, size, "<%d>%s evixd[%ld]: ", LOG_DAEMON | syslog_levels[level], time,
                          (long)getpid());
    } else {
        strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &local);
        strftime(zone, sizeof(zone), "%z", &local);
        length = snprintf(out, size, "%s.%03ld%s %s %ld: ", time, now.tv_nsec / 1000000, zone,
                          log_level_name(level), (long)getpid());
    }
    return (size_t)length;
}

/* Writes one line, or counts it as lost. */
static void write_line(struct error_log *log, enum log_level level, const char *line, size_t length)
{
    char whole[WHOLE_LINE_BYTES];
    size_t used = write_prefix(log, level, whole, sizeof(whole));
    if (length > sizeof(whole) - used - 1)
        length = sizeof(whole) - used - 1;
    memcpy(whole + used, line, length);
    used += length;
    if (log->config->target != CONFIG_TARGET_SYSLOG) /* a datagram is a line */
        whole[used++] = '\n';
    if (log_output_write(&log->output, whole, used) != (ssize_t)used)
        log->lost++;
    else
        log->lost = 0;
}

static void tell_lost(struct error_log *log)
{
    char line[80];
    uint64_t lost = log->lost;
    int length = snprintf(line, sizeof(line), "%" PRIu64 " lines could not be written here", lost);
    write_line(log, LOG_LEVEL_WARNING, line, (size_t)length);
    if (log->lost != 0) /* nor could this one, which does not count */
        log->lost = lost;
}

/* After a rotation: whoever logs next opens the new file, which the master has made. */
static void follow_rotation(struct error_log *log)
{
    unsigned generation = atomic_load(&log->shared->generation);
    struct log_output output;
    if (generation == log->generation)
        return;
    log->generation = generation;
    if (open_output(log, &output) == 0) {
        log_output_close(&log->output);
        log->output = output;
    }
}

/* A syslog daemon that was started anew listens on another socket. */
static void reconnect_syslog(struct error_log *log)
{
    struct log_output output;
    if (open_syslog(&output) == 0) {
        log_output_close(&log->output);
        log->output = output;
    }
}

/* The way commands say things: to whoever started us. */
static void say(const char *line, size_t length)
{
    struct log_output stderr_output;
    char whole[WHOLE_LINE_BYTES];
    int used = snprintf(whole, sizeof(whole), "evixd: %.*s\n", (int)length, line);
    if (log_output_open(&stderr_output, CONFIG_TARGET_STDERR, "") != 0 ||
        log_output_write(&stderr_output, whole, (size_t)used) < 0)
        return; /* nobody listens, and there is nowhere else to say it */
}

static void on_event(void *data, enum log_level level, const char *line, size_t length)
{
    struct error_log *log = data;
    bool is_stderr = log->config->target == CONFIG_TARGET_STDERR;
    bool is_starting = !atomic_load_explicit(&log->shared->is_started, memory_order_relaxed);

    if (is_starting && !log->is_journal && (is_stderr || level <= LOG_LEVEL_WARNING)) {
        say(line, length);
        if (is_stderr)
            return;
    }
    follow_rotation(log);
    if (log->lost != 0) {
        if (log->config->target == CONFIG_TARGET_SYSLOG)
            reconnect_syslog(log);
        tell_lost(log);
    }
    write_line(log, level, line, length);
}

int error_log_open(struct error_log *log, const struct config_error_log *config)
{
    *log = (struct error_log){.config = config, .output.fd = -1};
    log->is_journal = config->target == CONFIG_TARGET_STDERR && stderr_is_journal();

    int error;
    void *page =
        mmap(NULL, sizeof(*log->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        error = -errno;
        goto report;
    }
    log->shared = page;
    error = open_output(log, &log->output);
    if (error < 0)
        goto unmap;
    return 0;

unmap:
    munmap(log->shared, sizeof(*log->shared));
report:
    log_event(LOG_LEVEL_ERROR, "cannot open the error log %s: %s",
              config->target == CONFIG_TARGET_FILE     ? config->path
              : config->target == CONFIG_TARGET_SYSLOG ? "syslog"
                                                       : "stderr",
              strerror(-error));
    return error;
}

void error_log_use(struct error_log *log)
{
    in_use = log;
    log_set_level(log->config->level);
    log_set_sink(on_event, log);
}

void error_log_set_started(struct error_log *log)
{
    atomic_store(&log->shared->is_started, true);
}

void error_log_reopen(struct error_log *log)
{
    struct log_output output;
    if (log->config->target != CONFIG_TARGET_FILE)
        return;
    int error = open_output(log, &output);
    if (error < 0) {
        log_event(LOG_LEVEL_ERROR, "cannot open the error log %s: %s; the old file stays in use",
                  log->config->path, strerror(-error));
        return;
    }
    log_output_close(&log->output);
    log->output = output;
    log->generation = atomic_fetch_add(&log->shared->generation, 1) + 1;
}

int error_log_descriptor(const struct error_log *log)
{
    return log->output.fd;
}

void error_log_close(struct error_log *log)
{
    if (log->shared == NULL)
        return;
    if (in_use == log) {
        log_set_sink(NULL, NULL);
        in_use = NULL;
    }
    log_output_close(&log->output);
    munmap(log->shared, sizeof(*log->shared));
    log->shared = NULL;
}
