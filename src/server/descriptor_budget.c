/* SPDX-License-Identifier: MIT */
/*
 * Shares out the descriptors of a worker before it needs them.
 * It does not raise the limit (the daemon did) and counts nothing while serving.
 * Called by worker.c.
 */
#include "server/descriptor_budget.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* More than these the cache does not use, however many there are. */
#define CACHED_MOST 8192

/* For files that are being opened, and that the cache has let go of while they are being sent. */
#define FILES_LEAST 256

/* The loop's, the watches', the signals', the control stream; logs that are opened anew. */
#define OWN 24

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void descriptor_budget_share(struct descriptor_budget *budget, uint64_t limit, uint64_t standing,
                             uint32_t wanted)
{
    uint64_t left = limit > standing ? limit - standing : 0;
    uint64_t files = least(left / 2, FILES_LEAST);
    uint64_t connections = least(wanted, left - files);

    /* Always one of each: then there are not enough, and the kernel will say so. */
    budget->connections = connections != 0 ? (uint32_t)connections : 1;
    files = left - connections;
    budget->cached = (uint32_t)least(files - files / 4, CACHED_MOST);
    if (budget->cached == 0)
        budget->cached = 1;
}

/* Of each host its root and its log; of a location a root of its own. */
static uint64_t count_roots_and_logs(const struct config *config)
{
    uint64_t count = 0;

    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];

        count += 2;
        for (size_t j = 0; j < host->location_count; j++)
            count += host->locations[j].root != host->root;
    }
    return count;
}

/* What is open is dense: the worker has closed what it does not need. */
static uint64_t count_open(void)
{
    int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

    if (lowest < 0)
        return 0;
    close(lowest);
    return (uint64_t)lowest;
}

void descriptor_budget_init(struct descriptor_budget *budget, const struct config *config)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    descriptor_budget_share(budget, limit.rlim_cur,
                            count_open() + count_roots_and_logs(config) + OWN,
                            config->limits.connections);
}
