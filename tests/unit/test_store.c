/* SPDX-License-Identifier: MIT */
/* Stores: bad options, bounds under load, watches given back, events read while nobody asks. */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct place place;
static bool instances_are_gone;

/* Stands before the C library's: the user's instances cannot be used up in earnest, since the tests
 * that run beside this one need some. */
int inotify_init1(int flags)
{
    if (instances_are_gone) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_inotify_init1, flags);
}

START_TEST(bad_options)
{
    struct store_options options = place_options(STORE_WATCH);
    struct store *store;

    place_make(&place);
    ck_assert_int_eq(evix_loop_new(&place.loop, NULL), 0);
    options.mime_types = place_path(&place, "none");
    ck_assert_int_eq(store_new(&store, place.loop, &options), -ENOENT);
    ck_assert_ptr_null(store);
    store_free(&store);
    evix_loop_free(&place.loop);
    place_remove(&place);
}
END_TEST

START_TEST(types_of_a_file)
{
    struct store_options options = place_options(STORE_WATCH);
    struct representation *answer;
    struct root_options root;
    char types[512];

    place_make(&place);
    place_write(&place, "mime.types", "text/x-own  own\n");
    snprintf(types, sizeof(types), "%s", place_path(&place, "mime.types"));
    options.mime_types = types;
    options.default_type = "text/x-default";
    root = place_root_options(&place);
    place_open_with(&place, &options, &root);
    place_write(&place, "a.own", "");
    place_write(&place, "a", "");
    answer = place_ask(&place, "/a.own");
    ck_assert_str_eq(answer->media_type, "text/x-own; charset=utf-8");
    representation_unref(&answer);
    answer = place_ask(&place, "/a");
    ck_assert_str_eq(answer->media_type, "text/x-default");
    representation_unref(&answer);
    place_close(&place);
}
END_TEST

/* Many more files, absences and directories than there is room for. */
START_TEST(bounds)
{
    struct store_options options = place_options(_i == 0 ? STORE_STAT : STORE_WATCH);
    size_t before = open_descriptors();
    struct root_options root;
    char name[64];

    options.entries = 50;
    options.descriptors = 10;
    options.memory = 200000;
    options.small = 1000;
    place_make(&place);
    root = place_root_options(&place);
    place_open_with(&place, &options, &root);
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "%u", i);
        place_directory(&place, name);
        snprintf(name, sizeof(name), "%u/small", i);
        place_fill(&place, name, 900, i);
        snprintf(name, sizeof(name), "%u/large", i);
        place_fill(&place, name, 2000, i);
    }
    usleep(30000);
    for (unsigned i = 0; i < 3000; i++) {
        static const char *const kinds[] = {"small", "large", "", "none"};

        snprintf(name, sizeof(name), "/%u/%s", (i * 7919) % 300, kinds[i % 4]);
        place_expect_kind(&place, name,
                          i % 4 == 3   ? REPRESENTATION_ABSENT
                          : i % 4 == 2 ? REPRESENTATION_DIRECTORY
                                       : REPRESENTATION_FILE);
        ck_assert_uint_le(place.store->cache.count, 50);
        ck_assert_uint_le(place.store->cache.with_descriptor.count, 10);
        ck_assert_uint_le(place.store->cache.memory, 200000);
        ck_assert_uint_le(place.store->freshness.nodes.count, 50 / 2 + 64);
    }
    ck_assert_uint_ge(place.store->cache.count, 40);
    ck_assert_uint_le(open_descriptors(), before + 10 + 8);
    place_close(&place);
    ck_assert_uint_le(open_descriptors(), before + 1); /* Check's own, if any */
}
END_TEST

/* Without inotify instances a store works, by stat. */
START_TEST(no_instances)
{
    struct store_options options = place_options(STORE_WATCH);
    struct root_options root;

    place_make(&place);
    root = place_root_options(&place);
    ck_assert_int_eq(evix_loop_new(&place.loop, NULL), 0);
    instances_are_gone = true;
    place_open_with(&place, &options, &root);
    ck_assert_int_eq(place.store->freshness.mode, STORE_STAT);
    place_write(&place, "f", "one");
    place_expect(&place, "/f", "one");
    place_write(&place, "f", "two");
    place_expect(&place, "/f", "two");
    instances_are_gone = false;
    place_close(&place);
}
END_TEST

/* Idle, and a large file is deleted: it is not held open till the next request. */
START_TEST(events_while_idle)
{
    struct representation *answer;

    place_open(&place, STORE_WATCH);
    place_fill(&place, "large", 100000, 1);
    answer = place_ask(&place, "/large");
    representation_unref(&answer);
    ck_assert_uint_eq(place.store->cache.count, 1);
    place_unlink(&place, "large");
    while (place.store->cache.count > 0)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    place_close(&place);
}
END_TEST

/* An overflowed queue: nothing that was cached is believed any more. */
START_TEST(overflow)
{
    place_open(&place, STORE_WATCH);
    place_write(&place, "f", "one");
    place_expect(&place, "/f", "one");
    place_expect(&place, "/f", "one");
    if (place_overflow_queue(&place)) {
        place_write(&place, "f", "two"); /* its event finds no room */
        place_expect(&place, "/f", "two");
        place_write(&place, "f", "three"); /* and after that all is watched again */
        place_expect(&place, "/f", "three");
        ck_assert(!place.root->by_stat);
    }
    place_close(&place);
}
END_TEST

/* The hit path asks for nothing: neither memory nor the kernel, but for reading the events. */
START_TEST(nothing_kept_open_by_small_files)
{
    size_t before;
    char name[32];

    place_open(&place, STORE_WATCH);
    before = open_descriptors();
    for (unsigned i = 0; i < 100; i++) {
        struct representation *answer;

        snprintf(name, sizeof(name), "f%u", i);
        place_fill(&place, name, 100, i);
        snprintf(name, sizeof(name), "/f%u", i);
        answer = place_ask(&place, name);
        representation_unref(&answer);
    }
    ck_assert_uint_eq(place.store->cache.count, 100);
    ck_assert_uint_eq(open_descriptors(), before);
    place_close(&place);
}
END_TEST

/* A log that is written beside cached files drops none of them. */
START_TEST(unrelated_changes)
{
    struct representation *first, *again;

    place_open(&place, STORE_WATCH);
    place_write(&place, "f", "x");
    place_write(&place, "index.html", "i");
    place_write(&place, "log", "");
    first = place_ask(&place, "/f");
    for (unsigned i = 0; i < 100; i++) {
        place_fill(&place, "log", i, i);
        again = place_ask(&place, "/f");
        ck_assert_ptr_eq(again, first);
        representation_unref(&again);
    }
    representation_unref(&first);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("store");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, bad_options);
    tcase_add_test(tcase, types_of_a_file);
    tcase_add_loop_test(tcase, bounds, 0, 2);
    tcase_add_test(tcase, no_instances);
    tcase_add_test(tcase, events_while_idle);
    tcase_add_test(tcase, overflow);
    tcase_add_test(tcase, nothing_kept_open_by_small_files);
    tcase_add_test(tcase, unrelated_changes);
    return files_run_beneath("store", tcase);
}
