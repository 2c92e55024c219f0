/* SPDX-License-Identifier: MIT */
/*
 * Lookups that wait: several for one answer, given up at each stage, out of descriptors, with an
 * answer that came too late for some.
 */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct place place;
static unsigned answered;

static void on_found(struct lookup *lookup)
{
    ck_assert_ptr_nonnull(lookup->result);
    answered++;
}

static bool start(struct lookup *lookup, const char *path)
{
    return lookup_start(lookup, place.store, place.root, path, strlen(path), on_found);
}

static void begin(enum store_freshness freshness, bool never_inline)
{
    place_open(&place, freshness);
    place.store->never_inline = never_inline;
    place_write(&place, "small", "small");
    place_fill(&place, "large", 200000, 1);
    place_directory(&place, "d");
    usleep(30000); /* the clock is to tell these changes from later ones */
    store_refresh(place.store);
    answered = 0;
}

static void run_until(unsigned count)
{
    while (answered < count)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
}

/* A hundred ask, the file is opened once; all get the same answer. */
START_TEST(coalesced)
{
    struct lookup lookups[100];
    struct evix_counters before, after;

    begin(_i == 0 ? STORE_STAT : STORE_WATCH, true);
    evix_loop_counters(place.loop, &before);
    for (size_t i = 0; i < COUNT(lookups); i++)
        ck_assert(!start(&lookups[i], "/small"));
    run_until(COUNT(lookups));
    evix_loop_counters(place.loop, &after);
    ck_assert_uint_le(after.operations - before.operations, 2); /* open, read */
    for (size_t i = 0; i < COUNT(lookups); i++) {
        ck_assert_ptr_eq(lookups[i].result, lookups[0].result);
        if (i > 0)
            representation_unref(&lookups[i].result);
    }
    ck_assert_uint_eq(lookups[0].result->references, 2); /* and the cache */
    representation_unref(&lookups[0].result);
    place_close(&place);
}
END_TEST

/* A tag is the same whether parts of the file were in memory or had to be waited for. */
START_TEST(sampled)
{
    static const size_t sizes[] = {65, 4096, 4097, 12287, 12288, 12289, 65536, 200001};
    static const struct timespec past[2] = {{1700000000, 5}, {1700000000, 5}};
    struct store_options options = place_options(STORE_OFF);
    struct root_options root;

    options.small = 64;
    place_make(&place);
    root = place_root_options(&place);
    place_open_with(&place, &options, &root);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct representation *quick, *slow, *other;

        place_fill(&place, "f", sizes[i], 1);
        ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "f"), past, 0), 0);
        place.store->never_inline = false;
        quick = place_ask(&place, "/f");
        place.store->never_inline = true;
        slow = place_ask(&place, "/f");
        ck_assert_str_eq(quick->etag, slow->etag);
        place_fill(&place, "f", sizes[i], 2);
        ck_assert_int_eq(utimensat(AT_FDCWD, place_path(&place, "f"), past, 0), 0);
        other = place_ask(&place, "/f");
        ck_assert_str_ne(quick->etag, other->etag);
        representation_unref(&quick);
        representation_unref(&slow);
        representation_unref(&other);
    }
    place_close(&place);
}
END_TEST

/* Joined, and then the file was changed by name: who joined after that gets the new one. */
START_TEST(late_comers)
{
    struct lookup early, late[3];

    begin(_i == 0 ? STORE_STAT : STORE_WATCH, true);
    ck_assert(!start(&early, "/small"));
    evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    place_write(&place, "new", "other");
    place_rename(&place, "new", "small");
    store_refresh(place.store);
    for (size_t i = 0; i < COUNT(late); i++)
        ck_assert(!start(&late[i], "/small"));
    run_until(4);
    for (size_t i = 0; i < COUNT(late); i++) {
        ck_assert_mem_eq(late[i].result->bytes, "other", 5);
        representation_unref(&late[i].result);
    }
    representation_unref(&early.result);
    place_close(&place);
}
END_TEST

/*
 * Giving up takes as long with ten thousand others as with none: nothing but the neighbours is
 * touched, and the first of all lies where it cannot be.
 */
START_TEST(leaving_walks_nowhere)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct lookup *first =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct lookup opener, others[4];

    ck_assert_ptr_ne(first, MAP_FAILED);
    begin(STORE_WATCH, true);
    ck_assert(!start(&opener, "/small"));
    ck_assert(!start(first, "/small")); /* of those that joined */
    for (size_t i = 0; i < COUNT(others); i++)
        ck_assert(!start(&others[i], "/small"));
    ck_assert_int_eq(mprotect(first, page, PROT_NONE), 0);
    lookup_cancel(&others[3]);
    lookup_cancel(&others[1]);
    ck_assert_int_eq(mprotect(first, page, PROT_READ | PROT_WRITE), 0);
    run_until(4);
    ck_assert_mem_eq(first->result->bytes, "small", 5);
    representation_unref(&opener.result);
    representation_unref(&first->result);
    representation_unref(&others[0].result);
    representation_unref(&others[2].result);
    ck_assert_ptr_null(others[1].result);
    ck_assert_ptr_null(others[3].result);
    munmap(first, page);
    place_close(&place);
}
END_TEST

