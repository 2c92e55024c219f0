/* SPDX-License-Identifier: MIT */
/*
 * The work pool: a queue for each class of work, and threads that start when work waits for one.
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

static const struct evix_work_class no_class;

/* What the pool knows of a class. */
struct evix_work_queue {
    const struct evix_work_class *work_class;
    struct evix_work_queue *next;
    unsigned limit;           /* of threads */
    struct evix_link waiting; /* under the lock, as all below */
    struct evix_link ready;   /* its place in the pool's list, or by itself */
    unsigned queued;          /* how many wait */
    unsigned running;
};

struct work_pool {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct evix_link ready;    /* queues that a thread may take from, in turn; under the lock */
    struct evix_link finished; /* ran or cancelled, `done` to be called; under the lock */
    unsigned running;          /* of all queues; under the lock */
    bool stopping;             /* under the lock */
    struct evix_async async;   /* one wake-up for all that is finished */
    struct loop_part part;
    struct evix_work_queue *queues; /* the loop's own, as all below */
    unsigned limit;                 /* the sum of all queues' limits */
    unsigned count;
    pthread_t *threads; /* room for `limit`, `count` started */
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

/* With the lock held. A queue is ready while something waits in it that its limit lets run. */
static void update_ready(struct work_pool *pool, struct evix_work_queue *queue)
{
    bool is_listed = !list_is_empty(&queue->ready);
    bool is_ready = queue->queued > 0 && queue->running < queue->limit;
    if (is_ready && !is_listed)
        list_append(&pool->ready, &queue->ready);
    else if (!is_ready && is_listed)
        list_remove(&queue->ready);
}

static void dequeue(struct work_pool *pool, struct evix_work *work)
{
    assert(work->state == WORK_QUEUED && work->queue->queued > 0);
    list_remove(&work->link);
    work->queue->queued--;
    update_ready(pool, work->queue);
}

/* The oldest of the queue whose turn it is, which goes behind the others. */
static struct evix_work *take_next(struct work_pool *pool)
{
    struct evix_work_queue *queue =
        EVIX_CONTAINER_OF(pool->ready.next, struct evix_work_queue, ready);
    struct evix_work *work = from_link(queue->waiting.next);
    list_remove(&queue->ready);
    pool->running++;
    queue->running++;
    dequeue(pool, work);
    return work;
}

static void run_one(struct work_pool *pool)
{
    struct evix_work *work = take_next(pool);
    struct evix_work_queue *queue = work->queue;
    work->state = WORK_RUNNING;
    pthread_mutex_unlock(&pool->lock);
    work->run(work);
    pthread_mutex_lock(&pool->lock);
    finish(pool, work, WORK_RAN);
    pool->running--;
    queue->running--;
    update_ready(pool, queue);
}

static void *run_thread(void *data)
{
    struct work_pool *pool = data;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        if (list_is_empty(&pool->ready))
            pthread_cond_wait(&pool->wanted, &pool->lock);
        else
            run_one(pool);
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
    while (pool->queues) {
        struct evix_work_queue *queue = pool->queues;
        pool->queues = queue->next;
        free(queue);
    }
    free(pool->threads);
    free(pool);
}

static int pool_new(struct evix_loop *loop)
{
    struct work_pool *pool = calloc(1, sizeof(*pool));
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
    list_init(&pool->ready);
    list_init(&pool->finished);
    pool->part.free = pool_free;
    loop->work_pool = pool;
    evix__loop_part_add(loop, &pool->part);
    return 0;
}

/* Of a class that is new to the pool, with room for the threads that it may have. */
static struct evix_work_queue *add_queue(struct work_pool *pool,
                                         const struct evix_work_class *work_class, unsigned limit)
{
    pthread_t *threads = realloc(pool->threads, (pool->limit + limit) * sizeof(*threads));
    if (!threads)
        return NULL;
    pool->threads = threads;
    struct evix_work_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->work_class = work_class;
    queue->limit = limit;
    list_init(&queue->waiting);
    list_init(&queue->ready);
    queue->next = pool->queues;
    pool->queues = queue;
    pool->limit += limit;
    return queue;
}

/* A handful at most, so they are looked through. */
static struct evix_work_queue *queue_of(struct evix_loop *loop,
                                        const struct evix_work_class *work_class)
{
    unsigned of_options = loop->work_threads ? loop->work_threads : DEFAULT_THREADS;
    if (!loop->work_pool && pool_new(loop) < 0)
        return NULL;
    for (struct evix_work_queue *queue = loop->work_pool->queues; queue; queue = queue->next) {
        if (queue->work_class == work_class)
            return queue;
    }
    return add_queue(loop->work_pool, work_class,
                     work_class->threads ? work_class->threads : of_options);
}

/* How many could run at once, of all that wait. With the lock held. */
static unsigned count_ready(const struct work_pool *pool)
{
    unsigned count = 0;
    for (const struct evix_work_queue *queue = pool->queues; queue; queue = queue->next) {
        unsigned free = queue->limit - queue->running;
        count += queue->queued < free ? queue->queued : free;
    }
    return count;
}

/*
 * One thread more if all are needed already, and `queue` may have one more. As many as the sum of
 * the limits are never short. Failing to start it matters only if there is none at all.
 */
static int provide_thread(struct work_pool *pool, const struct evix_work_queue *queue)
{
    pthread_mutex_lock(&pool->lock);
    unsigned more = queue->running + queue->queued < queue->limit;
    bool is_short = pool->running + count_ready(pool) + more > pool->count;
    pthread_mutex_unlock(&pool->lock);
    if (!is_short)
        return 0;
    assert(pool->count < pool->limit);
    return start_thread(pool) < 0 && pool->count == 0 ? -EAGAIN : 0;
}

int evix_work_start_in(struct evix_work *work, struct evix_loop *loop,
                       const struct evix_work_class *work_class, evix_work_run_fn *run,
                       evix_work_done_fn *done)
{
    struct evix_work_queue *queue = queue_of(loop, work_class);
    if (!queue)
        return -EAGAIN;
    struct work_pool *pool = loop->work_pool;
    int error = provide_thread(pool, queue);
    if (error < 0)
        return error;

    handle_start(&work->handle, loop, HANDLE_WORK);
    work->run = run;
    work->done = done;
    work->queue = queue;
    work->state = WORK_QUEUED;
    pthread_mutex_lock(&pool->lock);
    list_append(&queue->waiting, &work->link);
    queue->queued++;
    update_ready(pool, queue);
    if (!list_is_empty(&queue->ready))
        pthread_cond_signal(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
    return 0;
}

int evix_work_start(struct evix_work *work, struct evix_loop *loop, evix_work_run_fn *run,
                    evix_work_done_fn *done)
{
    return evix_work_start_in(work, loop, &no_class, run, done);
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
    for (struct evix_work_queue *queue = pool->queues; queue; queue = queue->next)
        drop_all(&queue->waiting);
    drop_all(&pool->finished);
    evix_async_stop(&pool->async);
}
