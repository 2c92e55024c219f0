/* SPDX-License-Identifier: MIT */
/*
 * Precompressed siblings: which are offered, what is cached of them and of their absence, and what
 * makes that untrue; with lookups at once and step by step, in each mode of freshness.
 */
#include "files_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct way {
    enum store_freshness freshness;
    bool never_inline;
} ways[] = {
    {STORE_WATCH, false},
    {STORE_WATCH, true},
    {STORE_STAT, false},
    {STORE_STAT, true},
};

static struct place place;
static enum coding wanted;
static unsigned offered, asked;

static enum coding choose(struct lookup *lookup, unsigned available)
{
    ck_assert_uint_ne(available, 0);
    ck_assert_ptr_null(lookup->result);
    offered |= available;
    asked++;
    return available & CODING_BIT(wanted) ? wanted : CODING_NONE;
}

static void on_found(struct lookup *lookup)
{
    ck_assert_ptr_nonnull(lookup->result);
}

/* A request that wants one coding. The caller drops the reference. */
static struct representation *ask(const char *path, enum coding coding)
{
    struct lookup_target target = {place.store, place.root, path, strlen(path)};
    struct lookup lookup;

    wanted = coding;
    offered = asked = 0;
    store_refresh(place.store);
    if (!lookup_negotiate(&lookup, &target, choose, on_found))
        ck_assert_ptr_null(lookup.result);
    while (lookup.result == NULL)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    ck_assert_ptr_null(lookup.whole);
    return lookup.result;
}

static void expect(const char *path, enum coding coding, const char *text, enum coding got)
{
    struct representation *answer = ask(path, coding);
    char *content;

    ck_assert_int_eq(answer->kind, REPRESENTATION_FILE);
    content = file_content(answer);
    ck_assert_msg(answer->coding == got && strcmp(content, text) == 0, "%s: coding %d, \"%s\"",
                  path, answer->coding, content);
    free(content);
    representation_unref(&answer);
}

/* The time stamps of now are those of the past: what goes by them keeps what it finds. */
static void settle(void)
{
    struct timespec now, then;

    clock_gettime(CLOCK_REALTIME_COARSE, &then);
    do {
        usleep(1000);
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while ((now.tv_sec - then.tv_sec) * 1000000000L + now.tv_nsec - then.tv_nsec < 50000000);
}

/* Two requests get the very same answer: it was cached. */
static void expect_cached(const char *path, enum coding coding)
{
    struct representation *first = ask(path, coding), *second = ask(path, coding);

    ck_assert_ptr_eq(first, second);
    representation_unref(&first);
    representation_unref(&second);
}

static void begin(int way)
{
    struct store_options options = place_options(ways[way].freshness);
    struct root_options root;

    place_make(&place);
    root = place_root_options(&place);
    root.precompressed = true;
    place_open_with(&place, &options, &root);
    place.store->never_inline = ways[way].never_inline;
}

static void set_time(const char *name, int64_t seconds)
{
    struct timespec times[] = {{seconds, 123456789}, {seconds, 123456789}};

    ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, name), times, 0), 0);
}

START_TEST(offers)
{
    begin(_i);
    place_write(&place, "a.js", "whole");
    place_write(&place, "a.js.br", "brotli");
    place_write(&place, "a.js.gz", "gzip");
    expect("/a.js", CODING_NONE, "whole", CODING_NONE);
    ck_assert_uint_eq(offered, CODING_BIT(CODING_BR) | CODING_BIT(CODING_GZIP));
    expect("/a.js", CODING_BR, "brotli", CODING_BR);
    expect("/a.js", CODING_GZIP, "gzip", CODING_GZIP);
    expect("/a.js", CODING_ZSTD, "whole", CODING_NONE);
    place_expect(&place, "/a.js", "whole"); /* who does not negotiate gets the file */
    place_expect(&place, "/a.js.br", "brotli");
    place_close(&place);
}
END_TEST

