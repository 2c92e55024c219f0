/* SPDX-License-Identifier: MIT */
/*
 * Hunts for staleness: a change, finished; then requests; each answer must be what the file system
 * says by then. In every freshness mode, at once and step by step, with lookups that were already
 * under way when the change came. EVIXD_HUNT_ROUNDS sets the number of rounds, EVIXD_HUNT_SEED
 * where they begin.
 */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Small enough for some of the files to be kept by descriptor, not by content. */
#define SMALL 64

static const struct way {
    enum store_freshness freshness;
    bool never_inline;
} ways[] = {
    {STORE_STAT, false}, {STORE_STAT, true}, {STORE_WATCH, false},
    {STORE_WATCH, true}, {STORE_OFF, false}, {STORE_OFF, true},
};

static struct place place;
static unsigned seed, serial;
static int writer = -1; /* kept open over many rounds */
static const char *last_change = "nothing";

static const char *const names[] = {"f0", "f1", "index.html", "big"};
static const char *const directories[] = {"a", "b", "a/c", "link", "."};

/* Whatever can be asked for; most of it comes and goes. */
static const char *const paths[] = {
    "/",         "/f0",        "/f1",       "/big",          "/index.html", "/a",        "/a/",
    "/a/f0",     "/a/f1",      "/a/big",    "/a/c/f0",       "/a/c/big",    "/a/c/",     "/a/c",
    "/b/f0",     "/b/f1",      "/b/",       "/b/index.html", "/link/f0",    "/link/big", "/link/",
    "/link",     "/hard",      "/a/hard",   "/to-file",      "/f0/",        "/f1/x",     "/b/c/f0",
    "/a/c/d/f0", "/none/none", "/to-file/", "/a/index.html",
};

static unsigned pick(unsigned below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 10) % below;
}

static const char *some_file(void)
{
    static char name[64];

    snprintf(name, sizeof(name), "%s/%s", directories[pick(COUNT(directories))],
             names[pick(COUNT(names))]);
    return name;
}

/* Never the same twice; of few lengths, so that sizes often agree. */
static const char *new_text(void)
{
    static char text[256];
    int length = snprintf(text, sizeof(text), "%08u", ++serial);

    if (pick(2) == 0)
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%0*d", SMALL, 0);
    return text;
}

