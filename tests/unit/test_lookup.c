/* SPDX-License-Identifier: MIT */
/* Lookups: each rule of what a path names, in each freshness mode, at once and step by step. */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Every test runs in all of these. */
static const struct way {
    enum store_freshness freshness;
    bool never_inline; /* every step is an operation of the loop */
} ways[] = {
    {STORE_STAT, false}, {STORE_STAT, true}, {STORE_WATCH, false},
    {STORE_WATCH, true}, {STORE_OFF, false}, {STORE_OFF, true},
};

static struct place place;

static void begin_with(const struct way *way, enum root_symlinks symlinks, bool dotfiles)
{
    struct store_options options = place_options(way->freshness);
    struct root_options root;

    place_make(&place);
    root = place_root_options(&place);
    root.symlinks = symlinks;
    root.dotfiles = dotfiles;
    place_open_with(&place, &options, &root);
    place.store->never_inline = way->never_inline;
}

static void begin(int i)
{
    begin_with(&ways[i], ROOT_SYMLINKS_BENEATH, false);
}

/* What is asked twice is answered twice the same: the second time perhaps from the cache. */
static void expect(const char *path, const char *text)
{
    place_expect(&place, path, text);
    place_expect(&place, path, text);
}

static void expect_status(const char *path, int status)
{
    place_expect_status(&place, path, status);
    place_expect_status(&place, path, status);
}

START_TEST(files)
{
    struct representation *answer;

    begin(_i);
    place_write(&place, "a.txt", "hello\n");
    place_directory(&place, "dir");
    place_write(&place, "dir/b.css", "body{}");
    place_write(&place, "empty", "");
    expect("/a.txt", "hello\n");
    expect("/dir/b.css", "body{}");
    expect("/empty", "");
    answer = place_ask(&place, "/a.txt");
    ck_assert_uint_eq(answer->size, 6);
    ck_assert_ptr_nonnull(answer->bytes);
    ck_assert_int_eq(answer->fd, -1);
    ck_assert_str_eq(answer->media_type, "text/plain; charset=utf-8");
    ck_assert_uint_eq(answer->media_type_length, strlen(answer->media_type));
    ck_assert_uint_eq(answer->etag_length, strlen(answer->etag));
    representation_unref(&answer);
    ck_assert_ptr_null(answer);
    place_close(&place);
}
END_TEST

START_TEST(fields)
{
    struct representation *answer;
    char expected[512];

    begin(_i);
    place_write(&place, "a.html", "<p>");
    ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "a.html"),
                               (struct timespec[2]){{784111777, 0}, {784111777, 0}}, 0),
                     0);
    answer = place_ask(&place, "/a.html");
    snprintf(expected, sizeof(expected),
             "Content-Type: text/html; charset=utf-8\r\nContent-Length: 3\r\n"
             "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: %s\r\n"
             "Accept-Ranges: bytes\r\n",
             answer->etag);
    ck_assert_str_eq(answer->fields, expected);
    ck_assert_uint_eq(answer->fields_length, strlen(expected));
    ck_assert_int_eq(answer->modified, 784111777);
    representation_unref(&answer);
    place_close(&place);
}
END_TEST

/* Whatever the times are, the file is served. */
START_TEST(odd_times)
{
    const int64_t times[] = {-1, 0, 1, 4102444800, INT64_C(253402300800)};

    begin(_i);
    for (size_t i = 0; i < COUNT(times); i++) {
        struct representation *answer;
        struct timespec both[2] = {{times[i], 0}, {times[i], 0}};

        place_write(&place, "f", "x");
        if (utimensat(AT_FDCWD, place_path(&place, "f"), both, 0) < 0)
            continue; /* beyond what the file system can store */
        answer = place_ask(&place, "/f");
        ck_assert_int_eq(answer->kind, REPRESENTATION_FILE);
        ck_assert_int_eq(answer->modified, -1);
        ck_assert_ptr_null(strstr(answer->fields, "Last-Modified"));
        representation_unref(&answer);
    }
    place_close(&place);
}
END_TEST

