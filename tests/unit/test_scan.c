/* SPDX-License-Identifier: MIT */
/*
 * Somebody fetches some 100,000 files, each once, while others go on asking for the same few: those
 * stay in the cache, and it stays within its bounds. Files kept by content, by descriptor, and what
 * is not there, in turns.
 */
#include "files_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#define SMALL 64 /* bytes: larger files are kept by descriptor */

enum { SCAN = 99900, FOLDER = 900, KINDS = 3, HOT = 20, HOT_EACH = 2 };

static struct place place;
static struct store_counters counters;

static const char *name_of(char out[32], unsigned which)
{
    snprintf(out, 32, "/%u/%u", which / FOLDER, which % FOLDER);
    return out;
}

/* A folder's files of a kind are one, by many names: it is names that are cached, and they cost
 * less to make. */
static void make_file(unsigned which)
{
    static const char text[SMALL + 8] = "text";
    unsigned first = which - which % FOLDER + which % KINDS;
    char name[32], other[32];
    int fd;

    name_of(name, which);
    if (which != first) {
        ck_assert_int_eq(
            link(place_path(&place, name_of(other, first) + 1), place_path(&place, name + 1)), 0);
        return;
    }
    fd = open(place_path(&place, name + 1), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, which % KINDS == 0 ? 8 : sizeof(text)),
                     which % KINDS == 0 ? 8 : sizeof(text));
    close(fd);
}

static void make_tree(void)
{
    char name[32];

    for (unsigned i = 0; i < SCAN / FOLDER; i++) {
        snprintf(name, sizeof(name), "%u", i);
        place_directory(&place, name);
    }
    for (unsigned i = 0; i < SCAN; i++)
        if (i % KINDS != 2)
            make_file(i);
}

static void on_found(struct lookup *lookup)
{
    (void)lookup;
}

static bool is_right(unsigned which, const struct representation *answer)
{
    if (which % KINDS == 2)
        return answer->kind == REPRESENTATION_ABSENT;
    return answer->kind == REPRESENTATION_FILE && (answer->fd >= 0) == (which % KINDS == 1);
}

/* Whether it was in the cache. Check's assertions cost a system call each, so none here. */
static bool ask(unsigned which)
{
    uint64_t misses = counters.misses;
    struct lookup lookup;
    char name[32];

    name_of(name, which);
    store_refresh(place.store);
    lookup_start(&lookup, place.store, place.root, name, strlen(name), on_found);
    while (lookup.result == NULL && evix_loop_run(place.loop, EVIX_RUN_ONCE) >= 0)
        continue;
    if (!is_right(which, lookup.result))
        ck_abort_msg("%s: kind %d, status %d", name, lookup.result->kind, lookup.result->status);
    representation_unref(&lookup.result);
    return counters.misses == misses;
}

static void check_bounds(void)
{
    const struct store *store = place.store;

    ck_assert_uint_le(counters.entries, place.options.entries);
    ck_assert_uint_le(counters.descriptors, place.options.descriptors);
    /* A watch for each entry, for some folders beside those in use, and for the way to the root. */
    ck_assert_uint_le(store->freshness.watches.count,
                      place.options.entries + store->freshness.nodes.count + 16);
    ck_assert_uint_le(store->freshness.nodes.count, store->freshness.nodes.count_max);
}

START_TEST(scan)
{
    struct store_options options = place_options(STORE_WATCH);
    unsigned asked[KINDS] = {0}, missed[KINDS] = {0};
    struct root_options root;

    place_make(&place);
    counters = (struct store_counters){.hits = 0};
    options.counters = &counters;
    options.entries = 400;
    options.descriptors = 80;
    options.small = SMALL;
    root = place_root_options(&place);
    place_open_with(&place, &options, &root);
    make_tree();
    for (unsigned i = KINDS * HOT; i < SCAN; i++) {
        ask(i);
        for (unsigned j = 0; j < HOT_EACH; j++) {
            unsigned hot = (i * 31 + j * 17) % (KINDS * HOT);

            asked[hot % KINDS]++;
            missed[hot % KINDS] += !ask(hot);
        }
        if (i % FOLDER == 0)
            check_bounds();
    }
    for (unsigned i = 0; i < KINDS; i++)
        ck_assert_msg(missed[i] < asked[i] / 100, "kind %u: %u of %u requests for hot ones missed",
                      i, missed[i], asked[i]);
    ck_assert_uint_gt(counters.evictions, SCAN / 2);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("scan");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, scan);
    return files_run_beneath("scan", tcase);
}
