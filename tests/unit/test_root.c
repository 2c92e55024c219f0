/* SPDX-License-Identifier: MIT */
/* Roots: what can be one, what they refuse by name, and being switched, moved and taken away. */
#include "files_fixture.h"

#include "log/log.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static struct place place;

static int add_root(const char *path, const char *const *index, struct root **out)
{
    return store_root(place.store, &(struct root_options){.path = path, .index = index}, out);
}

static void expect(struct root *root, const char *path, const char *text)
{
    place.root = root;
    place_expect(&place, path, text);
    place_expect(&place, path, text);
}

static void expect_status(struct root *root, const char *path, int status)
{
    place.root = root;
    place_expect_status(&place, path, status);
}

START_TEST(refused)
{
    static const char *const slash[] = {"a/b", NULL}, *const empty[] = {"", NULL};
    struct root *root;

    place_open(&place, STORE_WATCH);
    place_write(&place, "file", "");
    ck_assert_int_eq(add_root(place_path(&place, "none"), NULL, &root), -ENOENT);
    ck_assert_ptr_null(root);
    ck_assert_int_eq(add_root(place_path(&place, "file"), NULL, &root), -ENOTDIR);
    ck_assert_int_eq(add_root(place.folder, slash, &root), -EINVAL);
    ck_assert_int_eq(add_root(place.folder, empty, &root), -EINVAL);
    place_close(&place);
}
END_TEST

/* Slashes at the end, relative, the root of all, a symbolic link. */
START_TEST(spellings)
{
    char path[512], file[512];
    struct root *root;

    place_open(&place, _i == 0 ? STORE_STAT : STORE_WATCH);
    place_write(&place, "f", "x");
    snprintf(path, sizeof(path), "%s///", place.folder);
    ck_assert_int_eq(add_root(path, NULL, &root), 0);
    expect(root, "/f", "x");
    ck_assert_int_eq(chdir(place.path), 0);
    ck_assert_int_eq(add_root("root", NULL, &root), 0);
    ck_assert_int_eq(chdir("/"), 0);
    expect(root, "/f", "x");
    ck_assert_int_eq(add_root("/", NULL, &root), 0);
    snprintf(file, sizeof(file), "%s/f", place.folder);
    expect(root, file, "x");
    place.root = root;
    place_expect_kind(&place, "/", REPRESENTATION_DIRECTORY);
    snprintf(path, sizeof(path), "%s/../by-link", place.folder);
    ck_assert_int_eq(symlink("root", path), 0);
    ck_assert_int_eq(add_root(path, NULL, &root), 0);
    expect(root, "/f", "x");
    place_close(&place);
}
END_TEST

/* Two roots with the same names have answers of their own. */
START_TEST(two_roots)
{
    struct root *one = NULL, *two = NULL;

    place_open(&place, _i == 0 ? STORE_STAT : STORE_WATCH);
    place_directory(&place, "1");
    place_directory(&place, "2");
    place_write(&place, "1/f", "one");
    place_write(&place, "2/f", "two");
    ck_assert_int_eq(add_root(place_path(&place, "1"), NULL, &one), 0);
    ck_assert_int_eq(add_root(place_path(&place, "2"), NULL, &two), 0);
    expect(one, "/f", "one");
    expect(two, "/f", "two");
    expect(one, "/f", "one");
    place_write(&place, "1/f", "new");
    expect(two, "/f", "two");
    expect(one, "/f", "new");
    place_close(&place);
}
END_TEST

