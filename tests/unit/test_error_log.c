/* SPDX-License-Identifier: MIT */
/* The sink of events in master and workers: daemon/error_log.h. */

#include "daemon/error_log.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char path[96];
static char rotated[96];
static struct error_log error_log;
static int saved_stderr = -1;

static void set_up(void)
{
    strcpy(folder, "/tmp/evixd-errorlog-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/error.log", folder);
    snprintf(rotated, sizeof(rotated), "%s/error.log.1", folder);
    unsetenv("JOURNAL_STREAM");
    saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    ck_assert_int_ge(saved_stderr, 0);
}

static void tear_down(void)
{
    log_set_sink(NULL, NULL);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    unlink(path);
    unlink(rotated);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *read_file(const char *name)
{
    static char text[8192];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ssize_t length = read(fd, text, sizeof(text) - 1);
    ck_assert_int_ge(length, 0);
    close(fd);
    text[length] = '\0';
    return text;
}

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;
    ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    int result = regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    ck_assert_msg(result == 0, "\"%s\" does not match \"%s\"", text, pattern);
}

/* Standard error becomes one end of a pipe or socket; returns the other. */
static int capture_stderr(bool is_socket)
{
    int pair[2];
    if (is_socket)
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    else
        ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
    ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
    close(pair[1]);
    return pair[0];
}

static const char *read_some(int fd)
{
    static char text[8192];
    ssize_t length = read(fd, text, sizeof(text) - 1);
    ck_assert_int_ge(length, 0);
    text[length] = '\0';
    return text;
}

static const struct config_error_log to_stderr = {CONFIG_TARGET_STDERR, "", LOG_LEVEL_NOTICE};
static const struct config_error_log to_file = {CONFIG_TARGET_FILE, path, LOG_LEVEL_INFO};

