/* SPDX-License-Identifier: MIT */
/*
 * Every way in which files, folders, links, permissions, times and siblings change. A change may
 * find nothing to change. Used by hunt_staleness.c.
 */
#include "hunt_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Half of the files are larger than what the daemon keeps in memory. */
#define SMALL 64

static unsigned seed, serial;
static int writer = -1; /* kept open over many rounds */
static size_t last_change;
static char changed[128]; /* beneath the root */

static const char *const folders[] = {"a", "b", "a/c", "link", "."};
static const char *const names[] = {"f0", "f1", "index.html", "page.js"};

static const char *const paths[CHANGE_PATHS] = {
    "/",           "/f0",          "/f1",        "/page.js",      "/index.html", "/a",
    "/a/",         "/a/f0",        "/a/f1",      "/a/index.html", "/a/page.js",  "/a/c/",
    "/a/c/f0",     "/a/c/page.js", "/b/",        "/b/f0",         "/b/f1",       "/b/page.js",
    "/link/f0",    "/link/f1",     "/link/",     "/link/page.js", "/to-file",    "/a/c/index.html",
    "/page.js.gz", "/a/f0.gz",     "/none/none", "/f0/",          "/b/c/f0",     "/link/index.html",
};

unsigned change_pick(unsigned below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 10) % below;
}

const char *change_path(unsigned which)
{
    return paths[which];
}

#define PICK(list) (list)[change_pick(sizeof(list) / sizeof((list)[0]))]

/* A file beneath the root, and remembers its name. */
static const char *some_file(void)
{
    static char path[2][160];
    static unsigned turn;

    turn = !turn;
    snprintf(changed, sizeof(changed), "%s/%s", PICK(folders), PICK(names));
    snprintf(path[turn], sizeof(path[0]), "current/%s", changed);
    return path[turn];
}

static void put(const char *path, int flags);

/* Its counterpart in most cases, so that the world does not decay into what is not there. */
static void heal(const char *path)
{
    struct stat status;

    if (change_pick(4) == 0)
        return;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
        (void)!remove(path);
    put(path, O_WRONLY | O_CREAT);
    (void)!chmod(path, 0644);
}

static void heal_folders(void)
{
    static const char *const away[][2] = {{"current/a.away", "current/a"},
                                          {"current/b.away", "current/b"},
                                          {"current/b/c", "current/a/c"}};
    static const char *const which[] = {"current/a", "current/b", "current/a/c"};

    for (unsigned i = 0; i < 3; i++) {
        struct stat status;

        if (change_pick(4) != 0)
            continue;
        if (stat(which[i], &status) < 0)
            (void)!rename(away[i][0], away[i][1]);
        else if ((status.st_mode & 07777) != 0755)
            (void)!chmod(which[i], 0755);
    }
}

static const char *some_sibling(void)
{
    static char path[176];

    snprintf(path, sizeof(path), "%s.gz", some_file());
    return path;
}

/* Never the same twice; of few lengths, so that sizes often agree. */
static const char *new_text(void)
{
    static char text[256];
    int length = snprintf(text, sizeof(text), "%08u", ++serial);

    if (change_pick(2) == 0)
        snprintf(text + length, sizeof(text) - (size_t)length, "%0*d", SMALL, 0);
    return text;
}

/* O_NONBLOCK everywhere: it may have become a FIFO, and nobody reads it. */
static int open_regular(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0644);
    struct stat status;

    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    return -1;
}

static void put(const char *path, int flags)
{
    const char *text = new_text();
    int fd = open_regular(path, flags);

    if (fd < 0)
        return;
    (void)!write(fd, text, strlen(text));
    close(fd);
}

static void put_over(const char *path)
{
    put("new", O_WRONLY | O_CREAT | O_TRUNC);
    (void)!rename("new", path);
}

/* ---- content ---- */

static void rewrite(void)
{
    put(some_file(), O_WRONLY | O_CREAT | O_TRUNC);
}

static void write_in_place(void)
{
    put(some_file(), O_WRONLY);
}

static void append(void)
{
    const char *path = some_file();
    struct stat status;

    if (stat(path, &status) == 0 && status.st_size < 400)
        put(path, O_WRONLY | O_APPEND);
    else
        put(path, O_WRONLY | O_TRUNC);
}

static void cut(void)
{
    const char *path = some_file();
    struct stat status;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        (void)!truncate(path, status.st_size / 2);
}

static void write_through_kept(void)
{
    const char *text = new_text();

    if (writer >= 0 && change_pick(20) == 0) {
        close(writer);
        writer = -1;
    }
    if (writer < 0)
        writer = open_regular(some_file(), O_WRONLY);
    if (writer >= 0)
        (void)!pwrite(writer, text, strlen(text), 0);
}

static void write_through_hard_link(void)
{
    (void)!unlink("hard");
    if (link(some_file(), "hard") == 0)
        put("hard", O_WRONLY);
}