/* Around each border: of what is small, and of pages . */
START_TEST(borders)
{
    const size_t sizes[] = {0, 1, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 300000};

    begin(_i);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct representation *answer;
        char *first, *second, name[32];

        snprintf(name, sizeof(name), "f%zu", sizes[i]);
        place_fill(&place, name, sizes[i], (unsigned)i);
        snprintf(name, sizeof(name), "/f%zu", sizes[i]);
        answer = place_ask(&place, name);
        ck_assert_uint_eq(answer->size, sizes[i]);
        ck_assert_int_eq(answer->bytes != NULL, sizes[i] <= 65536);
        ck_assert_int_eq(answer->fd >= 0, sizes[i] > 65536);
        first = file_content(answer);
        representation_unref(&answer);
        answer = place_ask(&place, name);
        second = file_content(answer);
        ck_assert_mem_eq(first, second, sizes[i]);
        representation_unref(&answer);
        free(first);
        free(second);
    }
    place_close(&place);
}
END_TEST

START_TEST(directories)
{
    struct representation *answer;

    begin(_i);
    place_expect_kind(&place, "/", REPRESENTATION_DIRECTORY);
    place_directory(&place, "d");
    place_expect_kind(&place, "/d", REPRESENTATION_REDIRECT);
    place_expect_kind(&place, "/d", REPRESENTATION_REDIRECT);
    answer = place_ask(&place, "/d/");
    ck_assert_int_eq(answer->kind, REPRESENTATION_DIRECTORY);
    ck_assert_int_ge(answer->fd, 0);
    representation_unref(&answer);
    place_write(&place, "d/index.htm", "second");
    expect("/d/", "second");
    place_write(&place, "d/index.html", "first");
    expect("/d/", "first");
    place_unlink(&place, "d/index.html");
    place_directory(&place, "d/index.html"); /* a directory by that name is no index */
    expect("/d/", "second");
    place_unlink(&place, "d/index.htm");
    place_expect_kind(&place, "/d/", REPRESENTATION_DIRECTORY);
    place_write(&place, "index.html", "top");
    expect("/", "top");
    expect_status("/none/", 404);
    place_close(&place);
}
END_TEST

/* */
START_TEST(slash_behind_a_file)
{
    begin(_i);
    place_write(&place, "file.txt", "x");
    expect_status("/file.txt/", 404);
    expect_status("/file.txt/more", 404);
    expect_status("/file.txt/index.html", 404);
    expect("/file.txt", "x");
    place_unlink(&place, "file.txt");
    place_directory(&place, "file.txt");
    place_expect_kind(&place, "/file.txt/", REPRESENTATION_DIRECTORY);
    expect_status("/file.txt/more", 404);
    place_write(&place, "file.txt/more", "y");
    expect("/file.txt/more", "y");
    place_close(&place);
}
END_TEST

START_TEST(long_names)
{
    char path[PATH_MAX + 300];

    begin(_i);
    path[0] = '/';
    memset(path + 1, 'n', 300);
    path[256] = '\0';
    expect_status(path, 404); /* 255 is a name that may be */
    memset(path + 1, 'n', 300);
    path[257] = '\0';
    expect_status(path, 404);
    for (size_t i = 0; i < sizeof(path); i++)
        path[i] = i % 100 == 0 ? '/' : 'n';
    path[PATH_MAX - 20] = '\0';
    expect_status(path, 404);
    path[PATH_MAX - 20] = 'n';
    path[PATH_MAX] = '\0';
    expect_status(path, 404);
    path[PATH_MAX] = '/';
    path[PATH_MAX + 1] = '\0';
    expect_status(path, 404);
    path[PATH_MAX + 1] = 'n';
    path[sizeof(path) - 1] = '\0';
    expect_status(path, 404);
    place_close(&place);
}
END_TEST