/* The same path, twice in the cache: as itself and as a sibling. */
START_TEST(sibling_and_archive)
{
    struct representation *sibling, *archive;

    begin(_i);
    place_write(&place, "a.css", "whole");
    place_write(&place, "a.css.gz", "gzip");
    settle();
    expect_cached("/a.css", CODING_GZIP);
    expect_cached("/a.css.gz", CODING_GZIP);
    ck_assert_uint_eq(asked, 0);
    sibling = ask("/a.css", CODING_GZIP);
    archive = ask("/a.css.gz", CODING_GZIP);
    ck_assert_ptr_ne(sibling, archive);
    ck_assert_str_eq(sibling->media_type, "text/css; charset=utf-8");
    ck_assert_str_eq(archive->media_type, "application/gzip");
    ck_assert_str_ne(sibling->etag, archive->etag);
    ck_assert_ptr_nonnull(strstr(sibling->fields, "Content-Encoding: gzip\r\n"));
    ck_assert_ptr_null(strstr(archive->fields, "Content-Encoding"));
    representation_unref(&sibling);
    representation_unref(&archive);
    place_close(&place);
}
END_TEST

/* That there are none is remembered, and is forgotten when one comes. */
START_TEST(absence_is_cached)
{
    begin(_i);
    place_write(&place, "a.js", "whole");
    settle();
    expect_cached("/a.js", CODING_BR);
    ck_assert_uint_eq(asked, 0);
    place_write(&place, "a.js.br", "brotli");
    expect("/a.js", CODING_BR, "brotli", CODING_BR);
    place_unlink(&place, "a.js.br");
    expect("/a.js", CODING_BR, "whole", CODING_NONE);
    ck_assert_uint_eq(asked, 0);
    place_close(&place);
}
END_TEST

/* A stale one is remembered as such; its time decides, whoever sets it. */
START_TEST(staleness_is_cached)
{
    begin(_i);
    place_write(&place, "a.js", "whole");
    place_write(&place, "a.js.br", "brotli");
    set_time("a.js", 1700000000);
    set_time("a.js.br", 1600000000);
    settle();
    expect_cached("/a.js", CODING_BR);
    expect("/a.js", CODING_BR, "whole", CODING_NONE);
    set_time("a.js.br", 1700000000);
    expect("/a.js", CODING_BR, "brotli", CODING_BR);
    settle();
    expect_cached("/a.js", CODING_BR);
    set_time("a.js", 1700000001);
    expect("/a.js", CODING_BR, "whole", CODING_NONE);
    settle();
    expect_cached("/a.js", CODING_BR);
    ck_assert_int_eq(link(place_path(&place, "a.js.br"), place_path(&place, "../other")), 0);
    set_time("../other", 1800000000); /* by another name, in another directory */
    expect("/a.js", CODING_BR, "brotli", CODING_BR);
    place_close(&place);
}
END_TEST

/* Through a symbolic link no watch sees all: one look a request. */
START_TEST(linked)
{
    begin(_i);
    place_write(&place, "a.js", "whole");
    place_directory(&place, "packed");
    place_write(&place, "packed/one", "one");
    place_write(&place, "packed/two", "two");
    ck_assert_int_eq(symlink("packed/one", place_path(&place, "a.js.gz")), 0);
    settle();
    expect_cached("/a.js", CODING_GZIP);
    expect("/a.js", CODING_GZIP, "one", CODING_GZIP);
    place_rename(&place, "packed/two", "packed/one");
    expect("/a.js", CODING_GZIP, "two", CODING_GZIP);
    place_unlink(&place, "packed/one");
    expect("/a.js", CODING_GZIP, "whole", CODING_NONE);
    place_write(&place, "../outside", "outside");
    place_unlink(&place, "a.js.gz");
    ck_assert_int_eq(symlink("../outside", place_path(&place, "a.js.gz")), 0);
    expect("/a.js", CODING_GZIP, "whole", CODING_NONE);
    place_close(&place);
}
END_TEST

