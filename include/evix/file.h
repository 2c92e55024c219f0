/* SPDX-License-Identifier: MIT */
#ifndef EVIX_FILE_H
#define EVIX_FILE_H

/*
 * Asynchronous file operations: what touches the disk never holds the loop. They go to io_uring
 * where it is allowed, else to the work pool. The rules are those of op.h.
 */

#include <evix/op.h>
#include <evix/work.h>

#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* openat2(2)'s struct open_how; what becomes of `resolve` without the system call: evix_open(). */
struct evix_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

struct evix_time {
    int64_t seconds;
    uint32_t nanoseconds;
};

struct evix_stat {
    uint64_t size;
    uint64_t inode;
    uint64_t device;
    uint32_t mode; /* type and permissions, as in stat(2) */
    uint32_t links;
    struct evix_time modified;
    struct evix_time changed;
};

/* What a file operation works on. Embedded and owned by the caller, as the operation is. */
struct evix_file_request {
    struct evix_loop *loop; /* private, as all below */
    struct evix_op *op;
    int directory; /* or the file */
    int flags;
    bool aside; /* a ring is not to try it at once */
    const char *path;
    uint64_t offset;
    struct evix_open_how how;
    struct evix_stat *stat;
    void *memory;          /* that a read fills */
    struct evix_link link; /* among those that are under way */
    union {
        struct evix_work work; /* in the pool */
        uint64_t raw[32];      /* in a ring: the kernel's own struct statx */
    } u;
};

/*
 * Whether openat2(2) is there: in the kernel, and not taken away by a filter. Asked once a process.
 * May be called from any thread.
 */
EVIX_EXPORT bool evix_openat2_exists(void);

/*
 * Opens at once, and blocks as long as it takes: openat2(2), or steps of openat(2) where that is
 * not there; these know RESOLVE_BENEATH, NO_SYMLINKS and NO_MAGICLINKS,
 * stay beneath with each of the first two, and create nothing. A descriptor, or a negative errno.
 * May be called from any thread.
 */
EVIX_EXPORT int evix_open(int directory, const char *path, const struct evix_open_how *how);

/*
 * Makes now what the loop's first file operation would make: for whoever gives up rights before
 * that, such as the system calls that open a ring. 0 where a ring has the files; the errno for
 * which there is none, so that threads have them; -ENOMEM shows again with the first operation.
 */
EVIX_EXPORT int evix_file_prepare(struct evix_loop *loop);

/*
 * Opens `path` (which must stay until the final callback) relative to `directory` (AT_FDCWD is
 * fine). The result is a descriptor, the caller's. O_CLOEXEC is added. If the operation is
 * cancelled and the open had succeeded all the same, the descriptor is closed by the loop.
 */
EVIX_EXPORT void evix_file_open(struct evix_op *op, struct evix_loop *loop,
                                struct evix_file_request *request, int directory, const char *path,
                                const struct evix_open_how *how, evix_op_fn *fn);

/*
 * Reads metadata, of `path` relative to `directory`, or of `directory` itself with an empty path.
 * `flags`: AT_SYMLINK_NOFOLLOW or 0. `out` is filled before a callback with 0.
 */
EVIX_EXPORT void evix_file_stat(struct evix_op *op, struct evix_loop *loop,
                                struct evix_file_request *request, int directory, const char *path,
                                int flags, struct evix_stat *out, evix_op_fn *fn);

/* Reads up to `length` bytes at `offset`. The result may be short; 0 at the end of the file. */
EVIX_EXPORT void evix_file_read(struct evix_op *op, struct evix_loop *loop,
                                struct evix_file_request *request, int fd, void *memory,
                                uint32_t length, uint64_t offset, evix_op_fn *fn);

/*
 * The same for a file on a network's file system, or one in user space: a ring's attempt to read at
 * once may wait there, and the loop with it. It costs a thread of the kernel's.
 */
EVIX_EXPORT void evix_file_read_aside(struct evix_op *op, struct evix_loop *loop,
                                      struct evix_file_request *request, int fd, void *memory,
                                      uint32_t length, uint64_t offset, evix_op_fn *fn);

#ifdef __cplusplus
}
#endif

#endif
