/* SPDX-License-Identifier: MIT */
/* Listings as bodies: what is in them and in which order; large ones in pieces; given up. */
#include "files_fixture.h"

#include "files/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct place place;

/* What came of a listing that was started. */
struct outcome {
    bool is_there;
    int error;
};

static void on_listing(struct listing *listing, int error, void *data)
{
    struct outcome *outcome = data;

    (void)listing;
    ck_assert(!outcome->is_there);
    *outcome = (struct outcome){true, error};
}

static struct listing_options options_for(const char *path, enum listing_format format)
{
    return (struct listing_options){.format = format, .path = path, .path_length = strlen(path)};
}

static struct listing *read_directory(struct representation *directory,
                                      const struct listing_options *options, int *error)
{
    struct outcome outcome = {false, 0};
    struct listing *listing;

    ck_assert_int_eq(directory->kind, REPRESENTATION_DIRECTORY);
    ck_assert_int_eq(listing_start(&listing, place.store, directory, options, on_listing, &outcome),
                     0);
    ck_assert(!outcome.is_there); /* never within the call that starts it */
    while (!outcome.is_there)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    *error = outcome.error;
    return listing;
}

static struct listing *read_listing(const struct listing_options *options, int *error)
{
    struct representation *directory = place_ask(&place, options->path);
    struct listing *listing = read_directory(directory, options, error);

    representation_unref(&directory);
    return listing;
}

static char *list_as(const struct listing_options *options, size_t *length)
{
    int error;
    struct listing *listing = read_listing(options, &error);
    struct body *body;
    char *text;

    ck_assert_int_eq(error, 0);
    body = listing_body(listing);
    ck_assert_int_eq(body->length, -1);
    text = body_read(&place, body, length, &error);
    ck_assert_int_eq(error, 0);
    body_release(body);
    return text;
}

/* The names in a JSON listing, each followed by a slash if it is a directory, and a space. */
static char *names_as(const struct listing_options *options)
{
    size_t length;
    char *text = list_as(options, &length), *names = calloc(1, length + 1);

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

static char *names_of(const char *path)
{
    struct listing_options options = options_for(path, LISTING_JSON);

    return names_as(&options);
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

static void set_modified(const char *name, time_t seconds)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, name), times, 0), 0);
}

/* Directories first and by name where the key does not tell; equals by name in either direction. */
START_TEST(sorted)
{
    static const struct {
        enum listing_key key;
        bool descending;
        const char *names;
    } rows[] = {
        {LISTING_BY_NAME, false, "d1/ d2/ a b c d "}, {LISTING_BY_NAME, true, "d2/ d1/ d c b a "},
        {LISTING_BY_SIZE, false, "d1/ d2/ c b d a "}, {LISTING_BY_SIZE, true, "d1/ d2/ a b d c "},
        {LISTING_BY_TIME, false, "d2/ d1/ d a b c "}, {LISTING_BY_TIME, true, "d1/ d2/ c a b d "},
    };

    place_open(&place, STORE_WATCH);
    place_write(&place, "a", "333");
    place_write(&place, "b", "22");
    place_write(&place, "c", "1");
    place_write(&place, "d", "22");
    place_directory(&place, "d1");
    place_directory(&place, "d2");
    set_modified("a", 2000);
    set_modified("b", 2000);
    set_modified("c", 3000);
    set_modified("d", -5);
    set_modified("d1", 9);
    set_modified("d2", 8);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct listing_options options = options_for("/", LISTING_JSON);
        char *names;

        options.key = rows[i].key;
        options.descending = rows[i].descending;
        names = names_as(&options);
        ck_assert_str_eq(names, rows[i].names);
        free(names);
    }
    place_close(&place);
}
END_TEST

static void tag_of(const struct listing_options *options, char tag[LISTING_ETAG_BYTES])
{
    int error;
    struct listing *listing = read_listing(options, &error);

    ck_assert_int_eq(error, 0);
    listing_etag(listing, tag);
    ck_assert_uint_eq(strlen(tag), 20);
    listing_free(listing);
}

