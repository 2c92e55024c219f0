/* SPDX-License-Identifier: MIT */
/*
 * A kernel, a sysctl or a container that refuses io_uring: the loop falls back and says so.
 * Refuses by a seccomp filter of its own in a child process, so it needs no privilege.
 * Run by `make check`; skipped where io_uring is not compiled in.
 */
#include <evix/evix.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_CANNOT_FILTER = 77 };

static int reports;
static char last_report[200];

static void on_report(void *data, const char *text)
{
    (void)data;
    reports++;
    snprintf(last_report, sizeof(last_report), "%s", text);
}

/* From here on io_uring_setup(2) fails with `error` in this process. */
static void forbid_ring(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(EXIT_CANNOT_FILTER);
}

typedef int child_fn(void);

/* The exit status of what `run` does in a child under the filter; 0 is well. */
static int run_in_child(int error, child_fn *run)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        forbid_ring(error);
        _exit(run());
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status) == EXIT_CANNOT_FILTER ? 0 : WEXITSTATUS(status);
}

static int choose_automatically(void)
{
    struct evix_loop *loop;
    struct evix_options options = {.report = on_report};
    errno = EXDEV; /* what stands in errno must not be taken for the reason */
    if (evix_loop_new(&loop, &options) < 0)
        return 1;
    if (evix_loop_backend(loop) != EVIX_BACKEND_EPOLL)
        return 2;
    if (reports != 1)
        return 3;
    if (!strstr(last_report, "io_uring") || !strstr(last_report, evix_strerror(-EPERM)))
        return 4;
    evix_loop_free(&loop);
    return reports == 1 ? 0 : 5;
}

static int ask_by_name(void)
{
    struct evix_loop *loop = NULL;
    struct evix_options options = {.backend = EVIX_BACKEND_IO_URING, .report = on_report};
    errno = EXDEV;
    return evix_loop_new(&loop, &options) == -EPERM ? 0 : 1;
}

static int ask_by_name_without_syscall(void)
{
    struct evix_loop *loop = NULL;
    struct evix_options options = {.backend = EVIX_BACKEND_IO_URING};
    return evix_loop_new(&loop, &options) == -ENOSYS ? 0 : 1;
}

static int opened = -1;

static void on_opened(struct evix_op *op, ssize_t result)
{
    (void)op;
    opened = (int)result;
}

/* Files then go to the work pool, and nobody notices. */
static int open_file(void)
{
    struct evix_loop *loop;
    struct evix_options options = {.backend = EVIX_BACKEND_EPOLL, .report = on_report};
    struct evix_op op;
    struct evix_file_request request;
    struct evix_open_how how = {.flags = O_RDONLY};
    if (evix_loop_new(&loop, &options) < 0)
        return 1;
    evix_file_open(&op, loop, &request, AT_FDCWD, "/dev/null", &how, on_opened);
    if (evix_loop_run(loop, EVIX_RUN_DEFAULT) != 0 || opened < 0)
        return 2;
    close(opened);
    evix_loop_free(&loop);
    return 0;
}

START_TEST(test_auto_falls_back)
{
    ck_assert_int_eq(run_in_child(EPERM, choose_automatically), 0);
}
END_TEST

START_TEST(test_by_name_is_an_error)
{
    ck_assert_int_eq(run_in_child(EPERM, ask_by_name), 0);
    ck_assert_int_eq(run_in_child(ENOSYS, ask_by_name_without_syscall), 0);
}
END_TEST

START_TEST(test_files_go_to_the_pool)
{
    ck_assert_int_eq(run_in_child(EPERM, open_file), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("ring forbidden");
    TCase *tests = tcase_create("fall back");
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, test_auto_falls_back);
    tcase_add_test(tests, test_by_name_is_an_error);
    tcase_add_test(tests, test_files_go_to_the_pool);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    if (!evix_backend_built(EVIX_BACKEND_IO_URING))
        return 77;
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
