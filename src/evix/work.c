/* SPDX-License-Identifier: MIT */
/*
 * The work pool: one queue a loop, a bounded number of threads that start when work waits for one.
 * Knows nothing of what the work does, and never calls `done` from anywhere but the loop's thread.
 * Called by users of the loop, and by file_pool.c where no ring is to be had for files.
 */
#include "work_pool.h"

#include <evix/async.h>
#include <evix/work.h>

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { DEFAULT_THREADS = 4 };

enum work_state { WORK_IDLE, WORK_QUEUED, WORK_RUNNING, WORK_RAN, WORK_CANCELLED };

struct work_pool {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct evix_link queue;    /* under the lock, as all down to `stopping` */
    struct evix_link finished; /* ran or cancelled, `done` to be called */
    unsigned queued;           /* how long the queue is */
    unsigned idle;             /* threads that wait for work */
    bool stopping;
    struct evix_async async; /* one wake-up for all that is finished */
    struct loop_part part;
    unsigned limit;
    unsigned count;
    pthread_t threads[]; /* `limit` of them, `count` started */
};

static struct evix_work *from_link(struct evix_link *link)
{
    return EVIX_CONTAINER_OF(link, struct evix_work, link);
}

/* With the lock held. Only the first of a batch wakes the loop, which takes the whole list. */
static void finish(struct work_pool *pool, struct evix_work *work, enum work_state state)
{
    bool is_first = list_is_empty(&pool->finished);
    work->state = state;
    list_append(&pool->finished, &work->link);
    if (is_first)
        evix_async_send(&pool->async);
}

static void dequeue(struct work_pool *pool, struct evix_work *work)
{
    assert(work->state == WORK_QUEUED && pool->queued > 0);
    list_remove(&work->link);
    pool->queued--;
}

static void run_one(struct work_pool *pool)
{
    struct evix_work *work = from_link(pool->queue.next);
    dequeue(pool, work);
    work->state = WORK_RUNNING;
    pthread_mutex_unlock(&pool->lock);
    work->run(work);
    pthread_mutex_lock(&pool->lock);
    finish(pool, work, WORK_RAN);
}

static void *run_thread(void *data)
{
    struct work_pool *pool = data;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        if (!list_is_empty(&pool->queue)) {
            run_one(pool);
            continue;
        }
        pool->idle++;
        pthread_cond_wait(&pool->wanted, &pool->lock);
        pool->idle--;
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are for the loop's thread: one that a pool thread took would interrupt its own work. */
static int start_thread(struct work_pool *pool)
{
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int error = pthread_create(&pool->threads[pool->count], NULL, run_thread, pool);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (error == 0)
        pool->count++;
    return -error;
}

/* The next of a batch. The lock, because a thread may be adding to the list that it left. */
static void on_finished(struct evix_async *async)
{
    struct work_pool *pool = EVIX_CONTAINER_OF(async, struct work_pool, async);
    struct evix_link batch;
    pthread_mutex_lock(&pool->lock);
    list_take(&batch, &pool->finished);
    pthread_mutex_unlock(&pool->lock);
    while (!list_is_empty(&batch)) {
        struct evix_work *work = from_link(batch.next);
        int error = work->state == WORK_CANCELLED ? -ECANCELED : 0;
        list_remove(&work->link);
        work->state = WORK_IDLE;
        handle_stop(&work->handle);
        TRACE_CALL(work->handle.loop, HANDLE_WORK, work->done, work, error);
    }
}

static void pool_free(struct evix_loop *loop, struct loop_part *part)
{
    struct work_pool *pool = EVIX_CONTAINER_OF(part, struct work_pool, part);
    evix__work_pool_stop(loop);
    loop->work_pool = NULL;
    free(pool);
}

static int pool_new(struct evix_loop *loop)
{
    unsigned limit = loop->work_threads ? loop->work_threads : DEFAULT_THREADS;
    struct work_pool *pool = calloc(1, sizeof(*pool) + limit * sizeof(pool->threads[0]));
    if (!pool)
        return -ENOMEM;
    int error = evix_async_start(&pool->async, loop, on_finished);
    if (error < 0) {
        free(pool);
        return error;
    }
    evix_unref(&pool->async.handle); /* the work itself keeps the loop alive */
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wanted, NULL);
    list_init(&pool->queue);
    list_init(&pool->finished);
    pool->limit = limit;
    pool->part.free = pool_free;
    loop->work_pool = pool;
    evix__loop_part_add(loop, &pool->part);
    return 0;
}

/* One thread more where all are busy. Failing to start it matters only if there is none at all. */
static int provide_thread(struct work_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool is_short = pool->queued >= pool->idle;
    pthread_mutex_unlock(&pool->lock);
    if (!is_short || pool->count == pool->limit)
        return 0;
    return start_thread(pool) < 0 && pool->count == 0 ? -EAGAIN : 0;
}

int evix_work_start(struct evix_work *work, struct evix_loop *loop, evix_work_run_fn *run,
                    evix_work_done_fn *done)
{
    if (!loop->work_pool && pool_new(loop) < 0)
        return -EAGAIN;
    struct work_pool *pool = loop->work_pool;
    int error = provide_thread(pool);
    if (error < 0)
        return error;

    handle_start(&work->handle, loop, HANDLE_WORK);
    work->run = run;
    work->done = done;
    work->state = WORK_QUEUED;
    pthread_mutex_lock(&pool->lock);
    list_append(&pool->queue, &work->link);
    pool->queued++;
    pthread_cond_signal(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
    return 0;
}

int evix_work_cancel(struct evix_work *work)
{
    struct work_pool *pool = work->handle.loop->work_pool;
    int error = -EBUSY;
    pthread_mutex_lock(&pool->lock);
    if (work->state == WORK_QUEUED) {
        dequeue(pool, work);
        finish(pool, work, WORK_CANCELLED);
        error = 0;
    }
    pthread_mutex_unlock(&pool->lock);
    return error;
}

static void drop_all(struct evix_link *list)
{
    while (!list_is_empty(list)) {
        struct evix_work *work = from_link(list->next);
        list_remove(&work->link);
        handle_stop(&work->handle);
    }
}

static void join_threads(struct work_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->wanted);
    pthread_mutex_destroy(&pool->lock);
}

/* In a child process the lists are as the fork found them; the lock may be held by nobody. */
void evix__work_pool_stop(struct evix_loop *loop)
{
    struct work_pool *pool = loop->work_pool;
    if (!pool || pool->stopping)
        return;
    if (loop_is_ours(loop))
        join_threads(pool);
    pool->stopping = true;
    drop_all(&pool->queue);
    drop_all(&pool->finished);
    evix_async_stop(&pool->async);
}
