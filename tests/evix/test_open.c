/* SPDX-License-Identifier: MIT */
/*
 * Opening beneath a directory by steps, held against openat2(2): the same file, or the same error.
 * evix/file.h and src/evix/open_steps.h.
 */
#include "../../src/evix/open_steps.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64];
static int top = -1;

static void make_file(const char *path)
{
    int fd = openat(top, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void make_link(const char *target, const char *path)
{
    ck_assert_int_eq(symlinkat(target, top, path), 0);
}

static void make_loop(void)
{
    make_link("loop2", "loop1");
    make_link("loop1", "loop2");
    make_link("self", "self");
}

/* A chain of as many links as the kernel follows, and one of one more. */
static void make_chain(void)
{
    char name[16], target[16] = "file";
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof(name), "chain%d", i);
        make_link(target, name);
        memcpy(target, name, sizeof(name));
    }
}

static void make_tree(void)
{
    strcpy(folder, "/tmp/evix-open-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[96];
    snprintf(path, sizeof(path), "%s/outside", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
    snprintf(path, sizeof(path), "%s/root", folder);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    top = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(top, 0);
    ck_assert_int_eq(mkdirat(top, "a", 0755), 0);
    ck_assert_int_eq(mkdirat(top, "a/b", 0755), 0);
    ck_assert_int_eq(mkdirat(top, "...", 0755), 0);
    make_file("file");
    make_file("a/file");
    make_file("a/b/deep");
    make_file(".../file");
    make_link("file", "link");
    make_link("a", "folder");
    make_link("a/b/", "slashed");
    make_link("../file", "a/up");
    make_link("../../outside", "a/out");
    make_link("../outside", "out");
    make_link("../root/file", "around");
    make_link("a/b/../../a/./file", "winding");
    make_link(folder, "absolute");
    make_link("/proc/self/cwd", "magic");
    make_link("nowhere", "dangling");
    make_link("file/below", "bent");
    make_loop();
    make_chain();
}

static void remove_tree(void)
{
    char command[96];
    close(top);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *const paths[] = {
    "file",
    "a/file",
    "a/b/deep",
    ".",
    "./",
    "a",
    "a/",
    "a//b///deep",
    "./a/./file",
    "a/.",
    "a/..",
    "a/../file",
    "a/b/../file",
    "a/b/../../file",
    "..",
    "../root/file",
    "a/../../root/file",
    "a/../..",
    "a/./../file",
    "./../file",
    "a/b/./././../../file",
    ".../file",
    "...",
    "/",
    "/file",
    "",
    "missing",
    "missing/file",
    "a/missing",
    "file/",
    "file/x",
    "file/..",
    "file/.",
    "link",
    "link/",
    "folder",
    "folder/",
    "folder/file",
    "folder/b/deep",
    "folder/..",
    "folder/../file",
    "slashed",
    "slashed/deep",
    "slashed/..",
    "a/up",
    "a/out",
    "out",
    "around",
    "winding",
    "absolute",
    "absolute/outside",
    "magic",
    "magic/file",
    "dangling",
    "dangling/x",
    "bent",
    "loop1",
    "self",
    "self/x",
    "chain39",
    "chain40",
    "chain41",
};
static const uint64_t flags[] = {
    O_RDONLY, O_RDONLY | O_DIRECTORY, O_PATH, O_RDONLY | O_NOFOLLOW, O_PATH | O_NOFOLLOW,
};
static const uint64_t resolves[] = {
    RESOLVE_BENEATH,
    RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
};

/* The inode, or a negative errno; closes it. */
static long identity(int fd)
{
    struct stat status;
    if (fd < 0)
        return fd;
    ck_assert_int_eq(fstat(fd, &status), 0);
    close(fd);
    return (long)status.st_ino;
}

static int open_at_once(const char *path, const struct evix_open_how *how)
{
    int fd = (int)syscall(SYS_openat2, top, path, how, sizeof(*how));
    return fd < 0 ? -errno : fd;
}

static void compare(const char *path, const struct evix_open_how *how)
{
    long expected = identity(open_at_once(path, how));
    long found = identity(evix__open_by_steps(top, path, how));
    ck_assert_msg(expected == found, "\"%s\", flags %#jx, resolve %#jx: %ld, not %ld", path,
                  (uintmax_t)how->flags, (uintmax_t)how->resolve, found, expected);
}

START_TEST(test_like_the_system_call)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        for (size_t k = 0; k < sizeof(resolves) / sizeof(resolves[0]); k++) {
            struct evix_open_how how = {.flags = flags[i] | O_CLOEXEC, .resolve = resolves[k]};
            compare(paths[_i], &how);
        }
    }
}
END_TEST

START_TEST(test_too_long)
{
    static char path[PATH_MAX + 8];
    const struct evix_open_how how = {.flags = O_PATH, .resolve = RESOLVE_BENEATH};
    memset(path, 'x', 300);
    compare(path, &how);                             /* one name */
    for (size_t i = 0; i + 2 < sizeof(path); i += 2) /* the last byte stays NUL */
        memcpy(path + i, "a/", 2);
    compare(path, &how);
    for (size_t i = 0; i + 2 < sizeof(path); i += 2)
        memcpy(path + i, "./", 2);
    path[4000] = '\0';
    compare(path, &how);
}
END_TEST

START_TEST(test_what_it_does_not_know_is_refused)
{
    const struct evix_open_how cached = {.resolve = RESOLVE_BENEATH | RESOLVE_CACHED};
    const struct evix_open_how anywhere = {.resolve = RESOLVE_NO_MAGICLINKS};
    ck_assert_int_eq(evix__open_by_steps(top, "file", &cached), -ENOSYS);
    ck_assert_int_eq(evix__open_by_steps(top, "file", &anywhere), -ENOSYS);
}
END_TEST

/* ---- while names are exchanged ---- */

/*
 * Two names change places all the time, and "outside" is what the path must never lead to. What it
 * leads to at rest is within the tree for one state at least; where the other one is refused, or is
 * another file, both have to be seen, else the race was none.
 */
static const struct race {
    const char *left, *right, *path;
    bool refuses_links_only; /* the link is a part of the path in both states */
    bool has_two_ends;
} races[] = {
    /* a folder that is a link out of the tree every other moment */
    {"a", "trap", "a/outside", false, true},
    /* the file itself */
    {"a/leaf", "a/lure", "a/leaf", false, true},
    /* a link that turns */
    {"swing", "swung", "swing/outside", true, true},
    /* a folder that is moved out of the tree, with ".." asked for in it */
    {"a/b", "../b", "a/b/beside", true, false},
};
enum { RACES = sizeof(races) / sizeof(races[0]), ROUNDS = 5000 };

static atomic_bool is_over;

static void *exchange(void *data)
{
    const struct race *race = data;
    while (!atomic_load(&is_over)) {
        (void)!renameat2(top, race->left, top, race->right, RENAME_EXCHANGE);
        sched_yield();
    }
    return NULL;
}

static void make_traps(void)
{
    make_link("..", "trap");
    make_file("a/outside");
    make_file("a/leaf");
    make_link("../../outside", "a/lure");
    make_link("a", "swing");
    make_link("..", "swung");
    ck_assert_int_eq(mkdirat(top, "../b", 0755), 0);
    make_link("../outside", "a/b/beside");
    make_link("../outside", "../b/beside");
}

static long inode_of(const char *path)
{
    return identity(openat(top, path, O_PATH | O_CLOEXEC));
}

/* Rounds until the race has been one; Check ends what does not come to that. */
static void run_race(const struct race *race, uint64_t resolve)
{
    const struct evix_open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = resolve};
    const long outside = inode_of("../outside");
    bool may_be_found = !race->refuses_links_only || !(resolve & RESOLVE_NO_SYMLINKS);
    bool sees_both = race->has_two_ends && may_be_found;
    unsigned found = 0, refused = 0;
    for (int i = 0; i < ROUNDS || (sees_both && (found == 0 || refused == 0)); i++) {
        long result = identity(evix__open_by_steps(top, race->path, &how));
        ck_assert_msg(result != outside, "%s led out in round %d", race->path, i);
        ck_assert_msg(result >= 0 ? may_be_found
                                  : result == -EXDEV || result == -ELOOP || result == -ENOTDIR,
                      "%s: %ld", race->path, result);
        *(result >= 0 ? &found : &refused) += 1;
    }
    ck_assert(found > 0 || !may_be_found);
}

