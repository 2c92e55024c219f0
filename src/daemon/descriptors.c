/* SPDX-License-Identifier: MIT */
/*
 * Puts the descriptor table of a process in order.
 * It opens nothing that is used.
 * main.c, master.c and children.c (in a new worker) call it.
 */

#include "daemon/descriptors.h"

#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* For logs, the loop, the control stream, directories, watches and libraries. */
#define SPARE_DESCRIPTORS 128

/* The lowest number that is free is taken, which is this one: those below it are open. */
int descriptors_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            return -errno;
    }
    return 0;
}

/* Root may, up to fs.nr_open. */
static bool raise_both(rlim_t wanted)
{
    return setrlimit(RLIMIT_NOFILE, &(struct rlimit){wanted, wanted}) == 0;
}

void descriptors_raise_limit(uint64_t connections, size_t listeners)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t needed = connections + listeners + SPARE_DESCRIPTORS;
    rlim_t wanted = needed + connections;
    if (limit.rlim_max < wanted && raise_both(wanted))
        return;
    if (limit.rlim_max < needed)
        log_event(LOG_LEVEL_WARNING,
                  "limits.connections = %" PRIu64 " needs %" PRIu64 " descriptors, but the hard "
                  "limit is %" PRIu64
                  " (ulimit -Hn, or LimitNOFILE= of the unit): fewer are accepted",
                  connections, (uint64_t)needed, (uint64_t)limit.rlim_max);
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_event(LOG_LEVEL_WARNING, "cannot raise the limit of descriptors to %" PRIu64 ": %m",
                  (uint64_t)limit.rlim_cur);
}

void descriptors_raise_locked_memory(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_MEMLOCK, &limit); /* else what there is has to do */
}

static int compare_descriptors(const void *left, const void *right)
{
    int a = *(const int *)left;
    int b = *(const int *)right;
    return (a > b) - (a < b);
}

static void close_span(unsigned first, unsigned last)
{
    if (first > last || close_range(first, last, 0) == 0)
        return;
    /* Before Linux 5.9, or forbidden by a filter: one by one, up to the limit of the table. */
    long end = sysconf(_SC_OPEN_MAX);
    if (end < 0 || end > INT_MAX)
        end = INT_MAX;
    for (unsigned fd = first; fd <= last && fd < (unsigned)end; fd++)
        close((int)fd);
}

void descriptors_close_others(int *keep, size_t count)
{
    unsigned next = STDERR_FILENO + 1;
    if (count > 1)
        qsort(keep, count, sizeof(*keep), compare_descriptors);
    for (size_t i = 0; i < count; i++) {
        if (keep[i] < (int)next)
            continue;
        close_span(next, (unsigned)keep[i] - 1);
        next = (unsigned)keep[i] + 1;
    }
    close_span(next, UINT_MAX);
}
