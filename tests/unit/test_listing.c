/* SPDX-License-Identifier: MIT */
/* Listings as bodies: what is in them and in which order; large ones in pieces; given up. */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct place place;

static char *list(const char *path, enum listing_format format, size_t *length)
{
    struct representation *directory = place_ask(&place, path);
    struct body *body;
    char *text;
    int error;

    ck_assert_int_eq(directory->kind, REPRESENTATION_DIRECTORY);
    ck_assert_int_eq(body_from_listing(&body, place.store, directory, path, strlen(path), format),
                     0);
    ck_assert_int_eq(body->length, -1);
    representation_unref(&directory);
    text = body_read(&place, body, length, &error);
    ck_assert_int_eq(error, 0);
    body_release(body);
    return text;
}

/* The names in a JSON listing, each followed by a slash if it is a directory, and a space. */
static char *names_of(const char *path)
{
    size_t length;
    char *text = list(path, LISTING_JSON, &length), *names = calloc(1, length + 1);

    for (char *at = text; (at = strstr(at, "{\"name\":\"")) != NULL;) {
        const char *end;

        at += 9;
        end = strchr(at, '"');
        strncat(names, at, (size_t)(end - at));
        at = strstr(at, "\"type\":\"");
        strcat(names, at[8] == 'd' ? "/ " : " ");
    }
    free(text);
    return names;
}

START_TEST(order)
{
    char *names;

    place_open(&place, STORE_WATCH);
    place_write(&place, "b.txt", "");
    place_write(&place, "A.txt", "");
    place_write(&place, "a.txt", "");
    place_write(&place, "Z", "");
    place_write(&place, "10", "");
    place_directory(&place, "zz");
    place_directory(&place, "dir");
    names = names_of("/");
    ck_assert_str_eq(names, "dir/ zz/ 10 A.txt a.txt b.txt Z ");
    free(names);
    names = names_of("/dir/");
    ck_assert_str_eq(names, "");
    free(names);
    place_close(&place);
}
END_TEST

/* What would be 404 is not listed. */
START_TEST(only_what_is_served)
{
    struct root_options options;
    char *names;

    place_open(&place, STORE_WATCH);
    place_write(&place, "file", "");
    place_write(&place, ".hidden", "");
    place_directory(&place, ".git");
    place_directory(&place, "d");
    place_write(&place, "d/x", "");
    ck_assert_int_eq(mkfifo(place_path(&place, "fifo"), 0644), 0);
    ck_assert_int_eq(symlink("file", place_path(&place, "l-file")), 0);
    ck_assert_int_eq(symlink("d", place_path(&place, "l-dir")), 0);
    ck_assert_int_eq(symlink("../file", place_path(&place, "d/l-up")), 0);
    ck_assert_int_eq(symlink("nowhere", place_path(&place, "l-dangling")), 0);
    ck_assert_int_eq(symlink("/etc", place_path(&place, "l-out")), 0);
    ck_assert_int_eq(symlink("..", place_path(&place, "l-above")), 0);
    ck_assert_int_eq(symlink("fifo", place_path(&place, "l-fifo")), 0);
    names = names_of("/");
    ck_assert_str_eq(names, "d/ l-dir/ file l-file ");
    free(names);
    names = names_of("/d/");
    ck_assert_str_eq(names, "l-up x ");
    free(names);

    options = place_root_options(&place);
    options.dotfiles = true;
    options.symlinks = ROOT_SYMLINKS_REFUSE;
    ck_assert_int_eq(store_root(place.store, &options, &place.root), 0);
    names = names_of("/");
    ck_assert_str_eq(names, ".git/ d/ .hidden file ");
    free(names);
    place_close(&place);
}
END_TEST

