/* SPDX-License-Identifier: MIT */
/*
 * Empties the capability sets of a process.
 * It changes neither user nor groups: privileges.c does.
 * privileges.c calls it.
 */

#include "daemon/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT32_C(1) << (capability))

static const __u32 of_root = BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH);

int capabilities_bound(void)
{
    /* The kernel may know more than the header does: it says where its list ends. */
    for (unsigned long i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++) {
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
            return errno == EPERM ? 0 : -errno;
    }
    return 0;
}

int capabilities_drop(bool is_root)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    /* Before Linux 4.3 there are no ambient ones. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
        return -errno;
    if (syscall(SYS_capget, &header, sets) != 0)
        return -errno;
    __u32 kept = is_root ? sets[0].permitted & of_root : 0;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        sets[i] = (struct __user_cap_data_struct){0};
    sets[0].permitted = sets[0].effective = kept;
    return syscall(SYS_capset, &header, sets) == 0 ? 0 : -errno;
}