/* The same while nothing changes; another for each change, order and form. */
START_TEST(tags)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    char seen[8][LISTING_ETAG_BYTES], again[LISTING_ETAG_BYTES];

    place_open(&place, STORE_WATCH);
    place_write(&place, "a", "1");
    place_write(&place, "b", "2");
    set_modified("a", 1000);
    tag_of(&options, seen[0]);
    tag_of(&options, again);
    ck_assert_str_eq(again, seen[0]);
    options.format = LISTING_JSON;
    tag_of(&options, seen[1]);
    options.key = LISTING_BY_SIZE;
    tag_of(&options, seen[2]);
    options.descending = true;
    tag_of(&options, seen[3]);
    options = options_for("/", LISTING_HTML);
    place_write(&place, "c", "");
    tag_of(&options, seen[4]);
    place_write(&place, "c", "grown");
    tag_of(&options, seen[5]);
    set_modified("a", 1001);
    tag_of(&options, seen[6]);
    ck_assert_int_eq(rename(place_path(&place, "b"), place_path(&place, "z")), 0);
    tag_of(&options, seen[7]);
    for (size_t i = 0; i < COUNT(seen); i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(seen[i], seen[j]);
    place_close(&place);
}
END_TEST

/* One file by many names: they are what a listing is long by, and a busy disk makes them sooner. */
static void open_with_rows(unsigned count)
{
    char name[64], first[256];

    place_open(&place, STORE_WATCH);
    place_write(&place, "a-file-with-a-longer-name-000000.html", "");
    snprintf(first, sizeof(first), "%s/a-file-with-a-longer-name-000000.html", place.folder);
    for (unsigned i = 1; i < count; i++) {
        snprintf(name, sizeof(name), "a-file-with-a-longer-name-%06u.html", i);
        ck_assert_int_eq(link(first, place_path(&place, name)), 0);
    }
}

/* Pieces of bounded size, and all of it. */
START_TEST(large)
{
    enum { FILES = 5000 };
    struct listing_options options;
    struct body_piece piece;
    int error;
    struct body *body;
    size_t rows = 0, pieces = 0;

    open_with_rows(FILES);
    options = options_for("/", LISTING_HTML);
    body = listing_body(read_listing(&options, &error));
    ck_assert_int_eq(error, 0);
    for (body_next(body, &piece); piece.kind == BODY_BYTES; body_next(body, &piece)) {
        pieces++;
        ck_assert_uint_le(piece.length, 64 * 1024);
        for (const char *at = piece.data, *end = at + piece.length;
             (at = memmem(at, (size_t)(end - at), "<td><a href=\"./", 15)) != NULL; at++)
            rows++;
    }
    ck_assert_int_eq(piece.kind, BODY_END);
    ck_assert_uint_eq(rows, FILES);
    ck_assert_uint_ge(pieces, FILES * 100 / 65536);
    body_release(body);
    place_close(&place);
}
END_TEST

/* Given up before it is read, while it is, or after. */
START_TEST(given_up)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    struct outcome outcome = {false, 0};
    struct representation *directory;
    struct listing *listing;

    place_open(&place, STORE_WATCH);
    for (unsigned i = 0; i < 500; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%u", i);
        place_write(&place, name, "");
    }
    directory = place_ask(&place, "/");
    ck_assert_int_eq(
        listing_start(&listing, place.store, directory, &options, on_listing, &outcome), 0);
    representation_unref(&directory);
    if (_i == 1)
        evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    while (_i == 2 && !outcome.is_there)
        evix_loop_run(place.loop, EVIX_RUN_ONCE);
    if (outcome.is_there)
        listing_free(listing);
    else
        listing_cancel(listing);
    place_close(&place);
}
END_TEST

/* The directory was deleted after it was found: an error, or what is left of it, which is empty. */
START_TEST(deleted_meanwhile)
{
    struct listing_options options = options_for("/d/", LISTING_JSON);
    struct outcome outcome = {false, 0};
    struct representation *directory;
    struct listing *listing;
    struct body *body;
    size_t length;
    char *text;
    int error;

    place_open(&place, STORE_WATCH);
    place_directory(&place, "d");
    directory = place_ask(&place, "/d/");
    ck_assert_int_eq(rmdir(place_path(&place, "d")), 0);
    ck_assert_int_eq(
        listing_start(&listing, place.store, directory, &options, on_listing, &outcome), 0);
    representation_unref(&directory);
    while (!outcome.is_there)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    if (outcome.error == 0) {
        body = listing_body(listing);
        text = body_read(&place, body, &length, &error);
        ck_assert_str_eq(text, "[\n]\n");
        free(text);
        body_release(body);
    } else {
        ck_assert_int_eq(outcome.error, -ENOENT);
        listing_free(listing);
    }
    place_close(&place);
}
END_TEST

static size_t memory_used(void)
{
    return memory_budget_used(&place.store->listings);
}

/* What one listing takes once it was read. */
static size_t memory_of_one(void)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    int error;
    struct listing *listing = read_listing(&options, &error);
    size_t used = memory_used();

    ck_assert_int_eq(error, 0);
    listing_free(listing);
    ck_assert_uint_eq(memory_used(), 0);
    return used;
}