/* The directory is read when it is asked for: nothing of it is cached. */
START_TEST(fresh)
{
    char *names;

    place_open(&place, STORE_WATCH);
    for (unsigned i = 0; i < 20; i++) {
        char name[16], expected[256] = "";

        snprintf(name, sizeof(name), "f%02u", i);
        place_write(&place, name, "");
        names = names_of("/");
        for (unsigned j = 0; j <= i; j++)
            snprintf(expected + strlen(expected), 16, "f%02u ", j);
        ck_assert_str_eq(names, expected);
        free(names);
    }
    place_close(&place);
}
END_TEST

static bool ready;

static void on_ready(void *data)
{
    (void)data;
    ready = true;
}

/* Pieces of bounded size, and all of it. */
START_TEST(large)
{
    enum { FILES = 20000 };
    struct representation *directory;
    struct body_piece piece;
    struct body *body;
    size_t rows = 0, pieces = 0;

    place_open(&place, STORE_WATCH);
    for (unsigned i = 0; i < FILES; i++) {
        char name[64];

        snprintf(name, sizeof(name), "a-file-with-a-longer-name-%06u.html", i);
        ck_assert_int_eq(mknod(place_path(&place, name), S_IFREG | 0644, 0), 0);
    }
    directory = place_ask(&place, "/");
    ck_assert_int_eq(body_from_listing(&body, place.store, directory, "/", 1, LISTING_HTML), 0);
    representation_unref(&directory);
    body->ready = on_ready;
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_LATER);
    while (!ready)
        evix_loop_run(place.loop, EVIX_RUN_ONCE);
    for (body_next(body, &piece); piece.kind == BODY_BYTES; body_next(body, &piece)) {
        pieces++;
        ck_assert_uint_le(piece.length, 64 * 1024);
        for (const char *at = piece.data, *end = at + piece.length;
             (at = memmem(at, (size_t)(end - at), "<tr><td><a ", 11)) != NULL; at++)
            rows++;
    }
    ck_assert_int_eq(piece.kind, BODY_END);
    ck_assert_uint_eq(rows, FILES);
    ck_assert_uint_ge(pieces, FILES * 100 / 65536);
    body_release(body);
    place_close(&place);
}
END_TEST

/* Before, while and after it is read. */
START_TEST(released)
{
    struct representation *directory;
    struct body_piece piece;
    struct body *body;

    place_open(&place, STORE_WATCH);
    for (unsigned i = 0; i < 500; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%u", i);
        place_write(&place, name, "");
    }
    directory = place_ask(&place, "/");
    ck_assert_int_eq(body_from_listing(&body, place.store, directory, "/", 1, LISTING_HTML), 0);
    representation_unref(&directory);
    body->ready = on_ready;
    if (_i > 0)
        body_next(body, &piece);
    if (_i == 2)
        evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    if (_i == 3)
        while (!ready)
            evix_loop_run(place.loop, EVIX_RUN_ONCE);
    body_release(body);
    place_close(&place);
}
END_TEST

/* The directory was deleted after it was found: what is left of it is empty. */
START_TEST(deleted_meanwhile)
{
    struct representation *directory;
    struct body *body;
    size_t length;
    char *text;
    int error;

    place_open(&place, STORE_WATCH);
    place_directory(&place, "d");
    directory = place_ask(&place, "/d/");
    ck_assert_int_eq(body_from_listing(&body, place.store, directory, "/d/", 3, LISTING_JSON), 0);
    ck_assert_int_eq(rmdir(place_path(&place, "d")), 0);
    text = body_read(&place, body, &length, &error);
    ck_assert(error == -ENOENT || (error == 0 && strcmp(text, "[\n]\n") == 0));
    free(text);
    body_release(body);
    representation_unref(&directory);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("listing");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, order);
    tcase_add_test(tcase, only_what_is_served);
    tcase_add_test(tcase, fresh);
    tcase_add_test(tcase, large);
    tcase_add_loop_test(tcase, released, 0, 4);
    tcase_add_test(tcase, deleted_meanwhile);
    return files_run_beneath("listing", tcase);
}