/* No opening of what might be a FIFO, or be missing, for types that never have any. */
START_TEST(types)
{
    static const struct {
        const char *name;
        bool possible;
    } rows[] = {
        {"a.html", true}, {"a.svg", true},  {"a.wasm", true},   {"a.ttf", true},  {"a", true},
        {"a.png", false}, {"a.jpg", false}, {"a.mp4", false},   {"a.zip", false}, {"a.gz", false},
        {"a.br", false},  {"a.zst", false}, {"a.woff2", false},
    };
    char sibling[32], path[32];

    begin(0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(sibling, sizeof(sibling), "%s.gz", rows[i].name);
        snprintf(path, sizeof(path), "/%s", rows[i].name);
        place_write(&place, rows[i].name, "whole");
        place_write(&place, sibling, "packed");
        expect(path, CODING_GZIP, rows[i].possible ? "packed" : "whole",
               rows[i].possible ? CODING_GZIP : CODING_NONE);
    }
    place_close(&place);
}
END_TEST

/* Names so long that a sibling's would be too long. */
START_TEST(long_names)
{
    char name[256] = "", path[258];

    begin(_i);
    memset(name, 'n', 254);
    snprintf(path, sizeof(path), "/%s", name);
    place_write(&place, name, "whole");
    settle();
    expect_cached(path, CODING_GZIP);
    expect(path, CODING_GZIP, "whole", CODING_NONE);
    place_close(&place);
}
END_TEST

/* One that goes away between the file's answer and its own is as if it had never been. */
static enum coding choose_and_remove(struct lookup *lookup, unsigned available)
{
    if (available & CODING_BIT(CODING_BR))
        place_unlink(&place, "a.js.br");
    return choose(lookup, available);
}

START_TEST(gone_meanwhile)
{
    struct lookup_target target;
    struct lookup lookup;

    begin(_i);
    target = (struct lookup_target){place.store, place.root, "/a.js", 5};
    place_write(&place, "a.js", "whole");
    place_write(&place, "a.js.br", "brotli");
    place_write(&place, "a.js.gz", "gzip");
    wanted = CODING_BR;
    asked = 0;
    store_refresh(place.store);
    (void)lookup_negotiate(&lookup, &target, choose_and_remove, on_found);
    while (lookup.result == NULL)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    ck_assert_uint_eq(asked, 2); /* again, with what is left */
    ck_assert_int_eq(lookup.result->coding, CODING_NONE);
    representation_unref(&lookup.result);
    place_close(&place);
}
END_TEST

/* Given up at every step: nothing is left behind, which place_close() sees. */
START_TEST(cancelled)
{
    size_t before = open_descriptors();

    for (unsigned turns = 0; turns < 12; turns++) {
        struct lookup_target target;
        struct lookup lookup;

        begin(_i);
        place.store->never_inline = true;
        target = (struct lookup_target){place.store, place.root, "/a.js", 5};
        place_write(&place, "a.js", "whole");
        place_write(&place, "a.js.gz", "gzip");
        wanted = CODING_GZIP;
        store_refresh(place.store);
        ck_assert(!lookup_negotiate(&lookup, &target, choose, on_found));
        for (unsigned i = 0; i < turns && lookup.result == NULL; i++)
            ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
        if (lookup.result == NULL)
            lookup_cancel(&lookup);
        else
            representation_unref(&lookup.result);
        place_close(&place);
        place.loop = NULL;
    }
    ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sibling");
    const int end = COUNT(ways);

    tcase_add_loop_test(tcase, offers, 0, end);
    tcase_add_loop_test(tcase, sibling_and_archive, 0, end);
    tcase_add_loop_test(tcase, absence_is_cached, 0, end);
    tcase_add_loop_test(tcase, staleness_is_cached, 0, end);
    tcase_add_loop_test(tcase, linked, 0, end);
    tcase_add_test(tcase, types);
    tcase_add_loop_test(tcase, long_names, 0, end);
    tcase_add_loop_test(tcase, gone_meanwhile, 0, end);
    tcase_add_loop_test(tcase, cancelled, 0, end);
    tcase_set_timeout(tcase, 60);
    return files_run_beneath("sibling", tcase);
}
