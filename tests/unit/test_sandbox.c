/* SPDX-License-Identifier: MIT */
/* What a worker cannot do any more, and what it still can: daemon/sandbox.h. */

#include "daemon/sandbox.h"

#include "../evix/under_valgrind.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MESSAGE      200 /* exit status of a child that could not begin */

/* In a process of its own, behind the filter; how that ended, as waitpid(2) tells. */
static int run_confined(int (*call)(void), const struct sandbox_options *options)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(sandbox_enter(options) == 0 ? call() : MESSAGE);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

/* Each returns an errno, 0 for success. */

static int outcome(long result)
{
    return result < 0 ? errno : 0;
}

static int call_socket(void)
{
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int call_unix_socket(void)
{
    return outcome(socket(AF_UNIX, SOCK_DGRAM, 0));
}

static int call_connect(void)
{
    struct sockaddr address = {.sa_family = AF_UNIX};
    return outcome(connect(STDIN_FILENO, &address, sizeof(address)));
}

static int call_bind(void)
{
    struct sockaddr address = {.sa_family = AF_UNIX};
    return outcome(bind(STDIN_FILENO, &address, sizeof(address)));
}

static int call_fork(void)
{
    return outcome(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int call_fork_of_libc(void)
{
    return outcome(fork());
}

static int call_signal_to_parent(void)
{
    return outcome(kill(getppid(), 0));
}

static int call_thread_signal_to_parent(void)
{
    return outcome(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int call_map_code(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

static int call_make_code(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? MESSAGE : outcome(mprotect(memory, 4096, PROT_EXEC));
}

static int call_new_ring(void)
{
    return outcome(syscall(SYS_io_uring_setup, 1, NULL));
}

static int call_register_files(void)
{
    return outcome(syscall(SYS_io_uring_register, -1, 2, NULL, 0));
}

static int call_unlink(void)
{
    return outcome(unlink("/nonexistent/file"));
}

static int call_rename(void)
{
    return outcome(rename("/nonexistent/file", "/nonexistent/other"));
}

static int call_chmod(void)
{
    return outcome(chmod("/nonexistent/file", 0777));
}

static int call_mkdir(void)
{
    return outcome(mkdir("/nonexistent/folder", 0777));
}

static int call_raise_limit(void)
{
    struct rlimit limit = {.rlim_cur = 16, .rlim_max = 16};
    return outcome(setrlimit(RLIMIT_NOFILE, &limit));
}

static int call_dumpable(void)
{
    return outcome(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int call_listen(void)
{
    return outcome(listen(STDIN_FILENO, 1));
}

static int call_unknown(void)
{
    return outcome(syscall(9999));
}

static const struct call {
    const char *name;
    int (*call)(void);
} refused[] = {
    {"socket", call_socket},
    {"socket, unix", call_unix_socket},
    {"connect", call_connect},
    {"bind", call_bind},
    {"listen", call_listen},
    {"clone as a process", call_fork},
    {"fork", call_fork_of_libc},
    {"kill", call_signal_to_parent},
    {"tgkill", call_thread_signal_to_parent},
    {"mmap of code", call_map_code},
    {"mprotect to code", call_make_code},
    {"io_uring_setup", call_new_ring},
    {"io_uring_register", call_register_files},
    {"unlink", call_unlink},
    {"rename", call_rename},
    {"chmod", call_chmod},
    {"mkdir", call_mkdir},
    {"setrlimit", call_raise_limit},
    {"prctl", call_dumpable},
    {"a call of tomorrow", call_unknown},
};

START_TEST(what_no_worker_needs_is_not_there)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    const struct call *row = &refused[_i];
    int status = run_confined(row->call, &options);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == ENOSYS, "%s: status %x", row->name,
                  (unsigned)status);
}
END_TEST

static int call_execute(void)
{
    char *arguments[] = {NULL};
    return outcome(execve("/bin/true", arguments, arguments));
}

static int call_trace(void)
{
    return outcome(syscall(SYS_ptrace, 16, getppid(), 0, 0));
}

static int call_mount(void)
{
    return outcome(syscall(SYS_mount, NULL, NULL, NULL, 0, NULL));
}

static int call_become_root(void)
{
    return outcome(setuid(0));
}

static int call_namespace(void)
{
    return outcome(syscall(SYS_unshare, 0));
}

static int call_read_memory(void)
{
    return outcome(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}

static const struct call fatal[] = {
    {"execve", call_execute},    {"ptrace", call_trace},
    {"mount", call_mount},       {"setuid", call_become_root},
    {"unshare", call_namespace}, {"process_vm_readv", call_read_memory},
};

START_TEST(what_only_an_intruder_does_ends_the_worker)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    const struct call *row = &fatal[_i];
    int status = run_confined(row->call, &options);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: status %x", row->name,
                  (unsigned)status);
}
END_TEST

static void *run_thread(void *data)
{
    *(int *)data = 7;
    return data;
}

static int call_thread(void)
{
    pthread_t thread;
    int value = 0;
    int error = pthread_create(&thread, NULL, run_thread, &value);
    if (error == 0)
        error = pthread_join(thread, NULL);
    return error != 0 ? error : value == 7 ? 0 : MESSAGE;
}

static int call_large_memory(void)
{
    char *memory = malloc(8 << 20);
    if (memory == NULL)
        return ENOMEM;
    memory[4 << 20] = 1;
    memory = realloc(memory, 32 << 20);
    if (memory == NULL || memory[4 << 20] != 1)
        return MESSAGE;
    free(memory);
    return 0;
}

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

/* A large array, for which the C library asks how much memory there is. */
static int call_sort(void)
{
    size_t count = 100000;
    int *numbers = malloc(count * sizeof(*numbers));
    if (numbers == NULL)
        return ENOMEM;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (int)(count - i);
    qsort(numbers, count, sizeof(*numbers), compare);
    int error = numbers[0] == 1 ? 0 : MESSAGE;
    free(numbers);
    return error;
}

static int call_file(void)
{
    char bytes[16];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t length = read(fd, bytes, sizeof(bytes));
    close(fd);
    return outcome(length);
}

static int call_ask_limit(void)
{
    struct rlimit limit;
    return outcome(getrlimit(RLIMIT_NOFILE, &limit));
}

/* To a thread that was there before the filter was, it applies as well. */
static const struct call granted[] = {
    {"a thread", call_thread}, {"much memory", call_large_memory}, {"sorting", call_sort},
    {"a file", call_file},     {"a limit", call_ask_limit},
};

START_TEST(what_a_worker_needs_is_there)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    const struct call *row = &granted[_i];
    int status = run_confined(row->call, &options);
    ck_assert_msg(status == 0, "%s: status %x", row->name, (unsigned)status);
}
END_TEST

static int call_abort(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

START_TEST(an_assertion_that_fails_says_so)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    int status = run_confined(call_abort, &options);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

START_TEST(only_a_log_of_syslog_may_connect_and_only_on_this_machine)
{
    const struct sandbox_options options = {.reconnects_syslog = true};
    ck_assert_int_eq(run_confined(call_unix_socket, &options), 0);
    int status = run_confined(call_socket, &options);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), ENOSYS);
}
END_TEST

static int gate[2];

/* Waits until the filter is there, then does what it forbids. */
static void *run_older_thread(void *data)
{
    char byte;
    if (read(gate[0], &byte, 1) == 1)
        *(int *)data = call_socket();
    return NULL;
}

static int confine_with_thread(void)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    pthread_t thread;
    int error = MESSAGE;
    if (pipe(gate) != 0 || pthread_create(&thread, NULL, run_older_thread, &error) != 0)
        return MESSAGE;
    if (sandbox_enter(&options) != 0 || write(gate[1], "", 1) != 1)
        return MESSAGE;
    pthread_join(thread, NULL);
    return error;
}

START_TEST(threads_that_there_were_before_are_held_too)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(confine_with_thread());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), ENOSYS);
}
END_TEST

/* NULL, or why there is nothing to test. */
static const char *obstacle(void)
{
    const struct sandbox_options options = {.reconnects_syslog = false};
    int status;
    if (sandbox_absence() != NULL)
        return sandbox_absence();
    if (is_under_valgrind())
        return "valgrind makes calls of its own";
    pid_t pid = fork();
    if (pid == 0)
        _exit(sandbox_enter(&options) == -ENOSYS);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return NULL;
    return status == 0 ? NULL : "the kernel has no filters";
}

int main(void)
{
    const char *reason = obstacle();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    Suite *suite = suite_create("sandbox");
    TCase *tests = tcase_create("sandbox");
    tcase_add_loop_test(tests, what_no_worker_needs_is_not_there, 0, COUNT(refused));
    tcase_add_loop_test(tests, what_only_an_intruder_does_ends_the_worker, 0, COUNT(fatal));
    tcase_add_loop_test(tests, what_a_worker_needs_is_there, 0, COUNT(granted));
    tcase_add_test(tests, an_assertion_that_fails_says_so);
    tcase_add_test(tests, only_a_log_of_syslog_may_connect_and_only_on_this_machine);
    tcase_add_test(tests, threads_that_there_were_before_are_held_too);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
