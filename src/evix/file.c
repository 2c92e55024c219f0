/* SPDX-License-Identifier: MIT */
/*
 * Open, stat and read as operations: fills in the operation and sees that somebody can run it.
 * Does not run it: a backend that has files does, else a ring beside it, else the work pool.
 * Called by users of the loop.
 */
#include "backend.h"

#include "file_pool.h"
#ifdef HAVE_LIBURING
#include "file_ring.h"
#endif

#include <errno.h>
#include <fcntl.h>

/* At the first file operation of a loop, if not before. */
int evix_file_prepare(struct evix_loop *loop)
{
    int error = -ENOSYS;
    if (loop->files || (loop->backend->capabilities & BACKEND_FILES))
        return 0;
#ifdef HAVE_LIBURING
    if (!loop->no_file_ring)
        error = evix__file_ring_new(loop);
#endif
    if (error < 0 && evix__file_pool_new(loop) < 0)
        return -ENOMEM;
    return error;
}

static void start(struct evix_op *op, struct evix_loop *loop, struct evix_file_request *request,
                  enum op_kind kind, evix_op_fn *fn)
{
    request->loop = loop;
    request->op = op;
    op->socket = NULL;
    op->u.file.loop = loop;
    op->u.file.request = request;
    op->count = 0;
    (void)evix_file_prepare(loop);
    evix__op_start(op, loop, kind, fn);
}

void evix_file_open(struct evix_op *op, struct evix_loop *loop, struct evix_file_request *request,
                    int directory, const char *path, const struct evix_open_how *how,
                    evix_op_fn *fn)
{
    request->directory = directory;
    request->path = path;
    request->how = *how;
    request->how.flags |= O_CLOEXEC;
    start(op, loop, request, OP_FILE_OPEN, fn);
}

void evix_file_stat(struct evix_op *op, struct evix_loop *loop, struct evix_file_request *request,
                    int directory, const char *path, int flags, struct evix_stat *out,
                    evix_op_fn *fn)
{
    request->directory = directory;
    request->path = path;
    request->flags = flags;
    request->stat = out;
    start(op, loop, request, OP_FILE_STAT, fn);
}

static void read_file(struct evix_op *op, struct evix_loop *loop, struct evix_file_request *request,
                      int fd, void *memory, uint32_t length, uint64_t offset, evix_op_fn *fn)
{
    request->directory = fd;
    request->offset = offset;
    request->memory = memory;
    op->length = length;
    start(op, loop, request, OP_FILE_READ, fn);
}

void evix_file_read(struct evix_op *op, struct evix_loop *loop, struct evix_file_request *request,
                    int fd, void *memory, uint32_t length, uint64_t offset, evix_op_fn *fn)
{
    request->aside = false;
    read_file(op, loop, request, fd, memory, length, offset, fn);
}

void evix_file_read_aside(struct evix_op *op, struct evix_loop *loop,
                          struct evix_file_request *request, int fd, void *memory, uint32_t length,
                          uint64_t offset, evix_op_fn *fn)
{
    request->aside = true;
    read_file(op, loop, request, fd, memory, length, offset, fn);
}