/* A client that reads slowly holds memory: only so much of it in all. */
START_TEST(memory_is_bounded)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    struct outcome outcome = {false, 0};
    struct representation *directory;
    struct listing *listing;
    int error;

    open_with_rows(1);
    listing = read_listing(&options, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_gt(memory_used(), 0);
    place.store->listings.most = memory_used();
    directory = place_ask(&place, "/");
    ck_assert_int_eq(listing_start(&(struct listing *){NULL}, place.store, directory, &options,
                                   on_listing, &outcome),
                     -EBUSY);
    representation_unref(&directory);
    place.store->listings.most = LISTINGS_BYTES;
    listing_free(listing);
    ck_assert_uint_eq(memory_used(), 0);
    listing = read_listing(&options, &error);
    ck_assert_int_eq(error, 0);
    body_release(listing_body(listing));
    ck_assert_uint_eq(memory_used(), 0);
    place_close(&place);
}
END_TEST

/* Those that were all started before the first was read are bounded as well. */
START_TEST(memory_is_bounded_in_a_burst)
{
    enum { LISTINGS = 20, ROOM = 4 };
    struct listing_options options = options_for("/", LISTING_HTML);
    struct outcome outcomes[LISTINGS] = {{false, 0}};
    struct listing *listings[LISTINGS];
    struct representation *directory;
    unsigned read = 0;

    open_with_rows(300);
    place.store->listings.most = ROOM * memory_of_one() + 4096;
    directory = place_ask(&place, "/");
    for (unsigned i = 0; i < LISTINGS; i++)
        ck_assert_int_eq(
            listing_start(&listings[i], place.store, directory, &options, on_listing, &outcomes[i]),
            0);
    representation_unref(&directory);
    for (unsigned i = 0; i < LISTINGS; i++) {
        while (!outcomes[i].is_there)
            ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
        ck_assert_uint_le(memory_used(), place.store->listings.most);
        ck_assert(outcomes[i].error == 0 || outcomes[i].error == -EBUSY);
        read += outcomes[i].error == 0;
    }
    ck_assert_uint_ge(read, 1);
    ck_assert_uint_le(read, ROOM);
    for (unsigned i = 0; i < LISTINGS; i++)
        listing_free(listings[i]);
    ck_assert_uint_eq(memory_used(), 0);
    (void)memory_of_one(); /* there is room again */
    place_close(&place);
}
END_TEST

/* One that would leave nothing to the others is cut, and its page says so. */
START_TEST(too_large_for_the_memory)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    size_t length, rows = 0;
    char *text;

    open_with_rows(1000);
    place.store->listings.most = 146000;
    text = list_as(&options, &length);
    for (const char *at = text; (at = strstr(at, "<td><a href=\"./")) != NULL; at++)
        rows++;
    ck_assert_uint_ge(rows, 256);
    ck_assert_uint_lt(rows, 1000);
    ck_assert_ptr_nonnull(strstr(text, "There are more"));
    free(text);
    ck_assert_uint_eq(memory_used(), 0);
    place_close(&place);
}
END_TEST

/* With no descriptor left but those that are open now. */
static int read_without_descriptors(struct representation *directory)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    struct rlimit before, limit;
    int error, fd = dup(0);

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)fd;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    listing_free(read_directory(directory, &options, &error));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    return error;
}

/* Then what the cache keeps open has to go, and the listing is read after all. */
START_TEST(descriptors)
{
    struct listing_options options = options_for("/", LISTING_HTML);
    struct store_options with_files = place_options(STORE_WATCH);
    struct representation *directory;
    struct root_options root;
    int error;

    place_make(&place);
    root = place_root_options(&place);
    with_files.small = 0; /* each file that is cached keeps its descriptor */
    place_open_with(&place, &with_files, &root);
    place_write(&place, "a", "content");
    listing_free(read_listing(&options, &error)); /* the work pool is there */
    ck_assert_int_eq(error, 0);
    directory = place_ask(&place, "/");
    ck_assert_int_eq(read_without_descriptors(directory), -EMFILE);
    place_expect(&place, "/a", "content");
    ck_assert_int_eq(read_without_descriptors(directory), 0);
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
    tcase_add_test(tcase, sorted);
    tcase_add_test(tcase, tags);
    tcase_add_loop_test(tcase, given_up, 0, 3);
    tcase_add_test(tcase, deleted_meanwhile);
    tcase_add_test(tcase, memory_is_bounded);
    tcase_add_test(tcase, memory_is_bounded_in_a_burst);
    tcase_add_test(tcase, too_large_for_the_memory);
    tcase_add_test(tcase, descriptors);
    return files_run_beneath("listing", tcase);
}
