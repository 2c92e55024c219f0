/* SPDX-License-Identifier: MIT */
/*
 * Remembers which devices are file systems that can be watched.
 * It lists those known to be, so that an unknown one is taken for one that is not.
 * Called by fill.c and the freshness rule.
 */

#include "files/device.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define XFS_MAGIC   0x58465342
#define ZFS_MAGIC   0x2fc12fc1
#define BCACHEFS    0xca451a4e
#define EXFAT_MAGIC 0x2011bab0
#define JFS_MAGIC   0x3153464a
#define EROFS_MAGIC 0xe0f5e1e2u
#define UDF_MAGIC   0x15013346
#define RAMFS       0x858458f6u
#define TMPFS       0x01021994
#define OVERLAYFS   0x794c7630
#define BTRFS       0x9123683eu
#define F2FS        0xf2f52010u
#define SQUASHFS    0x73717368
#define NILFS       0x3434

static bool type_is_local(uint32_t magic)
{
    switch (magic) {
    case EXT4_SUPER_MAGIC: /* ext2 and ext3 have the same */
    case XFS_MAGIC:
    case BTRFS:
    case TMPFS:
    case OVERLAYFS:
    case F2FS:
    case ZFS_MAGIC:
    case BCACHEFS:
    case RAMFS:
    case SQUASHFS:
    case EROFS_MAGIC:
    case ISOFS_SUPER_MAGIC:
    case UDF_MAGIC:
    case MSDOS_SUPER_MAGIC:
    case EXFAT_MAGIC:
    case JFS_MAGIC:
    case NILFS:
        return true;
    default:
        return false;
    }
}

/* The names of those above: several may share a magic number. */
static bool name_is_local(const char *type)
{
    static const char *const names[] = {
        "ext2", "ext3",  "ext4",     "xfs",   "btrfs",   "tmpfs",  "devtmpfs", "overlay",
        "f2fs", "zfs",   "bcachefs", "ramfs", "rootfs",  "udf",    "squashfs", "erofs",
        "vfat", "msdos", "exfat",    "jfs",   "iso9660", "nilfs2",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], type) == 0)
            return true;
    return false;
}

/* The type's name stands behind " - " in a line of proc_pid_mountinfo(5), the device before. */
static bool find_type(FILE *mounts, uint64_t number, char type[64])
{
    char line[4352];
    unsigned major, minor;

    while (fgets(line, sizeof(line), mounts) != NULL) {
        const char *dash = strstr(line, " - ");

        if (sscanf(line, "%*d %*d %u:%u ", &major, &minor) == 2 &&
            makedev(major, minor) == number && dash != NULL && sscanf(dash, " - %63s", type) == 1)
            return true;
    }
    return false;
}

/*
 * The kernel's own list first: statfs(2) of a network's file system asks the network, and whoever
 * asks waits. Some local ones have devices that are not in it; they answer at once. False: it is
 * not known.
 */
static bool ask_mounts(uint64_t number, bool *local)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char type[64];
    bool found;

    if (mounts == NULL)
        return false;
    found = find_type(mounts, number, type);
    fclose(mounts);
    if (found)
        *local = name_is_local(type);
    return found;
}

/* By descriptor, as a sandboxed worker may not call statfs(2); O_PATH opens nothing. */
static int ask_path(const char *path, struct statfs *status)
{
    int fd = open(path, O_PATH | O_CLOEXEC), result;

    if (fd < 0)
        return -1;
    result = fstatfs(fd, status);
    close(fd);
    return result;
}

bool device_is_local(struct devices *devices, uint64_t number, int fd, const char *path)
{
    struct statfs status;
    bool local;

    for (size_t i = 0; i < devices->count; i++)
        if (devices->known[i].number == number)
            return devices->known[i].local;
    if (!ask_mounts(number, &local)) {
        if ((fd >= 0 ? fstatfs(fd, &status) : ask_path(path, &status)) < 0)
            return false;
        local = type_is_local((uint32_t)status.f_type);
    }
    devices->known[devices->next].number = number;
    devices->known[devices->next].local = local;
    devices->next = (devices->next + 1) % DEVICES_MAX;
    if (devices->count < DEVICES_MAX)
        devices->count++;
    return local;
}