START_TEST(test_no_race_leads_out)
{
    const struct race *race = &races[_i % RACES];
    pthread_t thread;
    make_traps();
    ck_assert_int_eq(pthread_create(&thread, NULL, exchange, (void *)race), 0);
    run_race(race, RESOLVE_BENEATH | (_i < RACES ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS));
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(test_open_at_once)
{
    const struct evix_open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    long expected = identity(openat(top, "file", O_RDONLY | O_CLOEXEC));
    ck_assert_int_eq(identity(evix_open(top, "winding/../file", &how)), -ENOTDIR);
    ck_assert_int_eq(identity(evix_open(top, "link", &how)), expected);
    ck_assert_int_eq(identity(evix_open(top, "out", &how)), -EXDEV);
}
END_TEST

int main(void)
{
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".",
                          &(struct evix_open_how){.flags = O_PATH, .resolve = RESOLVE_BENEATH},
                          sizeof(struct evix_open_how));
    if (fd < 0) {
        printf("skipped: there is no openat2(2) to be held against: %s\n", strerror(errno));
        return 77;
    }
    close(fd);
    Suite *suite = suite_create("open");
    TCase *cases = tcase_create("open");
    tcase_add_checked_fixture(cases, make_tree, remove_tree);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, test_like_the_system_call, 0, sizeof(paths) / sizeof(paths[0]));
    tcase_add_test(cases, test_too_long);
    tcase_add_test(cases, test_what_it_does_not_know_is_refused);
    tcase_add_loop_test(cases, test_no_race_leads_out, 0, 2 * RACES);
    tcase_add_test(cases, test_open_at_once);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
