/* SPDX-License-Identifier: MIT */
/* The table of answers: full keys, bounds of each kind, descriptors given back. */
#include "files_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "files/cache.h"
#include "files/describe.h"

static unsigned removed;

static void on_removed(void *data, struct entry *entry)
{
    ck_assert_ptr_eq(data, &removed);
    ck_assert(!entry->in_table);
    removed++;
}

/* Keys need distinct addresses, nothing else. */
static char roots[2];
#define ROOT(i) ((struct root *)(void *)&roots[i])

static struct entry *add(struct cache *cache, struct root *root, const char *path,
                         struct representation *answer)
{
    struct cache_key key = cache_key(cache, root, path, strlen(path), CODING_NONE);
    struct entry *entry = entry_new(&key);

    ck_assert_ptr_nonnull(entry);
    ck_assert_ptr_nonnull(answer);
    cache_insert(cache, entry);
    entry->answer = answer;
    cache_settle(cache, entry);
    return entry;
}

static struct entry *look(struct cache *cache, struct root *root, const char *path)
{
    struct cache_key key = cache_key(cache, root, path, strlen(path), CODING_NONE);

    return cache_find(cache, &key);
}

static struct representation *absent(void)
{
    return representation_absent(404, 0, "test");
}

static struct representation *with_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return representation_file(0, fd);
}

static void make(struct cache *cache, size_t entries, size_t descriptors, uint64_t memory)
{
    removed = 0;
    ck_assert_int_eq(cache_init(cache, entries, descriptors, memory, on_removed, &removed), 0);
}

START_TEST(keys)
{
    struct cache cache;

    make(&cache, 100, 10, 1 << 20);
    add(&cache, ROOT(0), "/a", absent());
    add(&cache, ROOT(1), "/a", absent());
    add(&cache, ROOT(0), "/a/", absent());
    ck_assert_ptr_nonnull(look(&cache, ROOT(0), "/a"));
    ck_assert_ptr_nonnull(look(&cache, ROOT(0), "/a/"));
    ck_assert_ptr_ne(look(&cache, ROOT(0), "/a"), look(&cache, ROOT(1), "/a"));
    ck_assert_ptr_null(look(&cache, ROOT(1), "/a/"));
    ck_assert_ptr_null(look(&cache, ROOT(0), "/"));
    cache_remove(&cache, look(&cache, ROOT(0), "/a"));
    ck_assert_ptr_null(look(&cache, ROOT(0), "/a"));
    ck_assert_ptr_nonnull(look(&cache, ROOT(1), "/a"));
    ck_assert_uint_eq(removed, 1);
    cache_fini(&cache);
    ck_assert_uint_eq(removed, 3);
}
END_TEST

/* The same hash for all, and yet each finds its own. */
START_TEST(forced_collisions)
{
    static const struct cache_key others[] = {
        {ROOT(0), "/100", 4, CODING_NONE, 0x1234},
        {ROOT(1), "/1", 2, CODING_NONE, 0x1234},
        {ROOT(0), "/1", 2, CODING_GZIP, 0x1234},
    };
    struct cache cache;
    char path[16];

    make(&cache, 200, 10, 1 << 20);
    for (int i = 0; i < 100; i++) {
        struct entry *entry;

        snprintf(path, sizeof(path), "/%d", i);
        entry = entry_new(&(struct cache_key){ROOT(0), path, strlen(path), CODING_NONE, 0x1234});
        cache_insert(&cache, entry);
        entry->answer = representation_absent(404, -i, "test");
        cache_settle(&cache, entry);
    }
    for (int i = 0; i < 100; i++) {
        const struct entry *entry;

        snprintf(path, sizeof(path), "/%d", i);
        entry = cache_find(&cache,
                           &(struct cache_key){ROOT(0), path, strlen(path), CODING_NONE, 0x1234});
        ck_assert_ptr_nonnull(entry);
        ck_assert_int_eq(entry->answer->error, -i);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        ck_assert_ptr_null(cache_find(&cache, &others[i]));
    cache_fini(&cache);
}
END_TEST

START_TEST(bound_of_entries)
{
    struct cache cache;
    char path[16];

    make(&cache, 100, 10, UINT64_MAX);
    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        add(&cache, ROOT(0), path, absent());
        ck_assert_uint_le(cache.count, 100);
    }
    ck_assert_uint_eq(cache.count, 100);
    ck_assert_uint_eq(removed, 900);
    ck_assert_ptr_nonnull(look(&cache, ROOT(0), "/999"));
    ck_assert_ptr_null(look(&cache, ROOT(0), "/0"));
    cache_fini(&cache);
}
END_TEST

