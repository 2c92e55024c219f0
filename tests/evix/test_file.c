/* SPDX-License-Identifier: MIT */
/*
 * File operations: open, stat and read through the ring of io_uring, through a ring of their own
 * beside epoll and poll, and through the work pool.
 * Does not test the pool itself, nor what a server makes of files.
 * Run by `make check`, in each way that the machine lets us use.
 */
#include "under_valgrind.h"

#include <evix/evix.h>

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct way {
    enum evix_backend backend;
    bool no_file_ring;
} ways[] = {
    {EVIX_BACKEND_IO_URING, false}, {EVIX_BACKEND_EPOLL, false}, {EVIX_BACKEND_EPOLL, true},
    {EVIX_BACKEND_POLL, false},     {EVIX_BACKEND_POLL, true},
};
enum { WAYS = sizeof(ways) / sizeof(*ways), MANY = 500 };

static struct evix_loop *loop;

struct job {
    struct evix_op op;
    struct evix_file_request request;
    struct evix_timer timer;
    int calls;
    ssize_t result;
    char data[16];
};

static struct job jobs[MANY];
static int finished;

static char folder[] = "/tmp/evix-test-file-XXXXXX";
static int directory; /* of `folder`/inside */
static char content[10000];

static bool open_loop(int row)
{
    struct evix_options options = {
        .backend = ways[row].backend, .no_file_ring = ways[row].no_file_ring, .work_threads = 1};
    int error = evix_loop_new(&loop, &options);
    if (error == -ENOSYS || error == -EPERM)
        return false;
    ck_assert_int_eq(error, 0);
    memset(jobs, 0, sizeof(jobs)); /* a case before may have been in this process */
    finished = 0;
    return true;
}

static void write_file(const char *name, const void *data, size_t length)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, length), (ssize_t)length);
    close(fd);
}

static void make_folder(void)
{
    char path[200];
    for (size_t i = 0; i < sizeof(content); i++)
        content[i] = (char)(i * 7 + i / 256);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/inside", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_file("inside/file", content, sizeof(content));
    write_file("outside", "secret", 6);
    directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(directory, 0);
    ck_assert_int_eq(symlinkat("../outside", directory, "link"), 0);
    ck_assert_int_eq(symlinkat("file", directory, "good-link"), 0);
}