/* The longest that can be, with the root's path before it. */
START_TEST(deep_paths)
{
    char path[PATH_MAX], above[PATH_MAX];
    size_t length = 0;

    begin(_i);
    ck_assert_int_eq(chdir(place.folder), 0);
    while (length + 202 < PATH_MAX - 100) {
        char name[201];

        memset(name, 'd', 200);
        name[200] = '\0';
        ck_assert_int_eq(mkdir(name, 0755), 0);
        ck_assert_int_eq(chdir(name), 0);
        path[length++] = '/';
        memcpy(path + length, name, 200);
        length += 200;
        path[length] = '\0';
    }
    ck_assert_int_eq(close(creat("f", 0644)), 0);
    strcpy(above, path);
    strcpy(path + length, "/f");
    expect(path, "");
    place_expect_kind(&place, above, REPRESENTATION_REDIRECT);
    ck_assert_int_eq(chdir("/"), 0);
    place_close(&place);
}
END_TEST

/* Makes a path of `length` bytes, the slash before it included, in the current directory. */
static void make_longest(char *path, size_t length)
{
    size_t at = 0;

    while (at + 250 < length) {
        path[at++] = '/';
        memset(path + at, 'd', 200);
        path[at + 200] = '\0';
        ck_assert_int_eq(mkdir(path + at, 0755), 0);
        ck_assert_int_eq(chdir(path + at), 0);
        at += 200;
    }
    /* A directory, so that the last name is short. */
    path[at++] = '/';
    memset(path + at, 'e', length - at - 2);
    path[length - 2] = '\0';
    ck_assert_int_eq(mkdir(path + at, 0755), 0);
    ck_assert_int_eq(chdir(path + at), 0);
    strcpy(path + length - 2, "/f");
    ck_assert_uint_eq(strlen(path), length);
}

/* What nftw(3) can't, as the paths are too long: from the current directory up, which has an "f".
 */
static void remove_longest(char *path)
{
    ck_assert_int_eq(unlink("f"), 0);
    for (char *slash; (slash = strrchr(path, '/')) != NULL; *slash = '\0') {
        ck_assert_int_eq(chdir(".."), 0);
        ck_assert_int_eq(rmdir(slash + 1), 0);
    }
    ck_assert_int_eq(chdir("/"), 0);
}

/*
 * A path that openat2(2) takes is found, however long the names of index files are; the folder
 * above has none, since with such a name the path would be too long, and so is itself.
 */
START_TEST(longest_paths)
{
    char name[NAME_MAX + 1], path[PATH_MAX + 8];
    const char *const index[] = {"index.html", name, NULL};
    struct store_options options = place_options(ways[_i].freshness);
    struct root_options root;

    memset(name, 'i', NAME_MAX);
    name[NAME_MAX] = '\0';
    place_make(&place);
    root = place_root_options(&place);
    root.index = index;
    root.precompressed = true;
    place_open_with(&place, &options, &root);
    place.store->never_inline = ways[_i].never_inline;
    ck_assert_int_eq(chdir(place.folder), 0);
    make_longest(path, PATH_MAX);
    ck_assert_int_eq(close(creat("f", 0644)), 0);
    expect(path, "");
    path[PATH_MAX - 1] = '\0';
    place_expect_kind(&place, path, REPRESENTATION_DIRECTORY);
    place_expect_kind(&place, path, REPRESENTATION_DIRECTORY);
    path[PATH_MAX - 2] = '\0';
    place_expect_kind(&place, path, REPRESENTATION_REDIRECT);
    path[PATH_MAX - 2] = '/';
    strcpy(path + PATH_MAX - 1, "fg");
    expect_status(path, 404);
    path[PATH_MAX - 2] = '\0';
    remove_longest(path);
    place_close(&place);
}
END_TEST

