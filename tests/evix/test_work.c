/* SPDX-License-Identifier: MIT */
/*
 * The work pool: bounds, order, classes, cancelling, teardown, the mask of its threads.
 * Does not test what file.c does with it: that is test_file.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "under_valgrind.h"

#include <evix/evix.h>

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const enum evix_backend backends[] = {EVIX_BACKEND_IO_URING, EVIX_BACKEND_EPOLL,
                                             EVIX_BACKEND_POLL};
enum { BACKENDS = sizeof(backends) / sizeof(*backends), MANY = 1000 };

static struct evix_loop *loop;

struct job {
    struct evix_work work;
    int ran;
    int done;
    int error;
    struct evix_work *also_cancel;
};

static struct job jobs[MANY];
static sem_t gate, entered; /* hold the pool's threads where a test wants them */
static atomic_int running, running_most;
static int finished, order[MANY];

/* In the place of the C library's: the system may refuse more threads. */
static int threads_left = MANY;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *data)
{
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    union {
        void *object;
        create_fn *function;
    } real = {dlsym(RTLD_NEXT, "pthread_create")};
    if (threads_left == 0)
        return EAGAIN;
    threads_left--;
    return real.function(thread, attributes, run, data);
}

/* For runs in which the cases share a process. */
static void forget_former_case(void)
{
    memset(jobs, 0, sizeof(jobs));
    sem_init(&gate, 0, 0);
    sem_init(&entered, 0, 0);
    running_most = 0;
    finished = 0;
    threads_left = MANY;
}

/* False where this machine lacks the backend: the case is passed over. */
static bool open_loop(int row, unsigned threads)
{
    struct evix_options options = {.backend = backends[row], .work_threads = threads};
    if (options.backend == EVIX_BACKEND_IO_URING && is_under_valgrind())
        return false;
    int error = evix_loop_new(&loop, &options);
    if (error == -ENOSYS || error == -EPERM)
        return false;
    ck_assert_int_eq(error, 0);
    forget_former_case();
    return true;
}

static void on_done(struct evix_work *work, int error)
{
    struct job *job = EVIX_CONTAINER_OF(work, struct job, work);
    job->done++;
    job->error = error;
    order[finished++] = (int)(job - jobs);
    if (job->also_cancel)
        ck_assert_int_eq(evix_work_cancel(job->also_cancel), 0);
}

static void run_short(struct evix_work *work)
{
    EVIX_CONTAINER_OF(work, struct job, work)->ran++;
}

static void run_gated(struct evix_work *work)
{
    int now = atomic_fetch_add(&running, 1) + 1;
    int most = atomic_load(&running_most);
    while (now > most && !atomic_compare_exchange_weak(&running_most, &most, now)) {
    }
    sem_post(&entered);
    while (sem_wait(&gate) < 0 && errno == EINTR) {
    }
    atomic_fetch_sub(&running, 1);
    EVIX_CONTAINER_OF(work, struct job, work)->ran++;
}

static void start(int index, evix_work_run_fn *run)
{
    ck_assert_int_eq(evix_work_start(&jobs[index].work, loop, run, on_done), 0);
}

static void start_in(int index, const struct evix_work_class *work_class, evix_work_run_fn *run)
{
    ck_assert_int_eq(evix_work_start_in(&jobs[index].work, loop, work_class, run, on_done), 0);
}

static void run_until_done(int count)
{
    while (finished < count)
        ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
}

