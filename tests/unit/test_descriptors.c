/* SPDX-License-Identifier: MIT */
/* The descriptor table as a whole: daemon/descriptors.h. Each test has a process of its own. */

#include "daemon/descriptors.h"

#include "../evix/under_valgrind.h"
#include "log/log.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char last_line[LOG_LINE_BYTES + 1];

static void on_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    ck_assert_int_eq(level, LOG_LEVEL_WARNING);
    memcpy(last_line, line, length + 1);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/*
 * Check keeps descriptors of its own, which these tests would close: so each runs in one more
 * process, whose exit code is the number of the step that failed.
 */
static int run_apart(int (*steps)(void))
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(steps());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int close_others(void)
{
    /* 50 to 59, of which every other is kept, in no order and with gaps and doubles */
    for (int fd = 50; fd < 60; fd++) {
        if (dup2(STDERR_FILENO, fd) != fd)
            return 1;
    }
    int keep[] = {58, -1, 50, 54, 2, 52, 54, 56};
    descriptors_close_others(keep, sizeof(keep) / sizeof(keep[0]));
    for (int fd = 3; fd < 256; fd++) {
        if (is_open(fd) != (fd >= 50 && fd < 60 && fd % 2 == 0))
            return 2;
    }
    return is_open(0) && is_open(1) && is_open(2) ? 0 : 3;
}

static int close_all_others(void)
{
    if (dup2(STDERR_FILENO, 200) != 200)
        return 1;
    descriptors_close_others(NULL, 0);
    return is_open(200) || !is_open(2) ? 2 : 0;
}

START_TEST(only_what_is_kept_stays_open)
{
    ck_assert_int_eq(run_apart(close_others), 0);
    ck_assert_int_eq(run_apart(close_all_others), 0);
}
END_TEST

static int fill_standard(void)
{
    int lowest = dup(STDERR_FILENO);
    close(lowest);
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    if (descriptors_fill_standard() != 0)
        return 1;
    if (!is_open(0) || !is_open(2) || is_open(lowest))
        return 2;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return next == lowest ? 0 : 3;
}

/* As where /dev/null cannot be opened: it is not needed. */
static int leave_standard_alone(void)
{
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3}) != 0 || open("/dev/null", O_RDWR) >= 0)
        return 1;
    if (descriptors_fill_standard() != 0)
        return 2;
    close(STDIN_FILENO);
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}) != 0)
        return 3;
    return descriptors_fill_standard() == -EMFILE ? 0 : 4;
}

START_TEST(open_standard_descriptors_need_nothing)
{
    if (is_under_valgrind())
        return; /* which takes part in limits of descriptors */
    ck_assert_int_eq(run_apart(leave_standard_alone), 0);
}
END_TEST

START_TEST(closed_standard_descriptors_are_filled)
{
    ck_assert_int_eq(run_apart(fill_standard), 0);
}
END_TEST

/* Lowers the soft limit; returns the hard one, which is left as it is. */
static rlim_t lower_soft_limit(rlim_t soft)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_ge(limit.rlim_max, 2048); /* every system has that */
    limit.rlim_cur = soft;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_max;
}

static rlim_t soft_limit(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

/* As most programs are started. */
static void give_resource_capability_up(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
    data[0].effective &= ~(1u << CAP_SYS_RESOURCE);
    ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

START_TEST(soft_limit_follows_the_connections)
{
    log_set_sink(on_line, NULL);
    give_resource_capability_up();
    rlim_t hard = lower_soft_limit(256);
    descriptors_raise_limit(20, 1);
    ck_assert_uint_eq(soft_limit(), 256); /* it was enough */
    descriptors_raise_limit(500, 2);
    ck_assert_uint_ge(soft_limit(), 1002);
    ck_assert_uint_le(soft_limit(), 2048);
    if (hard != RLIM_INFINITY) { /* the sockets fit, the files beside them may not */
        descriptors_raise_limit(hard - 200, 2);
        ck_assert_uint_eq(soft_limit(), hard);
    }
    ck_assert_str_eq(last_line, "");
}
END_TEST

START_TEST(low_hard_limit_is_warned_of)
{
    char expected[64];
    log_set_sink(on_line, NULL);
    give_resource_capability_up();
    rlim_t hard = lower_soft_limit(256);
    if (hard == RLIM_INFINITY)
        return; /* nothing is too much for it */
    descriptors_raise_limit(hard, 2);
    ck_assert_uint_eq(soft_limit(), hard);
    snprintf(expected, sizeof(expected), "limits.connections = %ju ", (uintmax_t)hard);
    ck_assert_ptr_nonnull(strstr(last_line, expected));
    snprintf(expected, sizeof(expected), "hard limit is %ju ", (uintmax_t)hard);
    ck_assert_ptr_nonnull(strstr(last_line, expected));
}
END_TEST

/* With the right to, the hard limit is no limit; without it, it is warned of. valgrind keeps the
 * limits itself, and lets nobody change the hard one. */
START_TEST(hard_limit_is_raised_where_it_may)
{
    if (is_under_valgrind())
        return;

    struct rlimit limit;
    rlim_t wanted = 2 * 2000 + 2 + 128;
    log_set_sink(on_line, NULL);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    bool may = limit.rlim_max >= wanted;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 512}), 0);
    may = may && setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 513}) == 0;
    descriptors_raise_limit(2000, 2);
    ck_assert_uint_eq(soft_limit(), may ? wanted : 512);
    ck_assert_int_eq(last_line[0] == '\0', may);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("descriptors");
    TCase *tests = tcase_create("descriptors");
    tcase_add_test(tests, only_what_is_kept_stays_open);
    tcase_add_test(tests, open_standard_descriptors_need_nothing);
    tcase_add_test(tests, closed_standard_descriptors_are_filled);
    tcase_add_test(tests, soft_limit_follows_the_connections);
    tcase_add_test(tests, low_hard_limit_is_warned_of);
    tcase_add_test(tests, hard_limit_is_raised_where_it_may);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK); /* limits and the like stay in each test */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