/* Names are bytes, and only "." and ".." are special. */
START_TEST(odd_names)
{
    static const char *const names[] = {
        "x..",  "a..b", "+x.css",   "a+b.txt", "a b.txt", "a\nb",      "a\\b", "tab\tx",
        "\xff", "100%", "a?b",      "a#b",     "a:b",     "\"quote\"", "<b>",  "&amp;",
        "\x01", "\x7f", "\xc3\xa4", "~",       "*",       "'",         "%00",  "-rf",
    };

    begin(_i);
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[64];

        snprintf(path, sizeof(path), "/%s", names[i]);
        place_write(&place, names[i], path);
        expect(path, path);
    }
    place_close(&place);
}
END_TEST

/* */
START_TEST(dotfiles)
{
    begin(_i);
    place_write(&place, ".htpasswd", "secret");
    place_directory(&place, ".git");
    place_write(&place, ".git/config", "secret");
    place_directory(&place, "a");
    place_directory(&place, "a/.b");
    place_write(&place, "a/.b/c", "secret");
    place_directory(&place, ".well-known");
    place_write(&place, ".well-known/security.txt", "Contact");
    place_write(&place, ".well-known/.hidden", "secret");
    place_directory(&place, "a/.well-known");
    place_write(&place, "a/.well-known/x", "secret");
    place_write(&place, ".well-knownx", "secret");
    expect_status("/.htpasswd", 404);
    expect_status("/.git/config", 404);
    expect_status("/.git", 404);
    expect_status("/.git/", 404);
    expect_status("/a/.b/c", 404);
    expect_status("/.well-known/.hidden", 404);
    expect_status("/a/.well-known/x", 404);
    expect_status("/.well-knownx", 404);
    expect("/.well-known/security.txt", "Contact");
    place_expect_kind(&place, "/.well-known/", REPRESENTATION_DIRECTORY);
    expect_status("/..", 404);
    expect_status("/../root/a", 404);
    expect_status("/a/../a", 404);
    expect_status("/.", 404);
    place_close(&place);
}
END_TEST

START_TEST(dotfiles_allowed)
{
    begin_with(&ways[_i], ROOT_SYMLINKS_BENEATH, true);
    place_write(&place, ".htaccess", "shown");
    place_write(&place, "..x", "two");
    place_write(&place, "...", "three");
    place_directory(&place, "d");
    expect("/.htaccess", "shown");
    expect("/..x", "two"); /* */
    expect("/...", "three");
    expect_status("/..", 404);
    expect_status("/d/../..", 404);
    expect_status("/d/../.htaccess", 404);
    expect_status("/./.htaccess", 404);
    place_close(&place);
}
END_TEST

/* A root below a hidden directory is a root as any other. */
START_TEST(dotfiles_above_the_root)
{
    struct store_options options = place_options(ways[_i].freshness);
    struct root_options root;

    place_make(&place);
    ck_assert_int_eq(mkdir(place_path(&place, ".cache"), 0755), 0);
    strcat(place.folder, "/.cache");
    root = place_root_options(&place);
    place_open_with(&place, &options, &root);
    place_write(&place, "f", "x");
    expect("/f", "x");
    place_close(&place);
}
END_TEST

/* Nothing of that is read, and nothing waits. */
START_TEST(special_files)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    begin(_i);
    ck_assert_int_eq(mkfifo(place_path(&place, "fifo"), 0644), 0);
    place_directory(&place, "d");
    ck_assert_int_eq(mkfifo(place_path(&place, "d/index.html"), 0644), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", place_path(&place, "socket"));
    ck_assert_int_eq(bind(fd, (const void *)&address, sizeof(address)), 0);
    expect_status("/fifo", 404);
    expect_status("/d/", 404);
    expect_status("/socket", 404);
    expect_status("/fifo/x", 404);
    if (mknod(place_path(&place, "null"), S_IFCHR | 0644, (dev_t)0x103) == 0)
        expect_status("/null", 404);
    place_unlink(&place, "fifo");
    place_write(&place, "fifo", "file");
    expect("/fifo", "file");
    place_unlink(&place, "d/index.html");
    place_write(&place, "d/index.html", "index");
    expect("/d/", "index");
    close(fd);
    place_close(&place);
}
END_TEST