static void remove_folder(void)
{
    char path[200];
    unlinkat(directory, "file", 0);
    unlinkat(directory, "link", 0);
    unlinkat(directory, "good-link", 0);
    close(directory);
    snprintf(path, sizeof(path), "%s/outside", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/inside", folder);
    rmdir(path);
    rmdir(folder);
}

static int count_descriptors(void)
{
    DIR *entries = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

static void on_finished(struct evix_op *op, ssize_t result)
{
    struct job *job = EVIX_CONTAINER_OF(op, struct job, op);
    ck_assert(!evix_op_more(op));
    ck_assert(!evix_op_pending(op));
    job->calls++;
    job->result = result;
    finished++;
}

static const struct evix_open_how beneath = {.flags = O_RDONLY | O_NONBLOCK,
                                             .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

static ssize_t run_job(void)
{
    ck_assert(evix_op_pending(&jobs[0].op));
    ck_assert_int_eq(jobs[0].calls, 0); /* never inside the call */
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(jobs[0].calls, 1);
    jobs[0].calls = 0;
    return jobs[0].result;
}

static ssize_t open_path(const char *path, const struct evix_open_how *how)
{
    evix_file_open(&jobs[0].op, loop, &jobs[0].request, directory, path, how, on_finished);
    return run_job();
}

START_TEST(test_open)
{
    if (!open_loop(_i))
        return;
    int fd = (int)open_path("file", &beneath);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    close(fd);
    fd = (int)open_path("good-link", &beneath);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(open_path("missing", &beneath), -ENOENT);
    ck_assert_int_eq(open_path("file/more", &beneath), -ENOTDIR);
    struct evix_open_how plain = {.flags = O_RDONLY};
    fd = (int)open_path("../outside", &plain); /* nothing was asked, nothing is refused */
    ck_assert_int_ge(fd, 0);
    close(fd);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_open_beneath)
{
    if (!open_loop(_i))
        return;
    ck_assert_int_eq(open_path("../outside", &beneath), -EXDEV);
    ck_assert_int_eq(open_path("../inside/file", &beneath), -EXDEV);
    ck_assert_int_eq(open_path("/etc/passwd", &beneath), -EXDEV);
    ck_assert_int_eq(open_path("link", &beneath), -EXDEV);
    struct evix_open_how no_links = {.flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS};
    ck_assert_int_eq(open_path("good-link", &no_links), -ELOOP);
    evix_loop_free(&loop);
}
END_TEST

static ssize_t stat_path(int at, const char *path, int flags, struct evix_stat *out)
{
    evix_file_stat(&jobs[0].op, loop, &jobs[0].request, at, path, flags, out, on_finished);
    return run_job();
}

START_TEST(test_stat)
{
    if (!open_loop(_i))
        return;
    struct stat expected;
    struct evix_stat seen = {0};
    ck_assert_int_eq(fstatat(directory, "file", &expected, 0), 0);
    ck_assert_int_eq(stat_path(directory, "file", 0, &seen), 0);
    ck_assert_uint_eq(seen.size, sizeof(content));
    ck_assert_uint_eq(seen.inode, expected.st_ino);
    ck_assert_uint_eq(seen.device, expected.st_dev);
    ck_assert_uint_eq(seen.mode, expected.st_mode);
    ck_assert_uint_eq(seen.links, 1);
    ck_assert_int_eq(seen.modified.seconds, expected.st_mtim.tv_sec);
    ck_assert_uint_eq(seen.modified.nanoseconds, (uint32_t)expected.st_mtim.tv_nsec);
    ck_assert_int_eq(seen.changed.seconds, expected.st_ctim.tv_sec);
    ck_assert_uint_eq(seen.changed.nanoseconds, (uint32_t)expected.st_ctim.tv_nsec);

    ck_assert_int_eq(stat_path(directory, "good-link", AT_SYMLINK_NOFOLLOW, &seen), 0);
    ck_assert(S_ISLNK(seen.mode));
    ck_assert_int_eq(stat_path(directory, "good-link", 0, &seen), 0);
    ck_assert(S_ISREG(seen.mode));
    ck_assert_int_eq(stat_path(directory, "", 0, &seen), 0); /* the directory itself */
    ck_assert(S_ISDIR(seen.mode));
    ck_assert_int_eq(stat_path(directory, "missing", 0, &seen), -ENOENT);
    ck_assert_int_eq(stat_path(-1, "", 0, &seen), -EBADF);
    evix_loop_free(&loop);
}
END_TEST

static ssize_t read_at(int fd, void *memory, uint32_t length, uint64_t offset)
{
    evix_file_read(&jobs[0].op, loop, &jobs[0].request, fd, memory, length, offset, on_finished);
    return run_job();
}

START_TEST(test_read)
{
    if (!open_loop(_i))
        return;
    char seen[sizeof(content) + 1];
    int fd = openat(directory, "file", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read_at(fd, seen, sizeof(seen), 0), sizeof(content));
    ck_assert_mem_eq(seen, content, sizeof(content));
    ck_assert_int_eq(read_at(fd, seen, 100, 5000), 100);
    ck_assert_mem_eq(seen, content + 5000, 100);
    ck_assert_int_eq(read_at(fd, seen, 100, sizeof(content) - 10), 10);
    ck_assert_int_eq(read_at(fd, seen, 100, sizeof(content)), 0);
    ck_assert_int_eq(read_at(fd, seen, 100, 1 << 20), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0); /* its own position was not used */
    ck_assert_int_eq(read_at(directory, seen, 100, 0), -EBADF);
    close(fd);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_many_in_flight)
{
    if (!open_loop(_i))
        return;
    int fd = openat(directory, "file", O_RDONLY | O_CLOEXEC);
    open_path("missing", &beneath); /* so that the ring or the pool is there */
    finished = 0;
    int before = count_descriptors();
    for (int i = 0; i < MANY; i++) {
        struct job *job = &jobs[i];
        if (i % 2)
            evix_file_read(&job->op, loop, &job->request, fd, job->data, sizeof(job->data),
                           (uint64_t)i, on_finished);
        else
            evix_file_open(&job->op, loop, &job->request, directory, "file", &beneath, on_finished);
    }
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(jobs[i].calls, 1);
        if (i % 2) {
            ck_assert_int_eq(jobs[i].result, sizeof(jobs[i].data));
            ck_assert_mem_eq(jobs[i].data, content + i, sizeof(jobs[i].data));
        } else {
            ck_assert_int_ge(jobs[i].result, 0);
            close((int)jobs[i].result);
        }
    }
    ck_assert_int_eq(count_descriptors(), before);
    close(fd);
    evix_loop_free(&loop);
}
END_TEST

/* Cancelled before the submit step: it never started. */
START_TEST(test_cancel_at_once)
{
    if (!open_loop(_i))
        return;
    int before = count_descriptors();
    for (int i = 0; i < 100; i++) {
        evix_file_open(&jobs[i].op, loop, &jobs[i].request, directory, "file", &beneath,
                       on_finished);
        evix_cancel(&jobs[i].op);
        evix_cancel(&jobs[i].op); /* harmless */
    }
    ck_assert_int_eq(finished, 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, 100);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(jobs[i].calls, 1);
        ck_assert_int_eq(jobs[i].result, -ECANCELED);
    }
    ck_assert_int_le(count_descriptors(), before + 1); /* the ring may be opened by now */
    evix_loop_free(&loop);
}
END_TEST

/*
 * Cancelled by the completion of another, so at whatever stage the rest is in by then; a descriptor
 * that came out of a cancelled open is nobody's and must be gone.
 */
static void on_opened_cancel_all(struct evix_op *op, ssize_t result)
{
    on_finished(op, result);
    if (result >= 0)
        close((int)result);
    for (int i = 0; i < MANY; i++)
        evix_cancel(&jobs[i].op);
}

START_TEST(test_cancel_in_flight)
{
    if (!open_loop(_i))
        return;
    open_path("missing", &beneath); /* so that the ring or the pool is there */
    finished = 0;
    int before = count_descriptors();
    for (int i = 0; i < MANY; i++)
        evix_file_open(&jobs[i].op, loop, &jobs[i].request, directory, "file", &beneath,
                       on_opened_cancel_all);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(finished, MANY);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(jobs[i].calls, 1);
        if (jobs[i].result < 0)
            ck_assert_int_eq(jobs[i].result, -ECANCELED);
    }
    ck_assert_int_eq(count_descriptors(), before);
    evix_loop_free(&loop);
}
END_TEST