START_TEST(test_all_run_exactly_once)
{
    if (!open_loop(_i, 0))
        return;
    for (int i = 0; i < MANY; i++)
        start(i, run_short);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0); /* ends by itself */
    ck_assert_int_eq(finished, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(jobs[i].ran, 1);
        ck_assert_int_eq(jobs[i].done, 1);
        ck_assert_int_eq(jobs[i].error, 0);
    }
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_one_thread_keeps_the_order)
{
    if (!open_loop(_i, 1))
        return;
    for (int i = 0; i < 100; i++)
        start(i, run_short);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(order[i], i);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_threads_are_bounded)
{
    if (!open_loop(_i, 3))
        return;
    for (int i = 0; i < 20; i++)
        start(i, run_gated);
    for (int i = 0; i < 3; i++)
        sem_wait(&entered); /* all three are busy at once */
    for (int i = 0; i < 20; i++)
        sem_post(&gate);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    ck_assert_int_eq(finished, 20);
    ck_assert_int_eq(atomic_load(&running_most), 3);
    evix_loop_free(&loop);
}
END_TEST

static const struct evix_work_class classes[] = {{.threads = 2}, {.threads = 1}, {.threads = 0}};

/* Work that stalls stalls its own class alone, by no more threads than the class may have. */
START_TEST(test_classes_do_not_wait_for_each_other)
{
    if (!open_loop(_i, 3))
        return;
    for (int i = 0; i < 10; i++)
        start_in(i, &classes[0], run_gated);
    sem_wait(&entered);
    sem_wait(&entered);
    for (int i = 10; i < 20; i++) {
        start_in(i, &classes[1], run_short);
        start_in(i + 10, &classes[2], run_short);
        start(i + 20, run_short);
    }
    run_until_done(30);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(jobs[i].done, i >= 10);
    for (int i = 0; i < 10; i++)
        sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, 40);
    ck_assert_int_eq(atomic_load(&running_most), 2);
    evix_loop_free(&loop);
}
END_TEST

/* All of them at once, each with as many threads as it may have. */
START_TEST(test_classes_stall_together)
{
    static const int most = 2 + 1 + 3 + 3; /* class by class, the last without one */
    if (!open_loop(_i, 3))
        return;
    for (int i = 0; i < 40; i++) {
        if (i % 4 < 3)
            start_in(i, &classes[i % 4], run_gated);
        else
            start(i, run_gated);
    }
    for (int i = 0; i < most; i++)
        sem_wait(&entered);
    for (int i = 0; i < 40; i++)
        sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, 40);
    ck_assert_int_eq(atomic_load(&running_most), most);
    evix_loop_free(&loop);
}
END_TEST

/* Where the system gives but one thread, classes take turns, each in the order of its starts. */
START_TEST(test_classes_share_the_only_thread)
{
    static const int expected[] = {0, 1, 5, 8, 2, 6, 9, 3, 7, 4};
    if (!open_loop(_i, 3))
        return;
    threads_left = 1;
    start_in(0, &classes[0], run_gated);
    sem_wait(&entered);
    for (int i = 1; i < 10; i++)
        start_in(i, &classes[i < 5 ? 0 : i < 8 ? 1 : 2], run_short);
    sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, 10);
    ck_assert_mem_eq(order, expected, sizeof(expected));
    evix_loop_free(&loop);
}
END_TEST

/* A thread that was refused is started later, by whatever starts next: no class waits for another.
 */
START_TEST(test_refused_thread_is_made_up_for)
{
    if (!open_loop(_i, 3))
        return;
    threads_left = 1;
    start_in(0, &classes[1], run_gated);
    sem_wait(&entered);
    start_in(1, &classes[0], run_short); /* waits: there is no thread for it */
    threads_left = MANY;
    start_in(2, &classes[1], run_short); /* its class has all the threads that it may have */
    run_until_done(1);
    ck_assert_int_eq(jobs[1].done, 1);
    sem_post(&gate);
    run_until_done(3);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_no_thread_at_all)
{
    if (!open_loop(_i, 0))
        return;
    threads_left = 0;
    ck_assert_int_eq(evix_work_start(&jobs[0].work, loop, run_short, on_done), -EAGAIN);
    ck_assert_int_eq(evix_work_start_in(&jobs[0].work, loop, &classes[0], run_short, on_done),
                     -EAGAIN);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    threads_left = MANY;
    start_in(0, &classes[0], run_short);
    run_until_done(1);
    evix_loop_free(&loop);
}
END_TEST