static void make_links(void)
{
    place_directory(&place, "d");
    place_write(&place, "d/f", "inside");
    ck_assert_int_eq(close(creat(place_path(&place, "../outside"), 0644)), 0);
    ck_assert_int_eq(mkdir(place_path(&place, "../beside"), 0755), 0);
    ck_assert_int_eq(close(creat(place_path(&place, "../beside/g"), 0644)), 0);
    ck_assert_int_eq(symlink("d/f", place_path(&place, "to-file")), 0);
    ck_assert_int_eq(symlink("d", place_path(&place, "to-directory")), 0);
    ck_assert_int_eq(symlink("../d/f", place_path(&place, "d/by-parent")), 0);
    ck_assert_int_eq(symlink("../outside", place_path(&place, "to-outside")), 0);
    ck_assert_int_eq(symlink("../beside", place_path(&place, "to-beside")), 0);
    ck_assert_int_eq(symlink("/etc/hostname", place_path(&place, "absolute")), 0);
    ck_assert_int_eq(symlink("/proc/self/root/etc/hostname", place_path(&place, "magic")), 0);
    ck_assert_int_eq(symlink("loop", place_path(&place, "loop")), 0);
    ck_assert_int_eq(symlink("nowhere", place_path(&place, "dangling")), 0);
}

START_TEST(symlinks_beneath)
{
    begin(_i);
    make_links();
    expect("/to-file", "inside");
    expect("/to-directory/f", "inside");
    place_expect_kind(&place, "/to-directory", REPRESENTATION_REDIRECT);
    place_expect_kind(&place, "/to-directory/", REPRESENTATION_DIRECTORY);
    expect("/d/by-parent", "inside");
    expect_status("/to-outside", 404);
    expect_status("/to-beside/g", 404);
    expect_status("/to-beside/", 404);
    expect_status("/absolute", 404);
    expect_status("/magic", 404);
    expect_status("/loop", 404);
    expect_status("/loop/x", 404);
    expect_status("/dangling", 404);
    place_write(&place, "nowhere", "somewhere");
    expect("/dangling", "somewhere");
    place_close(&place);
}
END_TEST

START_TEST(symlinks_refused)
{
    begin_with(&ways[_i], ROOT_SYMLINKS_REFUSE, false);
    make_links();
    expect("/d/f", "inside");
    expect_status("/to-file", 404);
    expect_status("/to-directory/f", 404);
    expect_status("/to-directory/", 404);
    expect_status("/to-outside", 404);
    expect_status("/loop", 404);
    place_unlink(&place, "to-file");
    place_write(&place, "to-file", "real");
    expect("/to-file", "real");
    place_close(&place);
}
END_TEST

START_TEST(symlinks_followed)
{
    begin_with(&ways[_i], ROOT_SYMLINKS_FOLLOW, false);
    make_links();
    expect("/to-file", "inside");
    expect("/to-outside", "");
    expect("/to-beside/g", "");
    place_expect_kind(&place, "/to-beside/", REPRESENTATION_DIRECTORY);
    expect_status("/magic", 404);
    expect_status("/loop", 404);
    expect_status("/../outside", 404);
    place_close(&place);
}
END_TEST

/* Without rights, as another user: tests run as root as well. */
START_TEST(permissions)
{
    begin(_i);
    ck_assert_int_eq(chmod(place.path, 0755), 0);
    place_write(&place, "f", "x");
    place_directory(&place, "d");
    place_write(&place, "d/f", "y");
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    expect("/f", "x");
    expect("/d/f", "y");
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(place_path(&place, "f"), 0), 0);
    ck_assert_int_eq(chmod(place_path(&place, "d"), 0), 0);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    expect_status("/f", 403);
    expect_status("/d/f", 403);
    expect_status("/d/", 403);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(place_path(&place, "f"), 0644), 0);
    ck_assert_int_eq(chmod(place_path(&place, "d"), 0311), 0); /* to be passed, not read */
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    expect("/f", "x");
    expect("/d/f", "y");
    expect_status("/d/", 403);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(place_path(&place, "d"), 0755), 0); /* to be removed */
    place_close(&place);
}
END_TEST