/* A pipe's end has no data, so that the read waits in the kernel or in the pool's thread. */
static void read_pipe(struct job *job, int fd)
{
    job->calls = 0;
    evix_file_read(&job->op, loop, &job->request, fd, job->data, sizeof(job->data), 0, on_finished);
}

static void on_timer_cancel(struct evix_timer *timer)
{
    evix_cancel(&EVIX_CONTAINER_OF(timer, struct job, timer)->op);
}

/* A thread that blocks in a read cannot be called back; a ring can. */
static bool has_ring(int row)
{
    struct evix_options options = {.backend = EVIX_BACKEND_IO_URING};
    if (ways[row].no_file_ring || evix_loop_new(&loop, &options) < 0)
        return false;
    evix_loop_free(&loop);
    return true;
}

START_TEST(test_cancel_waiting_read)
{
    if (!has_ring(_i) || !open_loop(_i))
        return;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    read_pipe(&jobs[0], ends[0]);
    evix_timer_init(&jobs[0].timer, loop, on_timer_cancel);
    evix_timer_start(&jobs[0].timer, 20, 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(jobs[0].calls, 1);
    ck_assert_int_eq(jobs[0].result, -ECANCELED);
    close(ends[0]);
    close(ends[1]);
    evix_loop_free(&loop);
}
END_TEST

START_TEST(test_timeout)
{
    if (!has_ring(_i) || !open_loop(_i))
        return;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    read_pipe(&jobs[0], ends[0]);
    evix_op_timeout(&jobs[0].op, &jobs[0].timer, 20);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(jobs[0].calls, 1);
    ck_assert_int_eq(jobs[0].result, -ETIMEDOUT);
    close(ends[0]);
    close(ends[1]);
    evix_loop_free(&loop);
}
END_TEST

/* Whatever is in flight is waited for or cancelled; no descriptor is left, no memory in use. */
START_TEST(test_free_in_flight)
{
    int before = count_descriptors();
    memset(jobs, 0, sizeof(jobs));
    for (int round = 0; round < 20; round++) {
        if (!open_loop(_i))
            return;
        for (int i = 0; i < 100; i++)
            evix_file_open(&jobs[i].op, loop, &jobs[i].request, directory, "file", &beneath,
                           on_finished);
        struct evix_stat *out = calloc(1, sizeof(*out));
        evix_file_stat(&jobs[100].op, loop, &jobs[100].request, directory, "file", 0, out,
                       on_finished);
        if (round % 2)
            (void)!evix_loop_run(loop, EVIX_RUN_NOWAIT);
        for (int i = 0; i < 100; i++)
            if (jobs[i].calls > 0 && jobs[i].result >= 0)
                close((int)jobs[i].result);
        evix_loop_free(&loop);
        free(out);
        memset(jobs, 0, sizeof(jobs));
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("file");
    TCase *tests = tcase_create("operations");
    tcase_set_timeout(tests, 20);
    tcase_add_unchecked_fixture(tests, make_folder, remove_folder);
    tcase_add_loop_test(tests, test_open, 0, WAYS);
    tcase_add_loop_test(tests, test_open_beneath, 0, WAYS);
    tcase_add_loop_test(tests, test_stat, 0, WAYS);
    tcase_add_loop_test(tests, test_read, 0, WAYS);
    tcase_add_loop_test(tests, test_many_in_flight, 0, WAYS);
    tcase_add_loop_test(tests, test_cancel_at_once, 0, WAYS);
    tcase_add_loop_test(tests, test_cancel_in_flight, 0, WAYS);
    tcase_add_loop_test(tests, test_cancel_waiting_read, 0, WAYS);
    tcase_add_loop_test(tests, test_timeout, 0, WAYS);
    tcase_add_loop_test(tests, test_free_in_flight, 0, WAYS);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    if (is_under_valgrind()) {
        puts("valgrind knows neither openat2(2) nor what a ring writes: skipped");
        return 77;
    }
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