/* O_NONBLOCK everywhere: it may have become a FIFO, and nobody reads it. */
static void put(int fd, const char *text)
{
    struct stat status;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    ck_assert_int_eq(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* ---- changes: each may find nothing to change ---- */

static void write_in_place(void)
{
    int fd =
        open(place_path(&place, some_file()), O_WRONLY | O_NONBLOCK | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        return;
    put(fd, new_text());
    close(fd);
}

static void replace(void)
{
    int fd = open(place_path(&place, "../new"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return; /* the root is away */
    put(fd, new_text());
    close(fd);
    (void)!rename(place_path(&place, "../new"), place_path(&place, some_file()));
}

static void delete (void)
{
    (void)!unlink(place_path(&place, some_file()));
}

static void move_file(void)
{
    char from[64];

    snprintf(from, sizeof(from), "%s", some_file());
    (void)!rename(place_path(&place, from), place_path(&place, some_file()));
}

static void rename_directory(void)
{
    static const char *const pairs[][2] = {
        {"a", "away"},  {"away", "a"},  {"a/c", "b/c"},
        {"b/c", "a/c"}, {"a/c", "a/d"}, {"a/d", "a/c"},
    };
    unsigned i = pick(COUNT(pairs));

    (void)!rename(place_path(&place, pairs[i][0]), place_path(&place, pairs[i][1]));
}

static void exchange_directories(void)
{
    (void)!renameat2(AT_FDCWD, place_path(&place, "a"), AT_FDCWD, place_path(&place, "b"),
                     RENAME_EXCHANGE);
}

static void make_directory(void)
{
    static const char *const some[] = {"a", "b", "a/c", "a/c/d", "f0", "none", "a/index.html"};

    (void)!mkdir(place_path(&place, some[pick(COUNT(some))]), 0755);
}

static void remove_directory(void)
{
    static const char *const some[] = {"a/c/d", "f0", "none", "a/c", "a/index.html"};

    (void)!rmdir(place_path(&place, some[pick(COUNT(some))]));
}

static void switch_link(void)
{
    static const char *const targets[] = {"a", "b", "a/c", "nowhere", "../outside"};

    (void)!unlink(place_path(&place, "../new-link"));
    (void)!symlink(targets[pick(COUNT(targets))], place_path(&place, "../new-link"));
    (void)!rename(place_path(&place, "../new-link"), place_path(&place, "link"));
}

static void switch_file_link(void)
{
    static const char *const targets[] = {"f0", "a/f0", "b/big", "link/f0"};

    (void)!unlink(place_path(&place, "../new-link"));
    (void)!symlink(targets[pick(COUNT(targets))], place_path(&place, "../new-link"));
    (void)!rename(place_path(&place, "../new-link"), place_path(&place, "to-file"));
}

/* "hard" has a second name outside, through which it is written. */
static void write_through_hard_link(void)
{
    const char *inside = pick(2) == 0 ? "hard" : "a/hard";
    int fd;

    if (pick(4) == 0)
        (void)!unlink(place_path(&place, inside));
    fd =
        open(place_path(&place, "../outside/h"), O_WRONLY | O_NONBLOCK | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    (void)!link(place_path(&place, "../outside/h"), place_path(&place, inside));
    put(fd, new_text());
    close(fd);
    if (pick(8) == 0)
        (void)!unlink(place_path(&place, "../outside/h"));
}

/* A second name that is made after the file was cached, written through, and gone again. */
static void write_through_new_link(void)
{
    const char *outside = place_path(&place, "../outside/l");
    int fd;

    if (link(place_path(&place, some_file()), outside) < 0)
        return;
    fd = open(outside, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        put(fd, new_text());
        close(fd);
    }
    unlink(outside);
}

static void cut(void)
{
    (void)!truncate(place_path(&place, some_file()), (off_t)pick(12));
}

/* The same length, and the time set back: only the change time tells. */
static void write_and_set_time_back(void)
{
    int fd = open(place_path(&place, some_file()), O_RDWR | O_CLOEXEC);
    struct stat status;
    char text[16];

    if (fd < 0)
        return;
    fstat(fd, &status);
    if (S_ISREG(status.st_mode) && status.st_size >= 8) {
        snprintf(text, sizeof(text), "%08u", ++serial);
        put(fd, text);
        futimens(fd, (struct timespec[2]){status.st_atim, status.st_mtim});
    }
    close(fd);
}

static void write_through_mapping(void)
{
    int fd = open(place_path(&place, some_file()), O_RDWR | O_CLOEXEC);
    struct stat status;
    char *bytes;

    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 8) {
        bytes = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ck_assert_ptr_ne(bytes, MAP_FAILED);
        memcpy(bytes, new_text(), 8);
        munmap(bytes, 8);
    }
    close(fd);
}

/* A writer that does not close, whatever becomes of the name meanwhile. */
static void write_on(void)
{
    if (writer >= 0 && pick(6) == 0) {
        close(writer);
        writer = -1;
    }
    if (writer < 0)
        writer = open(place_path(&place, some_file()), O_WRONLY | O_NONBLOCK | O_CREAT | O_CLOEXEC,
                      0644);
    if (writer >= 0)
        put(writer, new_text());
}

/* A file without a name, which gets one, and is written on after that. */
static void write_nameless(void)
{
    char self[64];

    if (writer >= 0)
        close(writer);
    writer = -1;
    writer = open(place_path(&place, "."), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (writer < 0)
        return;
    put(writer, new_text());
    snprintf(self, sizeof(self), "/proc/self/fd/%d", writer);
    (void)!linkat(AT_FDCWD, self, AT_FDCWD, place_path(&place, some_file()), AT_SYMLINK_FOLLOW);
}

static void change_mode(void)
{
    (void)!chmod(place_path(&place, some_file()), pick(2) == 0 ? 0644 : 0640);
}

static void make_special(void)
{
    (void)!mkfifo(place_path(&place, some_file()), 0644);
}

/* The root is reached by "current" and "releases": both change under it . */
static void switch_root(void)
{
    const char *link = place_path(&place, "../current");
    char releases[256], away[256];

    snprintf(releases, sizeof(releases), "%s/releases", place.path);
    snprintf(away, sizeof(away), "%s/releases-away", place.path);
    if (pick(4) == 0) {
        if (rename(releases, away) < 0)
            (void)!rename(away, releases);
        return;
    }
    snprintf(away, sizeof(away), "%s/new-current", place.path);
    (void)!unlink(away);
    ck_assert_int_eq(symlink(pick(2) == 0 ? "releases/1" : "releases/2", away), 0);
    snprintf(releases, sizeof(releases), "%s/current", place.path);
    ck_assert_int_eq(rename(away, releases), 0);
    (void)link;
}

static const struct change {
    const char *name;
    void (*make)(void);
} changes[] = {
    {"write in place", write_in_place},
    {"write in place", write_in_place},
    {"replace", replace},
    {"replace", replace},
    {"delete", delete},
    {"move a file", move_file},
    {"rename a directory", rename_directory},
    {"exchange directories", exchange_directories},
    {"make a directory", make_directory},
    {"remove a directory", remove_directory},
    {"switch a link to a directory", switch_link},
    {"switch a link to a file", switch_file_link},
    {"write through a hard link", write_through_hard_link},
    {"write through a new hard link", write_through_new_link},
    {"cut", cut},
    {"write and set the time back", write_and_set_time_back},
    {"write through a mapping", write_through_mapping},
    {"write without closing", write_on},
    {"write a nameless file", write_nameless},
    {"change the mode", change_mode},
    {"make a FIFO", make_special},
    {"switch the root", switch_root},
};

/* ---- what the file system says ---- */

enum truth_kind { TRUTH_FILE, TRUTH_REDIRECT, TRUTH_DIRECTORY, TRUTH_ABSENT };

struct truth {
    enum truth_kind kind;
    char text[512];
};

static bool is_beneath(const char *path)
{
    char real[4096], root[4096];

    return realpath(place.folder, root) != NULL && realpath(path, real) != NULL &&
           strncmp(real, root, strlen(root)) == 0 &&
           (real[strlen(root)] == '/' || real[strlen(root)] == '\0');
}

static bool read_truth(const char *path, struct truth *truth)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (fd < 0)
        return false;
    length = read(fd, truth->text, sizeof(truth->text) - 1);
    close(fd);
    ck_assert_int_ge(length, 0);
    truth->text[length] = '\0';
    truth->kind = TRUTH_FILE;
    return true;
}

static void tell_truth(const char *path, struct truth *truth)
{
    char whole[512], index[600];
    struct stat status;
    bool slash = path[strlen(path) - 1] == '/';

    truth->kind = TRUTH_ABSENT;
    snprintf(whole, sizeof(whole), "%s%s", place.folder, path);
    if (stat(whole, &status) < 0 || !is_beneath(whole))
        return;
    if (!S_ISDIR(status.st_mode)) {
        if (!slash && S_ISREG(status.st_mode))
            ck_assert(read_truth(whole, truth));
        return;
    }
    if (!slash) {
        truth->kind = TRUTH_REDIRECT;
        return;
    }
    snprintf(index, sizeof(index), "%sindex.html", whole);
    if (stat(index, &status) < 0 || S_ISDIR(status.st_mode))
        truth->kind = TRUTH_DIRECTORY;
    else if (S_ISREG(status.st_mode))
        ck_assert(read_truth(index, truth));
}

static const char *kind_name(enum representation_kind kind)
{
    static const char *const kinds[] = {"a file", "a directory", "a redirect", "absent"};

    return kinds[kind];
}

static void compare(const char *path, const struct representation *answer, unsigned round)
{
    static const enum representation_kind kinds[] = {
        [TRUTH_FILE] = REPRESENTATION_FILE,
        [TRUTH_REDIRECT] = REPRESENTATION_REDIRECT,
        [TRUTH_DIRECTORY] = REPRESENTATION_DIRECTORY,
        [TRUTH_ABSENT] = REPRESENTATION_ABSENT,
    };
    struct truth truth;
    char *content;

    tell_truth(path, &truth);
    ck_assert_msg(answer->kind == kinds[truth.kind], "round %u, after \"%s\": %s is %s, not %s",
                  round, last_change, path, kind_name(answer->kind), kind_name(kinds[truth.kind]));
    if (truth.kind != TRUTH_FILE)
        return;
    content = file_content(answer);
    ck_assert_msg(strcmp(content, truth.text) == 0,
                  "round %u, after \"%s\": %s is \"%s\", not \"%s\"", round, last_change, path,
                  content, truth.text);
    free(content);
}

/* ---- the hunt ---- */

static void change(void)
{
    const struct change *one = &changes[pick(COUNT(changes))];

    last_change = one->name;
    one->make();
}

static bool is_ready(const struct lookup *lookup)
{
    return lookup->result != NULL;
}

static void on_found(struct lookup *lookup)
{
    ck_assert(is_ready(lookup));
}

static void start(struct lookup *lookup, const char *path)
{
    lookup_start(lookup, place.store, place.root, path, strlen(path), on_found);
}

static void finish(struct lookup *lookup)
{
    while (!is_ready(lookup))
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
}

/* Lookups that were under way when the change came may have either answer; those after it may not.
 */
static void overtake(unsigned round)
{
    const char *path = paths[pick(COUNT(paths))];
    struct lookup before[2], after[3];

    store_refresh(place.store);
    start(&before[0], path);
    start(&before[1], path);
    if (pick(2) == 0)
        evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    change();
    store_refresh(place.store);
    if (pick(2) == 0) /* answered before the others come, with no refresh in between */
        finish(&before[1]);
    for (size_t i = 0; i < COUNT(after); i++)
        start(&after[i], path);
    for (size_t i = 0; i < COUNT(before); i++) {
        finish(&before[i]);
        representation_unref(&before[i].result);
    }
    for (size_t i = 0; i < COUNT(after); i++) {
        finish(&after[i]);
        compare(path, after[i].result, round);
        representation_unref(&after[i].result);
    }
}

static void ask_some(unsigned round)
{
    for (unsigned i = 0; i < 8; i++) {
        const char *path = paths[pick(COUNT(paths))];
        struct representation *answer = place_ask(&place, path);

        compare(path, answer, round);
        representation_unref(&answer);
    }
}

static unsigned setting(const char *name, unsigned fallback)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : fallback;
}

static void populate(const char *folder)
{
    snprintf(place.folder, sizeof(place.folder), "%s/%s", place.path, folder);
    ck_assert_int_eq(mkdir(place.folder, 0755), 0);
    place_directory(&place, "a");
    place_directory(&place, "a/c");
    place_directory(&place, "b");
    place_write(&place, "f0", new_text());
    place_write(&place, "a/f0", new_text());
    place_write(&place, "a/big", new_text());
    place_write(&place, "b/f0", new_text());
    ck_assert_int_eq(symlink("a", place_path(&place, "link")), 0);
    ck_assert_int_eq(symlink("a/f0", place_path(&place, "to-file")), 0);
}

static void begin(const struct way *way)
{
    static const char *const index[] = {"index.html", NULL};
    struct store_options options = place_options(way->freshness);
    struct root_options root;
    char outside[256];

    place_make(&place);
    snprintf(outside, sizeof(outside), "%s/releases", place.path);
    ck_assert_int_eq(mkdir(outside, 0755), 0);
    populate("releases/1");
    populate("releases/2");
    snprintf(outside, sizeof(outside), "%s/releases/outside", place.path);
    ck_assert_int_eq(mkdir(outside, 0755), 0);
    snprintf(place.folder, sizeof(place.folder), "%s/current", place.path);
    ck_assert_int_eq(symlink("releases/1", place.folder), 0);
    options.small = SMALL;
    root = place_root_options(&place);
    root.index = index;
    place_open_with(&place, &options, &root);
    place.store->never_inline = way->never_inline;
}

START_TEST(hunt)
{
    unsigned rounds = setting("EVIXD_HUNT_ROUNDS", 3000);

    seed = setting("EVIXD_HUNT_SEED", 1);
    begin(&ways[_i]);
    for (unsigned round = 0; round < rounds; round++) {
        if (pick(4) == 0) {
            overtake(round);
        } else {
            change();
            ask_some(round);
        }
    }
    if (writer >= 0)
        close(writer);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("freshness");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, hunt, 0, (int)COUNT(ways));
    return files_run_beneath("freshness", tcase);
}