/* A link is switched; each answer is of one tree or the other. */
START_TEST(switched)
{
    struct root *root;
    char text[32];

    place_open(&place, _i == 0 ? STORE_STAT : STORE_WATCH);
    place_directory(&place, "releases");
    ck_assert_int_eq(symlink("releases/0", place_path(&place, "current")), 0);
    place_directory(&place, "releases/0");
    place_write(&place, "releases/0/f", "0");
    ck_assert_int_eq(add_root(place_path(&place, "current"), NULL, &root), 0);
    for (int i = 1; i < 50; i++) {
        char name[32];

        snprintf(text, sizeof(text), "%d", i - 1);
        expect(root, "/f", text);
        snprintf(name, sizeof(name), "releases/%d", i);
        place_directory(&place, name);
        ck_assert_int_eq(symlink(name, place_path(&place, "new")), 0);
        strcat(name, "/f");
        snprintf(text, sizeof(text), "%d", i);
        place_write(&place, name, text);
        place_rename(&place, "new", "current");
        expect(root, "/f", text);
    }
    place_close(&place);
}
END_TEST

/* The numbers of the watches on what `path` names, as the kernel knows them; -1: none. */
static int watch_number(const char *path)
{
    char name[64], line[512];
    struct stat status;
    unsigned long inode;
    int number, found = -1;
    FILE *file;

    snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", place.store->freshness.watches.fd);
    file = fopen(name, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(stat(path, &status), 0);
    while (found < 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "inotify wd:%x ino:%lx", (unsigned *)&number, &inode) == 2 &&
            inode == status.st_ino)
            found = number;
    fclose(file);
    return found;
}

/*
 * What is above a link that is switched goes on being watched: to watch a directory anew has the
 * kernel visit all names in it that it remembers.
 */
START_TEST(watches_above)
{
    struct root *root;
    int above;

    place_open(&place, STORE_WATCH);
    place_directory(&place, "1");
    place_directory(&place, "2");
    place_write(&place, "1/f", "1");
    place_write(&place, "2/f", "2");
    ck_assert_int_eq(symlink("1", place_path(&place, "current")), 0);
    ck_assert_int_eq(symlink("2", place_path(&place, "new")), 0);
    ck_assert_int_eq(add_root(place_path(&place, "current"), NULL, &root), 0);
    expect(root, "/f", "1");
    above = watch_number(place.path);
    ck_assert_int_ge(above, 0);
    place_rename(&place, "new", "current");
    expect(root, "/f", "2");
    ck_assert_int_eq(watch_number(place.path), above);
    ck_assert_int_ge(watch_number(place_path(&place, "2")), 0);
    ck_assert_int_lt(watch_number(place_path(&place, "1")), 0);
    place_close(&place);
}
END_TEST

/* Away, and back, and another in its place; also what is above it. */
START_TEST(moved)
{
    struct root *root;

    place_open(&place, _i == 0 ? STORE_STAT : STORE_WATCH);
    place_directory(&place, "up");
    place_directory(&place, "up/site");
    place_write(&place, "up/site/f", "first");
    ck_assert_int_eq(add_root(place_path(&place, "up/site"), NULL, &root), 0);
    expect(root, "/f", "first");
    expect_status(root, "/none", 404);
    place_rename(&place, "up/site", "up/away");
    expect_status(root, "/f", 404);
    expect_status(root, "/", 404);
    place_directory(&place, "up/site");
    place_write(&place, "up/site/f", "second");
    expect(root, "/f", "second");
    place_rename(&place, "up", "gone");
    expect_status(root, "/f", 404);
    place_rename(&place, "gone", "up");
    expect(root, "/f", "second");
    place_write(&place, "up/site/none", "now");
    expect(root, "/none", "now");
    place_close(&place);
}
END_TEST

/* A directory on the way that may be passed but not read can't be watched: so it is looked at. */
START_TEST(unreadable_above)
{
    struct root *root;

    if (getuid() != 0)
        return;
    place_open(&place, STORE_WATCH);
    ck_assert_int_eq(chmod(place.path, 0711), 0);
    place_directory(&place, "site");
    place_write(&place, "site/f", "first");
    ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(add_root(place_path(&place, "site"), NULL, &root), 0);
    ck_assert(root->by_stat);
    expect(root, "/f", "first");
    ck_assert_int_eq(seteuid(0), 0);
    place_rename(&place, "site", "away");
    ck_assert_int_eq(seteuid(65534), 0);
    expect_status(root, "/f", 404);
    ck_assert_int_eq(seteuid(0), 0);
    place_close(&place);
}
END_TEST

