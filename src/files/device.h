/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_DEVICE_H
#define EVIXD_FILES_DEVICE_H

/*
 * What kind of file system a device number stands for. Local ones keep metadata of open files in
 * memory and tell inotify(7) of every change. Of others (NFS, FUSE, 9p, /proc ...) neither holds.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICES_MAX 32

/* All zero knows none. */
struct devices {
    struct {
        uint64_t number;
        bool local;
    } known[DEVICES_MAX];
    size_t count, next;
};

/* Asks for a device once, through a descriptor or (with -1) a path on it. */
bool device_is_local(struct devices *devices, uint64_t number, int fd, const char *path);

#endif