/* What is queued is dropped with the loop, whatever its class. */
START_TEST(test_free_drops_all_classes)
{
    if (!open_loop(_i, 1))
        return;
    for (int i = 0; i < 12; i += 4) {
        start_in(i, &classes[0], run_short);
        start_in(i + 1, &classes[1], run_short);
        start_in(i + 2, &classes[2], run_short);
        start(i + 3, run_short);
    }
    evix_loop_free(&loop);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(jobs[i].done, 0);
}
END_TEST

static void on_opened(struct evix_op *op, ssize_t result)
{
    (void)op;
    ck_assert_int_ge(result, 0);
    close((int)result);
    finished++;
}

/* Neither the program's work waits for files that do not answer, nor files for that. */
START_TEST(test_files_have_a_class)
{
    enum { FILES = 6 };
    static struct evix_file_request requests[FILES];
    static struct evix_op ops[FILES];
    struct evix_options options = {
        .backend = EVIX_BACKEND_EPOLL, .no_file_ring = true, .work_threads = 2};
    struct evix_open_how reading = {.flags = O_RDONLY | O_CLOEXEC};
    char folder[] = "/tmp/evix-test-work-XXXXXX", path[64];

    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    forget_former_case();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (int i = 0; i < FILES; i++) /* each waits until somebody writes */
        evix_file_open(&ops[i], loop, &requests[i], AT_FDCWD, path, &reading, on_opened);
    for (int i = 0; i < 10; i++)
        start(i, run_short);
    run_until_done(10);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(jobs[i].ran, 1);
    for (int i = 10; i < 20; i++)
        start(i, run_gated);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    run_until_done(10 + FILES);
    close(fd);
    for (int i = 10; i < 20; i++)
        sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    evix_loop_free(&loop);
    unlink(path);
    rmdir(folder);
}
END_TEST

/* Each done callback costs no wake-up of its own: those that ran meanwhile come as one. */
START_TEST(test_one_wakeup_a_batch)
{
    if (!open_loop(_i, 1))
        return;
    for (int i = 0; i < 50; i++)
        start(i, run_short);
    start(50, run_gated);
    sem_wait(&entered); /* the only thread has done all 50 */
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_ONCE), 0);
    ck_assert_int_eq(finished, 50);
    struct evix_counters counters;
    evix_loop_counters(loop, &counters);
    ck_assert_uint_eq(counters.wakeups, 1);
    sem_post(&gate);
    run_until_done(51);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_cancel_queued_and_running)
{
    if (!open_loop(_i, 1))
        return;
    start(0, run_gated);
    sem_wait(&entered);
    start(1, run_short);
    start(2, run_short);
    start(3, run_short);
    ck_assert_int_eq(evix_work_cancel(&jobs[0].work), -EBUSY);
    ck_assert_int_eq(evix_work_cancel(&jobs[2].work), 0);
    ck_assert_int_eq(evix_work_cancel(&jobs[2].work), -EBUSY); /* once is enough */
    ck_assert_int_eq(finished, 0);                             /* never inside the call */
    run_until_done(1); /* the cancelled one does not wait for the running one */
    ck_assert_int_eq(order[0], 2);
    ck_assert_int_eq(jobs[2].error, -ECANCELED);
    sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, 4);
    ck_assert_int_eq(jobs[0].error, 0);
    ck_assert_int_eq(jobs[2].ran, 0);
    ck_assert_int_eq(jobs[3].ran, 1);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(jobs[i].done, 1);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_cancel_from_done)
{
    if (!open_loop(_i, 1))
        return;
    start(0, run_gated);
    sem_wait(&entered);
    for (int i = 1; i < 4; i++)
        start(i, run_short);
    jobs[2].also_cancel = &jobs[1].work;
    ck_assert_int_eq(evix_work_cancel(&jobs[2].work), 0);
    run_until_done(2);
    ck_assert_int_eq(jobs[1].error, -ECANCELED);
    sem_post(&gate);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(jobs[1].ran, 0);
    ck_assert_int_eq(jobs[3].ran, 1);
    evix_loop_free(&loop);
}
END_TEST