/* Given up after so many iterations: at each stage of its life. */
START_TEST(cancelled)
{
    static const char *const asked[] = {"/small", "/large", "/none", "/d", "/d/", "/small/"};

    begin(STORE_WATCH, true);
    for (size_t i = 0; i < COUNT(asked); i++) {
        size_t before = open_descriptors();

        for (int turns = 0; turns < 12; turns++) {
            struct lookup lookup, other;
            bool done = start(&lookup, asked[i]);

            if (!done && turns % 2 == 1)
                ck_assert(!start(&other, asked[i]));
            for (int turn = 0; turn < turns / 2; turn++)
                evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
            if (lookup.result == NULL)
                lookup_cancel(&lookup);
            if (!done && turns % 2 == 1 && other.result == NULL)
                lookup_cancel(&other);
            ck_assert_int_eq(evix_loop_run(place.loop, EVIX_RUN_DEFAULT), 0);
            representation_unref(&lookup.result);
            if (!done && turns % 2 == 1)
                representation_unref(&other.result);
            cache_clear(&place.store->cache);
        }
        ck_assert_uint_eq(open_descriptors(), before);
    }
    ck_assert_uint_eq(place.store->in_flight, 0);
    place_close(&place);
}
END_TEST

/* One of several gives up; the others are answered, whichever it was. */
START_TEST(one_leaves)
{
    for (size_t leaver = 0; leaver < 4; leaver++) {
        struct lookup lookups[4];

        begin(_i == 0 ? STORE_STAT : STORE_WATCH, true);
        answered = 0;
        for (size_t i = 0; i < 4; i++)
            start(&lookups[i], "/small");
        lookup_cancel(&lookups[leaver]);
        lookup_cancel(&lookups[leaver]);
        run_until(3);
        for (size_t i = 0; i < 4; i++) {
            ck_assert_int_eq(lookups[i].result == NULL, i == leaver);
            representation_unref(&lookups[i].result);
        }
        place_close(&place);
    }
}
END_TEST

static struct lookup chain[3];

/* In its callback it gives another up, and asks again itself. */
static void on_found_meddle(struct lookup *lookup)
{
    answered++;
    if (lookup == &chain[0])
        lookup_cancel(&chain[1]);
    if (lookup == &chain[2]) {
        representation_unref(&lookup->result);
        ck_assert(start(lookup, "/small"));
        ck_assert_mem_eq(lookup->result->bytes, "small", 5);
    }
}

START_TEST(meddling_callbacks)
{
    begin(STORE_WATCH, true);
    for (size_t i = 0; i < 3; i++)
        lookup_start(&chain[i], place.store, place.root, "/small", 6, on_found_meddle);
    run_until(2);
    ck_assert_ptr_null(chain[1].result);
    representation_unref(&chain[0].result);
    representation_unref(&chain[2].result);
    place_close(&place);
}
END_TEST

/* The store goes while a read that was given up is still under way. */
START_TEST(freed_with_operations_in_flight)
{
    struct lookup lookup;

    begin(STORE_WATCH, true);
    start(&lookup, "/small");
    for (int turn = 0; turn < _i; turn++)
        evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    if (lookup.result == NULL)
        lookup_cancel(&lookup);
    representation_unref(&lookup.result);
    place_close(&place); /* runs the loop to its end */
}
END_TEST

/* Descriptors in the cache are given back when they are wanted. */
START_TEST(out_of_descriptors)
{
    struct rlimit limit, usual;
    int taken[64];
    size_t count = 0;
    char name[32];

    place_open(&place, STORE_STAT);
    place.store->never_inline = _i == 1;
    for (unsigned i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        place_fill(&place, name, 70000, i);
    }
    usleep(30000);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
    limit = usual;
    limit.rlim_cur = open_descriptors() + 20;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (unsigned i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "/f%u", i);
        place_expect_kind(&place, name, REPRESENTATION_FILE);
    }
    /* Nothing is left to give: 503, and then it works again. */
    cache_clear(&place.store->cache);
    while (count < COUNT(taken) && (taken[count] = dup(0)) >= 0)
        count++;
    place_expect_status(&place, "/f0", 503);
    close(taken[--count]);
    place_expect_kind(&place, "/f0", REPRESENTATION_FILE);
    while (count > 0)
        close(taken[--count]);
    place_expect_kind(&place, "/f1", REPRESENTATION_FILE);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
    place_close(&place);
}
END_TEST

/* A file that another process never stops writing: an answer comes all the same. */
START_TEST(restless_file)
{
    begin(STORE_WATCH, true);
    for (unsigned round = 0; round < 20; round++) {
        struct lookup lookup;

        answered = 0;
        store_refresh(place.store);
        if (start(&lookup, "/small"))
            answered = 1;
        while (answered == 0) {
            place_fill(&place, "small", 10 + round % 7, round);
            ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
        }
        ck_assert_int_eq(lookup.result->kind, REPRESENTATION_FILE);
        representation_unref(&lookup.result);
    }
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("fill");

    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, coalesced, 0, 2);
    tcase_add_test(tcase, sampled);
    tcase_add_test(tcase, leaving_walks_nowhere);
    tcase_add_loop_test(tcase, late_comers, 0, 2);
    tcase_add_test(tcase, cancelled);
    tcase_add_loop_test(tcase, one_leaves, 0, 2);
    tcase_add_test(tcase, meddling_callbacks);
    tcase_add_loop_test(tcase, freed_with_operations_in_flight, 0, 6);
    tcase_add_loop_test(tcase, out_of_descriptors, 0, 2);
    tcase_add_test(tcase, restless_file);
    return files_run_beneath("fill", tcase);
}