START_TEST(line_in_a_file)
{
    char pattern[256];
    ck_assert_int_eq(error_log_open(&error_log, &to_file), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    log_event(LOG_LEVEL_INFO, "%s is %d", "answer", 42);
    log_event(LOG_LEVEL_DEBUG, "not at this level");
    error_log_close(&error_log);
    snprintf(pattern, sizeof(pattern),
             "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}[+-][0-9]{4} info "
             "%ld: answer is 42\n$",
             (long)getpid());
    assert_matches(read_file(path), pattern);
}
END_TEST

/* Whoever starts the daemon sees what is wrong, wherever the log goes. */
START_TEST(start_is_told_on_stderr_too)
{
    int reader = capture_stderr(false);
    ck_assert_int_eq(error_log_open(&error_log, &to_file), 0);
    error_log_use(&error_log);
    log_event(LOG_LEVEL_ERROR, "cannot listen");
    log_event(LOG_LEVEL_INFO, "not for the eyes of a user");
    error_log_set_started(&error_log);
    log_event(LOG_LEVEL_ERROR, "later");
    error_log_close(&error_log);
    ck_assert_str_eq(read_some(reader), "evixd: cannot listen\n");
    assert_matches(read_file(path), "cannot listen\n.*user\n.*later\n$");
    close(reader);
}
END_TEST

START_TEST(stderr_says_it_once)
{
    int reader = capture_stderr(false);
    ck_assert_int_eq(error_log_open(&error_log, &to_stderr), 0);
    error_log_use(&error_log);
    log_event(LOG_LEVEL_ERROR, "cannot listen");
    ck_assert_str_eq(read_some(reader), "evixd: cannot listen\n");
    error_log_set_started(&error_log);
    log_event(LOG_LEVEL_WARNING, "while running");
    assert_matches(read_some(reader), "^[0-9T:.+-]* warning [0-9]+: while running\n$");
    error_log_close(&error_log);
    close(reader);
}
END_TEST

static const struct {
    enum log_level level;
    const char *expected;
} prefixes[] = {
    {LOG_LEVEL_ERROR, "<3>text\n"},
    {LOG_LEVEL_WARNING, "<4>text\n"},
    {LOG_LEVEL_NOTICE, "<5>text\n"},
};

START_TEST(journal_gets_prefixes)
{
    struct stat status;
    char stream[64];
    int reader = capture_stderr(true);
    ck_assert_int_eq(fstat(STDERR_FILENO, &status), 0);
    snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    ck_assert_int_eq(error_log_open(&error_log, &to_stderr), 0);
    error_log_use(&error_log);
    log_event(prefixes[_i].level, "text"); /* also while it starts */
    ck_assert_str_eq(read_some(reader), prefixes[_i].expected);
    error_log_close(&error_log);
    close(reader);
}
END_TEST

/* Standard error was redirected since systemd set the variable. */
START_TEST(foreign_journal_stream_is_no_journal)
{
    int reader = capture_stderr(true);
    setenv("JOURNAL_STREAM", "1:2", 1);
    ck_assert_int_eq(error_log_open(&error_log, &to_stderr), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    log_event(LOG_LEVEL_ERROR, "text");
    assert_matches(read_some(reader), "^[0-9T:.+-]* error [0-9]+: text\n$");
    error_log_close(&error_log);
    close(reader);
}
END_TEST

/* A worker that logs after a rotation writes to the new file, without a signal of its own. */
START_TEST(worker_follows_a_rotation)
{
    int begun[2], rotation[2];
    char byte = 0;
    int status;
    ck_assert_int_eq(pipe2(begun, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(rotation, O_CLOEXEC), 0);
    ck_assert_int_eq(error_log_open(&error_log, &to_file), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    pid_t worker = fork();
    ck_assert_int_ge(worker, 0);
    if (worker == 0) {
        log_event(LOG_LEVEL_NOTICE, "worker before");
        if (write(begun[1], &byte, 1) != 1 || read(rotation[0], &byte, 1) != 1)
            _exit(1);
        log_event(LOG_LEVEL_NOTICE, "worker after");
        _exit(0);
    }
    ck_assert_int_eq(read(begun[0], &byte, 1), 1);
    ck_assert_int_eq(rename(path, rotated), 0);
    error_log_reopen(&error_log);
    log_event(LOG_LEVEL_NOTICE, "master after");
    ck_assert_int_eq(write(rotation[1], &byte, 1), 1);
    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert_int_eq(status, 0);
    assert_matches(read_file(rotated), "^[^\n]*worker before\n$");
    assert_matches(read_file(path), "^[^\n]*master after\n[^\n]*worker after\n$");
    for (int i = 0; i < 2; i++) {
        close(begun[i]);
        close(rotation[i]);
    }
    error_log_close(&error_log);
}
END_TEST

/* The folder is gone: the old file goes on being written. */
START_TEST(failed_reopening_keeps_the_old_file)
{
    ck_assert_int_eq(error_log_open(&error_log, &to_file), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    ck_assert_int_eq(rename(path, rotated), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    error_log_reopen(&error_log);
    log_event(LOG_LEVEL_NOTICE, "still there");
    assert_matches(read_file(rotated), "cannot open the error log .*: Is a directory; the old "
                                       "file stays in use\n.*still there\n$");
    ck_assert_int_eq(rmdir(path), 0);
    error_log_close(&error_log);
}
END_TEST

/* A full disk (here: a limit of the file's size) cuts a line: the next one is a line of its own. */
START_TEST(line_after_a_torn_one)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(error_log_open(&error_log, &to_file), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){20, limit.rlim_max}), 0);
    log_event(LOG_LEVEL_NOTICE, "torn");
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    error_log_reopen(&error_log);
    log_event(LOG_LEVEL_NOTICE, "whole");
    assert_matches(read_file(path), "^[^\n]{20}\n[^\n]+: 1 lines could not be written here\n"
                                    "[^\n]+: whole\n$");
    error_log_close(&error_log);
}
END_TEST

START_TEST(unusable_path_is_an_error)
{
    static const struct config_error_log missing = {CONFIG_TARGET_FILE, "/nonexistent/x/y",
                                                    LOG_LEVEL_NOTICE};
    int reader = capture_stderr(false);
    ck_assert_int_eq(error_log_open(&error_log, &missing), -ENOENT);
    ck_assert_str_eq(read_some(reader), "evixd: cannot open the error log /nonexistent/x/y: No "
                                        "such file or directory\n");
    close(reader);
}
END_TEST

/* A reader that has stopped reading: lines are lost, nobody waits, and the loss is told. */
START_TEST(stuck_reader_does_not_stop_us)
{
    int reader = capture_stderr(_i == 0);
    char text[65536];
    ck_assert_int_eq(error_log_open(&error_log, &to_stderr), 0);
    error_log_use(&error_log);
    error_log_set_started(&error_log);
    for (int i = 0; i < 20000; i++)
        log_event(LOG_LEVEL_NOTICE, "line %d of many that nobody reads", i);
    ck_assert_int_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    while (read(reader, text, sizeof(text)) > 0)
        ;
    log_event(LOG_LEVEL_NOTICE, "read again");
    assert_matches(read_some(reader),
                   "warning [0-9]+: [0-9]+ lines could not be written here\n.*: read again\n$");
    error_log_close(&error_log);
    close(reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error_log");
    TCase *tests = tcase_create("error_log");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, line_in_a_file);
    tcase_add_test(tests, start_is_told_on_stderr_too);
    tcase_add_test(tests, stderr_says_it_once);
    tcase_add_loop_test(tests, journal_gets_prefixes, 0, 3);
    tcase_add_test(tests, foreign_journal_stream_is_no_journal);
    tcase_add_test(tests, worker_follows_a_rotation);
    tcase_add_test(tests, failed_reopening_keeps_the_old_file);
    tcase_add_test(tests, line_after_a_torn_one);
    tcase_add_test(tests, unusable_path_is_an_error);
    tcase_add_loop_test(tests, stuck_reader_does_not_stop_us, 0, 2);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
