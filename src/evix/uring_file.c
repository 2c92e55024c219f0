/* SPDX-License-Identifier: MIT */
/*
 * File operations as entries of a ring: how an entry is filled, what its completion means.
 * Does not submit, and keeps nothing.
 * Called by backend_uring.c for the loop's own ring and by file_ring.c for a ring of files alone.
 */
#include "uring_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

static_assert(sizeof(struct statx) <= sizeof(((struct evix_file_request *)0)->u.raw),
              "a request has room for the kernel's answer");
static_assert(sizeof(struct open_how) == sizeof(struct evix_open_how),
              "ours is the kernel's by another name");

static struct statx *raw_stat(const struct evix_op *op)
{
    return (struct statx *)file_request(op)->u.raw;
}

static void prepare_stat(struct io_uring_sqe *entry, struct evix_op *op)
{
    struct evix_file_request *request = file_request(op);
    int flags = request->flags | (request->path[0] == '\0' ? AT_EMPTY_PATH : 0);
    io_uring_prep_statx(entry, request->directory, request->path, flags, STATX_BASIC_STATS,
                        raw_stat(op));
}

void evix__uring_file_prepare(struct io_uring_sqe *entry, struct evix_op *op)
{
    struct evix_file_request *request = file_request(op);
    switch ((enum op_kind)op->kind) {
    case OP_FILE_OPEN:
        io_uring_prep_openat2(entry, request->directory, request->path,
                              (struct open_how *)&request->how);
        /* With its names cached it would be opened at once: in the file system, which may wait. */
        io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
        break;
    case OP_FILE_STAT:
        prepare_stat(entry, op);
        break;
    case OP_FILE_READ:
        io_uring_prep_read(entry, request->directory, request->memory, op->length, request->offset);
        if (request->aside)
            io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
        break;
    default:
        io_uring_prep_nop(entry);
        assert(!"a file operation");
    }
    io_uring_sqe_set_data(entry, op);
}

bool evix__uring_file_again(struct evix_op *op, int result)
{
    if (op->flags & OP_CANCELLED)
        return false;
    if (result == -EINTR)
        return true;
    return result == -EAGAIN && op->kind == OP_FILE_OPEN && op->count++ < FILE_OPEN_TRIES;
}

ssize_t evix__uring_file_verdict(const struct evix_op *op, int result)
{
    if (op->kind == OP_FILE_STAT && result == 0) {
        const struct statx *found = raw_stat(op);
        *file_request(op)->stat = (struct evix_stat){
            .size = found->stx_size,
            .inode = found->stx_ino,
            .device = makedev(found->stx_dev_major, found->stx_dev_minor),
            .mode = found->stx_mode,
            .links = found->stx_nlink,
            .modified = {found->stx_mtime.tv_sec, found->stx_mtime.tv_nsec},
            .changed = {found->stx_ctime.tv_sec, found->stx_ctime.tv_nsec},
        };
    }
    return evix__file_verdict(op, result);
}