/* What was appended is there, with the length of what is sent. */
START_TEST(append_and_ask)
{
    begin(_i);
    place_fill(&place, "log", 70000, 1);
    for (int i = 0; i < 50; i++) {
        struct representation *answer = place_ask(&place, "/log");
        struct stat status;
        int fd;

        ck_assert_uint_eq(answer->size, 70000u + (unsigned)i);
        ck_assert_int_eq(fstat(answer->fd, &status), 0);
        ck_assert_uint_eq((uint64_t)status.st_size, answer->size);
        representation_unref(&answer);
        fd = open(place_path(&place, "log"), O_WRONLY | O_APPEND | O_CLOEXEC);
        ck_assert_int_eq(write(fd, "x", 1), 1);
        close(fd);
    }
    place_close(&place);
}
END_TEST

/* The same size, mtime 1, other bytes: another tag, small or large. */
START_TEST(replaced_with_the_same_time)
{
    const size_t sizes[] = {1000, 100000};
    const struct timespec one[2] = {{1, 0}, {1, 0}};

    begin(_i);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct representation *first, *second;

        place_fill(&place, "f", sizes[i], 1);
        place_fill(&place, "g", sizes[i], 2);
        ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "f"), one, 0), 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "g"), one, 0), 0);
        first = place_ask(&place, "/f");
        place_rename(&place, "g", "f");
        second = place_ask(&place, "/f");
        ck_assert_str_ne(first->etag, second->etag);
        ck_assert_int_eq(second->modified, -1);
        representation_unref(&first);
        representation_unref(&second);
    }
    place_close(&place);
}
END_TEST

/* An answer that is held goes on after the file was replaced. */
START_TEST(held_answers)
{
    struct representation *small, *large;
    char *content;

    begin(_i);
    place_write(&place, "small", "old");
    place_fill(&place, "large", 100000, 1);
    small = place_ask(&place, "/small");
    large = place_ask(&place, "/large");
    place_write(&place, "new", "new");
    place_rename(&place, "new", "small");
    place_unlink(&place, "large");
    place_expect(&place, "/small", "new");
    expect_status("/large", 404);
    ck_assert_mem_eq(small->bytes, "old", 3);
    content = file_content(large);
    ck_assert_uint_eq(strlen(content), 100000);
    free(content);
    representation_unref(&small);
    representation_unref(&large);
    place_close(&place);
}
END_TEST

/* What is in the cache costs nothing: no descriptors, and the same answer again. */
START_TEST(hits)
{
    struct representation *first, *second;

    begin(_i);
    place_write(&place, "f", "x");
    place_write(&place, "index.html", "i");
    ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "f"),
                               (struct timespec[2]){{1000000000, 1}, {1000000000, 1}}, 0),
                     0);
    usleep(30000); /* so that the clock tells this change from a later one (STORE_STAT) */
    first = place_ask(&place, "/f");
    second = place_ask(&place, "/f");
    ck_assert_int_eq(first == second, ways[_i].freshness != STORE_OFF);
    representation_unref(&first);
    representation_unref(&second);
    first = place_ask(&place, "/none");
    second = place_ask(&place, "/none");
    ck_assert_int_eq(first == second, ways[_i].freshness != STORE_OFF);
    representation_unref(&first);
    representation_unref(&second);
    place_close(&place);
}
END_TEST

/*
 * A file system of which nothing is known in advance: no watches, metadata asked for as an
 * operation, and a file that holds less than its size says.
 */