static void write_through_mapping(void)
{
    int fd = open_regular(some_file(), O_RDWR);
    const char *text = new_text();
    struct stat status;
    char *memory;

    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size >= 8) {
        memory = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory != MAP_FAILED) {
            memcpy(memory, text, 8);
            munmap(memory, 8);
        }
    }
    close(fd);
}

static void copy_range(void)
{
    int to = open_regular(some_file(), O_WRONLY), from;

    put("new", O_WRONLY | O_CREAT | O_TRUNC);
    from = open_regular("new", O_RDONLY);
    if (to >= 0 && from >= 0)
        (void)!copy_file_range(from, NULL, to, NULL, 8, 0);
    if (to >= 0)
        close(to);
    if (from >= 0)
        close(from);
}

static void punch_hole(void)
{
    int fd = open_regular(some_file(), O_WRONLY);

    if (fd < 0)
        return;
    (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4);
    close(fd);
}

/* ---- names ---- */

static void replace(void)
{
    put_over(some_file());
}

static void remove_file(void)
{
    (void)!unlink(some_file());
}

static void move_file(void)
{
    const char *from = some_file();

    (void)!rename(from, some_file());
}

static void link_unnamed(void)
{
    int fd = open("current/a", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    const char *text = new_text(), *path = some_file();
    char self[32];

    if (fd < 0)
        return;
    (void)!write(fd, text, strlen(text));
    (void)!unlink(path);
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    (void)!linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    close(fd);
}

static void become_fifo(void)
{
    const char *path = some_file();

    if (unlink(path) == 0)
        (void)!mkfifo(path, 0644);
}

static void become_folder(void)
{
    const char *path = some_file();

    if (rmdir(path) < 0 && unlink(path) == 0)
        (void)!mkdir(path, 0755);
}

/* ---- folders and links ---- */

static void see(const char *path)
{
    snprintf(changed, sizeof(changed), "%s/%s", path, PICK(names));
}

static void rename_folder(void)
{
    static const char *const pairs[][2] = {
        {"current/a", "current/a.away"},
        {"current/b", "current/b.away"},
        {"current/a/c", "current/b/c"},
    };
    const char *const *pair = PICK(pairs);

    if (rename(pair[0], pair[1]) < 0)
        (void)!rename(pair[1], pair[0]);
    see(pair[0] + sizeof("current"));
}

static void exchange_folders(void)
{
    (void)!renameat2(AT_FDCWD, "current/a", AT_FDCWD, "current/b", RENAME_EXCHANGE);
    see(change_pick(2) == 0 ? "a" : "b");
}

static void point(const char *target, const char *path)
{
    (void)!unlink("new-link");
    if (symlink(target, "new-link") == 0)
        (void)!rename("new-link", path);
}

static void swap_link(void)
{
    static const char *const targets[] = {"a", "b", "a/c", "nowhere", "../outside"};

    point(PICK(targets), "current/link");
    see("link");
}

static void swap_file_link(void)
{
    static const char *const targets[] = {"f0", "a/f0", "link/f1", "../../outside/f0", "b"};

    point(PICK(targets), "current/to-file");
    snprintf(changed, sizeof(changed), "to-file");
}

static void deploy(void)
{
    point(change_pick(2) == 0 ? "releases/1" : "releases/2", "current");
    see(PICK(folders));
}

/* ---- permissions and times ---- */

static void change_mode(void)
{
    (void)!chmod(some_file(), change_pick(3) == 0 ? 0600 : 0644);
}

static void change_folder_mode(void)
{
    static const char *const which[] = {"a", "b", "a/c"};
    char path[32];

    snprintf(path, sizeof(path), "current/%s", PICK(which));
    (void)!chmod(path, change_pick(3) == 0 ? 0700 : 0755);
    see(path + sizeof("current"));
}

static void touch(const char *path)
{
    struct timespec times[2] = {{1000000000 + change_pick(1000), 1 + change_pick(1000)}};

    times[1] = times[0];
    (void)!utimensat(AT_FDCWD, path, change_pick(2) == 0 ? NULL : times, 0);
}

static void touch_file(void)
{
    touch(some_file());
}

/* As tar, rsync and git do it who keep a file's time, whatever is in it now. */
static void set_time_back(void)
{
    const char *path = some_file();
    struct timespec times[2] = {{0}};
    struct stat status;

    if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    put(path, O_WRONLY);
    times[0] = times[1] = status.st_mtim;
    (void)!utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

/* Written at the same moment, and in each other's place later. */
static void exchange_twins(void)
{
    static const struct timespec times[2] = {{1000000000, 7}, {1000000000, 7}};
    const char *one = some_file(), *other = some_file();

    put(one, O_WRONLY | O_TRUNC);
    put(other, O_WRONLY | O_TRUNC);
    (void)!utimensat(AT_FDCWD, one, times, AT_SYMLINK_NOFOLLOW);
    (void)!utimensat(AT_FDCWD, other, times, AT_SYMLINK_NOFOLLOW);
    (void)!renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

/* ---- siblings ---- */

static void mode_through_hard_link(void)
{
    (void)!unlink("hard");
    if (link(some_file(), "hard") == 0)
        (void)!chmod("hard", change_pick(2) == 0 ? 0600 : 0644);
}

static void touch_through_hard_link(void)
{
    (void)!unlink("hard");
    if (link(some_file(), "hard") == 0)
        touch("hard");
}

static void write_sibling(void)
{
    put(some_sibling(), O_WRONLY | O_CREAT | O_TRUNC);
}

static void write_sibling_in_place(void)
{
    put(some_sibling(), O_WRONLY);
}

static void replace_sibling(void)
{
    put_over(some_sibling());
}

static void remove_sibling(void)
{
    (void)!unlink(some_sibling());
}

static void touch_sibling(void)
{
    touch(some_sibling());
}

static void sibling_through_hard_link(void)
{
    (void)!unlink("hard");
    if (link(some_sibling(), "hard") < 0)
        return;
    if (change_pick(2) == 0)
        touch("hard");
    else
        put("hard", O_WRONLY);
}

static void link_sibling(void)
{
    static const char *const targets[] = {"f0", "page.js", "../f1", "/nowhere"};

    point(PICK(targets), some_sibling());
}

static void change_sibling_mode(void)
{
    (void)!chmod(some_sibling(), change_pick(3) == 0 ? 0600 : 0644);
}

/* ---- all of them ---- */

#define CHANGE(name)                                                                               \
    {                                                                                              \
        name, #name                                                                                \
    }

static const struct {
    void (*make)(void);
    const char *name;
} changes[] = {
    CHANGE(rewrite),
    CHANGE(write_in_place),
    CHANGE(append),
    CHANGE(cut),
    CHANGE(write_through_kept),
    CHANGE(write_through_hard_link),
    CHANGE(write_through_mapping),
    CHANGE(copy_range),
    CHANGE(punch_hole),
    CHANGE(replace),
    CHANGE(remove_file),
    CHANGE(move_file),
    CHANGE(link_unnamed),
    CHANGE(become_fifo),
    CHANGE(become_folder),
    CHANGE(rename_folder),
    CHANGE(exchange_folders),
    CHANGE(swap_link),
    CHANGE(swap_file_link),
    CHANGE(deploy),
    CHANGE(change_mode),
    CHANGE(change_folder_mode),
    CHANGE(touch_file),
    CHANGE(set_time_back),
    CHANGE(exchange_twins),
    CHANGE(mode_through_hard_link),
    CHANGE(touch_through_hard_link),
    CHANGE(write_sibling),
    CHANGE(write_sibling_in_place),
    CHANGE(replace_sibling),
    CHANGE(remove_sibling),
    CHANGE(touch_sibling),
    CHANGE(sibling_through_hard_link),
    CHANGE(link_sibling),
    CHANGE(change_sibling_mode),
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

static unsigned long made[CHANGES], seen[CHANGES];

const char *change_last(void)
{
    return changes[last_change].name;
}

void change_was_seen(void)
{
    seen[last_change]++;
}

/* The path of what was changed; for an index file now and then that of its folder. */
static unsigned find_path(void)
{
    const char *name = strncmp(changed, "./", 2) == 0 ? changed + 2 : changed;
    size_t length = strlen(name);

    if (length >= 10 && strcmp(name + length - 10, "index.html") == 0 && change_pick(2) == 0)
        length -= 10;
    for (unsigned i = 0; i < CHANGE_PATHS; i++)
        if (strlen(paths[i]) == length + 1 && memcmp(paths[i] + 1, name, length) == 0)
            return i;
    return change_pick(CHANGE_PATHS);
}

unsigned change_make(void)
{
    last_change = change_pick(CHANGES);
    made[last_change]++;
    changes[last_change].make();
    return find_path();
}

void changes_heal(void)
{
    char path[160];

    heal_folders();
    snprintf(path, sizeof(path), "%s", some_file());
    heal(path);
    if (change_pick(2) == 0)
        heal(some_sibling());
}

void changes_begin(unsigned first_seed)
{
    static const char *const folders_made[] = {"releases/1/a",   "releases/1/a/c", "releases/1/b",
                                               "releases/2/a",   "releases/2/a/c", "releases/2/b",
                                               "releases/1/hot", "releases/2/hot", "outside"};

    seed = first_seed;
    for (size_t i = 0; i < sizeof(folders_made) / sizeof(*folders_made); i++)
        if (mkdir(folders_made[i], 0755) < 0 && errno != EEXIST)
            perror(folders_made[i]);
    put("releases/1/hot/page.txt", O_WRONLY | O_CREAT);
    put("releases/2/hot/page.txt", O_WRONLY | O_CREAT);
    put("outside/f0", O_WRONLY | O_CREAT);
}

void changes_end(void)
{
    if (writer >= 0)
        close(writer);
    writer = -1;
    for (size_t i = 0; i < CHANGES; i++)
        printf("  %s: %lu of %lu\n", changes[i].name, seen[i], made[i]);
}
