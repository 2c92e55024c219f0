/* SPDX-License-Identifier: MIT */
/*
 * Binds a worker to a CPU of its own.
 * It does not look at which CPUs share a cache or a memory.
 * worker_process.c calls it.
 */

#include "daemon/affinity.h"

#include <errno.h>
#include <sched.h>

/* What the kernel allows may be a part of the machine only: cpusets, containers, taskset(1). */
int affinity_bind(unsigned index)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return -errno;
    unsigned skip = index % (unsigned)CPU_COUNT(&allowed);
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &allowed) || skip-- > 0)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0 ? 0 : -errno;
}