START_TEST(bound_of_descriptors)
{
    size_t before = open_descriptors();
    struct cache cache;
    char path[16];

    make(&cache, 1000, 20, UINT64_MAX);
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        add(&cache, ROOT(0), path, with_descriptor());
        add(&cache, ROOT(1), path, absent());
        ck_assert_uint_le(open_descriptors() - before, 20);
    }
    ck_assert_uint_eq(cache.with_descriptor.count, 20);
    ck_assert_uint_eq(cache.light.count, 200); /* those pay nothing for it */
    cache_fini(&cache);
    ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

START_TEST(bound_of_memory)
{
    struct cache cache;
    char path[16];

    make(&cache, 1000, 10, 100000);
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        add(&cache, ROOT(0), path, representation_file(10000, -1));
        ck_assert_uint_le(cache.memory, 100000);
    }
    ck_assert_uint_ge(cache.count, 5);
    /* One that is larger than all that there is room for is not kept. */
    add(&cache, ROOT(0), "/large", representation_file(200000, -1));
    ck_assert_ptr_null(look(&cache, ROOT(0), "/large"));
    ck_assert_uint_le(cache.memory, 100000);
    cache_fini(&cache);
    ck_assert_uint_eq(cache.memory, 0);
}
END_TEST

START_TEST(nothing_is_kept)
{
    struct cache cache;

    make(&cache, 0, 0, 0);
    add(&cache, ROOT(0), "/a", absent());
    add(&cache, ROOT(0), "/b", with_descriptor());
    ck_assert_uint_eq(cache.count, 0);
    cache_fini(&cache);
}
END_TEST

/* Descriptors that are being sent are not given back by being forgotten. */
START_TEST(give_descriptors)
{
    struct representation *held;
    struct cache cache;
    char path[16];

    make(&cache, 100, 10, UINT64_MAX);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "/%d", i);
        add(&cache, ROOT(0), path, with_descriptor());
    }
    add(&cache, ROOT(0), "/light", absent());
    held = representation_ref(look(&cache, ROOT(0), "/0")->answer);
    ck_assert_uint_eq(cache_give_descriptors(&cache, 2), 2);
    ck_assert_uint_eq(cache.with_descriptor.count, 2);
    ck_assert_uint_eq(cache_give_descriptors(&cache, 16), 2);
    ck_assert_uint_eq(cache_give_descriptors(&cache, 16), 0);
    ck_assert_ptr_nonnull(look(&cache, ROOT(0), "/light"));
    ck_assert_int_ne(fcntl(held->fd, F_GETFD), -1);
    representation_unref(&held);
    cache_fini(&cache);
}
END_TEST

/* What is being looked up is found, does not count, and outlives its removal. */
START_TEST(unfinished)
{
    struct cache cache;
    struct cache_key key;
    struct entry *entry;
    char fill;

    make(&cache, 1, 1, UINT64_MAX);
    key = cache_key(&cache, ROOT(0), "/x", 2, CODING_NONE);
    entry = entry_new(&key);
    entry->fill = (struct fill *)(void *)&fill;
    cache_insert(&cache, entry);
    add(&cache, ROOT(0), "/1", absent());
    add(&cache, ROOT(0), "/2", absent());
    ck_assert_ptr_eq(look(&cache, ROOT(0), "/x"), entry);
    cache_clear(&cache);
    ck_assert(!entry->in_table);
    entry_free(entry);
    cache_fini(&cache);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("cache");

    tcase_add_test(tcase, keys);
    tcase_add_test(tcase, forced_collisions);
    tcase_add_test(tcase, bound_of_entries);
    tcase_add_test(tcase, bound_of_descriptors);
    tcase_add_test(tcase, bound_of_memory);
    tcase_add_test(tcase, nothing_is_kept);
    tcase_add_test(tcase, give_descriptors);
    tcase_add_test(tcase, unfinished);
    return files_run("cache", tcase);
}
