/* SPDX-License-Identifier: MIT */
/*
 * File operations in the work pool, for loops that have no ring for them.
 * Does not make the system calls itself (file_call.c), nor run threads (work.c).
 * Made by file.c at a loop's first file operation, called by ready.c.
 *
 * Two thread switches an operation: measured on 6.18 with everything cached, CPU time of the
 * process in microseconds, one at a time and 16 at a time:
 *     open    pool 17.9 and 7.8    ring beside epoll 4.3 and 2.5    the loop's own ring 3.5 and 2.3
 *     stat         15.8 and 4.6                      8.6 and 2.1                        6.6 and 1.9
 *     read         14.8 and 4.3                      2.4 and 0.7                        1.4 and 0.7
 * The kernel hands every stat to a thread of its own, an open only if the path is not cached, a
 * read only if the page is not.
 */
#include "file_pool.h"

#include "work_pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Work that the program starts does not wait for a disk, nor the disk's for that. */
static const struct evix_work_class file_operations;

static struct file_pool *file_pool(struct evix_loop *loop)
{
    return EVIX_CONTAINER_OF(loop->files, struct file_pool, engine);
}

static void run_call(struct evix_work *work)
{
    struct evix_op *op = EVIX_CONTAINER_OF(work, struct evix_file_request, u.work)->op;
    op->result = (int32_t)evix__file_call(op);
}

/*
 * What never ran has its verdict already. No other stage can be cancelled: a thread that is in a
 * system call is waited for.
 */
static void on_called(struct evix_work *work, int error)
{
    struct evix_file_request *request = EVIX_CONTAINER_OF(work, struct evix_file_request, u.work);
    struct evix_op *op = request->op;
    list_remove(&request->link);
    evix__op_finish(request->loop, op, error < 0 ? error : evix__file_verdict(op, op->result));
}

static void submit(struct evix_loop *loop, struct evix_op *op)
{
    struct evix_file_request *request = file_request(op);
    op->result = -ECANCELED; /* holds where the loop is freed before it ran */
    int error = evix_work_start_in(&request->u.work, loop, &file_operations, run_call, on_called);
    if (error < 0) {
        evix__op_complete(loop, op, error);
        return;
    }
    evix_unref(&request->u.work.handle); /* the operation keeps the loop alive, or does not */
    list_append(&file_pool(loop)->running, &request->link);
}

static void cancel(struct evix_loop *loop, struct evix_op *op)
{
    (void)loop;
    (void)evix_work_cancel(&file_request(op)->u.work); /* either way on_called() follows */
}

/* A descriptor that came too late for its callback is nobody's. */
static void close_late(struct evix_op *op)
{
    if (op->kind == OP_FILE_OPEN && op->result >= 0)
        close(op->result);
}

static void pool_free(struct evix_loop *loop, struct loop_part *part)
{
    struct file_pool *pool = EVIX_CONTAINER_OF(part, struct file_pool, part);
    evix__work_pool_stop(loop);
    while (!list_is_empty(&pool->running)) {
        struct evix_link *link = pool->running.next;
        list_remove(link);
        close_late(EVIX_CONTAINER_OF(link, struct evix_file_request, link)->op);
    }
    loop->files = NULL;
    free(pool);
}

int evix__file_pool_new(struct evix_loop *loop)
{
    struct file_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return -ENOMEM;
    pool->engine = (struct file_engine){.submit = submit, .cancel = cancel};
    list_init(&pool->running);
    pool->part.free = pool_free;
    evix__loop_part_add(loop, &pool->part);
    loop->files = &pool->engine;
    return 0;
}