START_TEST(foreign_file_system)
{
    static const char folder[] = "/sys/kernel/mm/transparent_hugepage";
    struct store_options options = place_options(ways[_i].freshness);
    struct root_options root = {.path = folder};
    struct representation *answer;

    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0)
        return;
    place_make(&place);
    place_open_with(&place, &options, &root);
    place.store->never_inline = ways[_i].never_inline;
    ck_assert_int_eq(place.root->by_stat, true);
    answer = place_ask(&place, "/enabled");
    ck_assert_int_eq(answer->kind, REPRESENTATION_FILE);
    ck_assert_uint_gt(answer->size, 5);
    ck_assert_uint_lt(answer->size, 100);
    ck_assert_ptr_nonnull(memchr(answer->bytes, '[', answer->size));
    representation_unref(&answer);
    expect_status("/none", 404);
    place_expect_kind(&place, "/", REPRESENTATION_DIRECTORY);
    place_close(&place);
}
END_TEST

/* Modes belong to the file, not to its name: they can be changed by another. */
START_TEST(mode_by_another_name)
{
    struct representation *answer;

    begin_with(&ways[_i], ROOT_SYMLINKS_BENEATH, false);
    ck_assert_int_eq(mkfifo(place_path(&place, "fifo"), 0644), 0);
    ck_assert_int_eq(link(place_path(&place, "fifo"), place_path(&place, "../other")), 0);
    for (int i = 0; i < 3; i++)
        place_expect_status(&place, "/fifo", 404);
    ck_assert_int_eq(chmod(place_path(&place, "../other"), 0), 0);
    if (geteuid() != 0)
        place_expect_status(&place, "/fifo", 403);
    place_write(&place, "secret", "secret");
    ck_assert_int_eq(unlink(place_path(&place, "../other")), 0);
    ck_assert_int_eq(link(place_path(&place, "secret"), place_path(&place, "../other")), 0);
    ck_assert_int_eq(chmod(place_path(&place, "secret"), 0), 0);
    answer = place_ask(&place, "/secret");
    ck_assert(geteuid() == 0 || answer->status == 403);
    representation_unref(&answer);
    ck_assert_int_eq(chmod(place_path(&place, "../other"), 0644), 0);
    place_expect(&place, "/secret", "secret");
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("lookup");
    const int end = (int)COUNT(ways);

    tcase_add_loop_test(tcase, files, 0, end);
    tcase_add_loop_test(tcase, fields, 0, end);
    tcase_add_loop_test(tcase, odd_times, 0, end);
    tcase_add_loop_test(tcase, borders, 0, end);
    tcase_add_loop_test(tcase, directories, 0, end);
    tcase_add_loop_test(tcase, slash_behind_a_file, 0, end);
    tcase_add_loop_test(tcase, long_names, 0, end);
    tcase_add_loop_test(tcase, deep_paths, 0, end);
    tcase_add_loop_test(tcase, longest_paths, 0, end);
    tcase_add_loop_test(tcase, odd_names, 0, end);
    tcase_add_loop_test(tcase, dotfiles, 0, end);
    tcase_add_loop_test(tcase, mode_by_another_name, 0, end);
    tcase_add_loop_test(tcase, dotfiles_allowed, 0, end);
    tcase_add_loop_test(tcase, dotfiles_above_the_root, 0, end);
    tcase_add_loop_test(tcase, special_files, 0, end);
    tcase_add_loop_test(tcase, symlinks_beneath, 0, end);
    tcase_add_loop_test(tcase, symlinks_refused, 0, end);
    tcase_add_loop_test(tcase, symlinks_followed, 0, end);
    tcase_add_loop_test(tcase, permissions, 0, end);
    tcase_add_loop_test(tcase, append_and_ask, 0, end);
    tcase_add_loop_test(tcase, replaced_with_the_same_time, 0, end);
    tcase_add_loop_test(tcase, held_answers, 0, end);
    tcase_add_loop_test(tcase, hits, 0, end);
    tcase_add_loop_test(tcase, foreign_file_system, 0, end);
    return files_run_beneath("lookup", tcase);
}