static enum log_level root_level;
static unsigned root_lines;
static char root_line[LOG_LINE_BYTES + 1];

static void on_root_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    root_level = level;
    memcpy(root_line, line, length + 1);
    root_lines++;
}

/* A root that fails is no absence: not 404, said once, and not remembered. */
START_TEST(root_that_fails)
{
    struct root_options root;
    struct store_options options = place_options((enum store_freshness)_i);
    char link[sizeof(place.folder) + 8];

    log_set_sink(on_root_line, NULL);
    place_make(&place);
    place_write(&place, "a", "x");
    snprintf(link, sizeof(link), "%s.link", place.folder);
    ck_assert_int_eq(symlink(place.folder, link), 0);
    root = place_root_options(&place);
    root.path = link;
    place_open_with(&place, &options, &root);
    place_expect(&place, "/a", "x");
    ck_assert_int_eq(unlink(link), 0);
    place_expect_status(&place, "/a", 404); /* is not there */
    ck_assert_uint_eq(root_lines, 0);
    ck_assert_int_eq(symlink(link, link), 0);
    place_expect_status(&place, "/a", 500);
    place_expect_status(&place, "/b", 500);
    ck_assert_uint_eq(root_lines, 1);
    ck_assert_int_eq(root_level, LOG_LEVEL_ERROR);
    ck_assert_ptr_nonnull(strstr(root_line, link));
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(symlink(place.folder, link), 0);
    place_expect(&place, "/a", "x");
    place_expect_status(&place, "/b", 404);
    ck_assert_uint_eq(root_lines, 2);
    ck_assert_int_eq(root_level, LOG_LEVEL_NOTICE);
    ck_assert_int_eq(unlink(link), 0);
    place_close(&place);
    log_set_sink(NULL, NULL);
}
END_TEST

static const struct {
    const char *path;
    int status; /* 0: let through */
} names[] = {
    {"/", 0},
    {"/a", 0},
    {"/a/", 0},
    {"/a..b", 0},
    {"/..", 404},
    {"/.", 404},
    {"/a/..", 404},
    {"/a/../b", 404},
    {"/.x", 404},
    {"/a/.x", 404},
    {"/...", 404},
    {"/.well-known", 0},
    {"/.well-known/", 0},
    {"/.well-known/a", 0},
    {"/a/.well-known", 404},
    {"/.well-known2", 404},
    {"/.WELL-KNOWN", 404},
    {"", 404},
    {"a", 404},
};

START_TEST(by_name)
{
    struct refusal refusal = {.status = 0};
    bool refuses;

    place_open(&place, STORE_OFF);
    refuses = root_refuses(place.root, names[_i].path, strlen(names[_i].path), &refusal);
    ck_assert_msg(refuses == (names[_i].status != 0), "%s", names[_i].path);
    ck_assert_int_eq(refusal.status, names[_i].status);
    ck_assert_int_eq(refusal.reason != NULL, refuses);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("root");

    tcase_add_test(tcase, refused);
    tcase_add_loop_test(tcase, spellings, 0, 2);
    tcase_add_loop_test(tcase, two_roots, 0, 2);
    tcase_add_loop_test(tcase, switched, 0, 2);
    tcase_add_test(tcase, watches_above);
    tcase_add_loop_test(tcase, moved, 0, 2);
    tcase_add_test(tcase, unreadable_above);
    tcase_add_loop_test(tcase, by_name, 0, (int)COUNT(names));
    tcase_add_loop_test(tcase, root_that_fails, STORE_WATCH, STORE_OFF + 1);
    return files_run_beneath("root", tcase);
}
