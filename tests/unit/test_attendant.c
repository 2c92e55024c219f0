/* SPDX-License-Identifier: MIT */
/* A program with a process in between: daemon/attendant.h. */

#include "daemon/attendant.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void exit_with_7(const void *data)
{
    (void)data;
    _exit(7);
}

static void die(const void *data)
{
    (void)data;
    raise(SIGKILL);
}

/* Until the test closes its end. */
static void wait_for_end(const void *data)
{
    char word;
    close(((const int *)data)[0]);
    (void)!read(((const int *)data)[1], &word, 1);
    _exit(3);
}

/* The signals that a program finds blocked; the exit status says how many of a few. */
static void count_blocked(const void *data)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGCHLD};
    sigset_t blocked;
    int count = 0;
    (void)data;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        count += sigismember(&blocked, numbers[i]);
    _exit(count);
}

static int parent_of(pid_t pid)
{
    char path[64];
    int parent = -1;
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    (void)!fscanf(file, "%*d (%*[^)]) %*c %d", &parent);
    fclose(file);
    return parent;
}

/* Reaps the attendant, which is the only child here. */
static int end_of(struct attendant *attendant)
{
    int status;
    pid_t pid = waitpid(attendant->pid, &status, 0);
    ck_assert_int_eq(pid, attendant->pid);
    ck_assert(!attendant_note_end(attendant, pid + 1, &status));
    ck_assert(attendant_note_end(attendant, pid, &status));
    ck_assert(!attendant_note_end(attendant, pid, &status)); /* once */
    return status;
}

START_TEST(exit_status_is_the_programs)
{
    struct attendant attendant;
    attendant_init(&attendant);
    ck_assert_int_eq(attendant_start(&attendant, exit_with_7, NULL), 0);
    int status = end_of(&attendant);
    ck_assert(attendant.has_ended && WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    attendant_fini(&attendant);
}
END_TEST

START_TEST(signal_is_the_programs)
{
    struct attendant attendant;
    attendant_init(&attendant);
    ck_assert_int_eq(attendant_start(&attendant, die, NULL), 0);
    int status = end_of(&attendant);
    ck_assert(attendant.has_ended && WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    attendant_fini(&attendant);
}
END_TEST

START_TEST(program_that_is_let_go_is_adopted)
{
    struct attendant attendant;
    int pair[2], status;
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* by us, since we look */
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    attendant_init(&attendant);
    ck_assert_int_eq(attendant_start(&attendant, wait_for_end, pair), 0);
    ck_assert_int_eq(parent_of(attendant.program), attendant.pid);
    attendant_dismiss(&attendant);
    status = end_of(&attendant);
    ck_assert(!attendant.has_ended && WIFSIGNALED(status));
    ck_assert_int_eq(parent_of(attendant.program), getpid());
    close(pair[0]);
    ck_assert_int_eq(waitpid(attendant.program, &status, 0), attendant.program);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    attendant_fini(&attendant);
}
END_TEST

/* It must hold nothing open whose end somebody waits for. */
START_TEST(attendant_holds_nothing)
{
    struct attendant attendant;
    int watched[2], held[2];
    char word;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, watched), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, held), 0);
    attendant_init(&attendant);
    /* The program waits for the end of `held`, and has closed its own of `watched`... */
    ck_assert_int_eq(attendant_start(&attendant, wait_for_end, held), 0);
    close(watched[1]);
    /* ...with its death; so what is left then could only be the attendant's. */
    kill(attendant.program, SIGKILL);
    ck_assert_int_eq(read(watched[0], &word, 1), 0);
    (void)end_of(&attendant);
    attendant_fini(&attendant);
}
END_TEST

START_TEST(signals_wait_for_the_program)
{
    struct attendant attendant;
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    attendant_init(&attendant);
    ck_assert_int_eq(attendant_start(&attendant, count_blocked, NULL), 0);
    int status = end_of(&attendant);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
    attendant_fini(&attendant);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attendant");
    TCase *tests = tcase_create("attendant");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, exit_status_is_the_programs);
    tcase_add_test(tests, signal_is_the_programs);
    tcase_add_test(tests, program_that_is_let_go_is_adopted);
    tcase_add_test(tests, attendant_holds_nothing);
    tcase_add_test(tests, signals_wait_for_the_program);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK); /* who adopts orphans is a matter of each process */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
