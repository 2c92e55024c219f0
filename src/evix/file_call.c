/* SPDX-License-Identifier: MIT */
/*
 * File operations as plain system calls, which may block.
 * Does not know which thread it runs in, nor who waits.
 * Called by file_pool.c in the pool's threads.
 */
#include "file_call.h"

#include "open_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __linux__

#include <linux/openat2.h>
#include <pthread.h>
#include <sys/syscall.h>

#ifndef SYS_openat2
#define SYS_openat2 437 /* the C library may be older than the kernel's headers */
#endif

static pthread_once_t is_probed = PTHREAD_ONCE_INIT;
static bool has_openat2;

/*
 * The kernel refuses a struct of no length before it looks at anything else. Any other answer comes
 * from a kernel without the call, or from a filter: most say ENOSYS, and some EPERM, which a file
 * can mean as well, so that the answer to a call that opens one cannot tell.
 */
static void probe_openat2(void)
{
    struct evix_open_how how = {.flags = O_RDONLY};
    has_openat2 = syscall(SYS_openat2, AT_FDCWD, ".", &how, 0) < 0 && errno == EINVAL;
}

bool evix_openat2_exists(void)
{
    pthread_once(&is_probed, probe_openat2);
    return has_openat2;
}

/* The kernel's struct open_how begins as ours does, and both are told by their size. */
static int open_at_once(int directory, const char *path, const struct evix_open_how *how)
{
    if (!evix_openat2_exists())
        return -ENOSYS;
    int fd = (int)syscall(SYS_openat2, directory, path, how, sizeof(*how));
    return fd < 0 ? -errno : fd;
}

#else

bool evix_openat2_exists(void)
{
    return false;
}

static int open_at_once(int directory, const char *path, const struct evix_open_how *how)
{
    (void)directory;
    (void)path;
    (void)how;
    return -ENOSYS;
}
#endif

/* What only keeps away from the links in /proc is done without where there is no other way. */
static int open_without(int directory, const char *path, const struct evix_open_how *how)
{
#ifdef RESOLVE_NO_MAGICLINKS
    const uint64_t light = RESOLVE_NO_MAGICLINKS;
#else
    const uint64_t light = 0;
#endif
    if (how->resolve & ~light)
        return evix__open_by_steps(directory, path, how);
    int fd = openat(directory, path, (int)how->flags, (mode_t)how->mode);
    return fd < 0 ? -errno : fd;
}

int evix_open(int directory, const char *path, const struct evix_open_how *how)
{
    int fd = open_at_once(directory, path, how);
    return fd == -ENOSYS ? open_without(directory, path, how) : fd;
}

/*
 * EAGAIN is a rename on the path that came between (then it is worth another try), or a lease that
 * somebody holds on the file.
 */
static ssize_t call_open(const struct evix_file_request *request)
{
    int fd, tries = 0;
    do {
        fd = evix_open(request->directory, request->path, &request->how);
    } while (fd == -EINTR || (fd == -EAGAIN && tries++ < FILE_OPEN_TRIES));
    return fd;
}

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

static ssize_t call_stat(const struct evix_file_request *request)
{
    struct stat found;
    int error = request->path[0] == '\0'
                    ? fstat(request->directory, &found)
                    : fstatat(request->directory, request->path, &found, request->flags);
    if (error < 0)
        return -errno;
    *request->stat = (struct evix_stat){
        .size = (uint64_t)found.st_size,
        .inode = (uint64_t)found.st_ino,
        .device = (uint64_t)found.st_dev,
        .mode = (uint32_t)found.st_mode,
        .links = (uint32_t)found.st_nlink,
        .modified = {found.st_mtim.tv_sec, (uint32_t)found.st_mtim.tv_nsec},
        .changed = {found.st_ctim.tv_sec, (uint32_t)found.st_ctim.tv_nsec},
    };
    return 0;
}

static ssize_t call_read(const struct evix_op *op)
{
    const struct evix_file_request *request = file_request(op);
    ssize_t got;
    do {
        got = pread(request->directory, request->memory, op->length, (off_t)request->offset);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

ssize_t evix__file_call(const struct evix_op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_FILE_OPEN:
        return call_open(file_request(op));
    case OP_FILE_STAT:
        return call_stat(file_request(op));
    case OP_FILE_READ:
        return call_read(op);
    default:
        return -EINVAL;
    }
}

ssize_t evix__file_verdict(const struct evix_op *op, ssize_t result)
{
    if (!(op->flags & OP_CANCELLED) || (result >= 0 && op->kind != OP_FILE_OPEN))
        return result;
    if (result >= 0)
        close((int)result);
    return -ECANCELED;
}