static void on_done_start_again(struct evix_work *work, int error)
{
    struct job *job = EVIX_CONTAINER_OF(work, struct job, work);
    ck_assert_int_eq(error, 0);
    if (++job->done < 5)
        ck_assert_int_eq(evix_work_start(work, loop, run_short, on_done_start_again), 0);
}

START_TEST(test_start_again_from_done)
{
    if (!open_loop(_i, 0))
        return;
    ck_assert_int_eq(evix_work_start(&jobs[0].work, loop, run_short, on_done_start_again), 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(jobs[0].ran, 5);
    ck_assert_int_eq(jobs[0].done, 5);
    evix_loop_free(&loop);
}
END_TEST

static void run_mask(struct evix_work *work)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1)
        EVIX_CONTAINER_OF(work, struct job, work)->ran++;
}

START_TEST(test_threads_take_no_signals)
{
    if (!open_loop(_i, 0))
        return;
    start(0, run_mask);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    ck_assert_int_eq(jobs[0].ran, 1);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert_int_eq(sigismember(&mask, SIGTERM), 0); /* ours was put back */
    evix_loop_free(&loop);
}
END_TEST

static void run_slowly(struct evix_work *work)
{
    sem_post(&entered);
    struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    nanosleep(&pause, NULL);
    EVIX_CONTAINER_OF(work, struct job, work)->ran++;
}

/* After it the memory is ours: what ran has ended, what waited never runs, nobody calls back. */
START_TEST(test_free_waits_for_what_runs)
{
    if (!open_loop(_i, 1))
        return;
    start(0, run_slowly);
    sem_wait(&entered);
    start(1, run_short);
    evix_loop_free(&loop);
    ck_assert_int_eq(jobs[0].ran, 1);
    ck_assert_int_eq(jobs[1].ran, 0);
    ck_assert_int_eq(finished, 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("work");
    TCase *tests = tcase_create("pool");
    tcase_set_timeout(tests, 20);
    tcase_add_loop_test(tests, test_all_run_exactly_once, 0, BACKENDS);
    tcase_add_loop_test(tests, test_one_thread_keeps_the_order, 0, BACKENDS);
    tcase_add_loop_test(tests, test_threads_are_bounded, 0, BACKENDS);
    tcase_add_loop_test(tests, test_classes_do_not_wait_for_each_other, 0, BACKENDS);
    tcase_add_loop_test(tests, test_classes_stall_together, 0, BACKENDS);
    tcase_add_loop_test(tests, test_classes_share_the_only_thread, 0, BACKENDS);
    tcase_add_loop_test(tests, test_refused_thread_is_made_up_for, 0, BACKENDS);
    tcase_add_loop_test(tests, test_no_thread_at_all, 0, BACKENDS);
    tcase_add_loop_test(tests, test_free_drops_all_classes, 0, BACKENDS);
    tcase_add_test(tests, test_files_have_a_class);
    tcase_add_loop_test(tests, test_one_wakeup_a_batch, 0, BACKENDS);
    tcase_add_loop_test(tests, test_cancel_queued_and_running, 0, BACKENDS);
    tcase_add_loop_test(tests, test_cancel_from_done, 0, BACKENDS);
    tcase_add_loop_test(tests, test_start_again_from_done, 0, BACKENDS);
    tcase_add_loop_test(tests, test_threads_take_no_signals, 0, BACKENDS);
    tcase_add_loop_test(tests, test_free_waits_for_what_runs, 0, BACKENDS);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
