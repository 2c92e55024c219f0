/* SPDX-License-Identifier: MIT */
/* Shared inotify watches: who is told of what, users that leave while they are told. */
#include "files_fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/watch.h"

enum { USERS = 4 };

static struct watches watches;
static struct watch_user users[USERS];
static unsigned told[USERS], overflows;
static uint32_t masks[USERS];
static char names[USERS][64];
static int stops = -1; /* the user that stops everybody */

static void on_event(void *data, struct watch_user *user, uint32_t mask, const char *name)
{
    size_t i = (size_t)(user - users);

    ck_assert_ptr_null(data);
    told[i]++;
    masks[i] |= mask;
    snprintf(names[i], sizeof(names[i]), "%s", name != NULL ? name : "(self)");
    if ((int)i == stops)
        for (size_t j = 0; j < USERS; j++)
            watch_stop(&watches, &users[j]);
}

static void on_overflow(void *data)
{
    ck_assert_ptr_null(data);
    overflows++;
}

static void begin(struct place *place)
{
    /* Nothing may be left of another test: without fork they share this. */
    memset(users, 0, sizeof(users));
    memset(told, 0, sizeof(told));
    memset(masks, 0, sizeof(masks));
    memset(names, 0, sizeof(names));
    overflows = 0;
    stops = -1;
    place_make(place);
    ck_assert_int_eq(watches_init(&watches, on_event, on_overflow, NULL), 0);
}

static void end(struct place *place)
{
    for (size_t i = 0; i < USERS; i++)
        watch_stop(&watches, &users[i]);
    ck_assert_uint_eq(watches.count, 0);
    watches_fini(&watches);
    place_remove(place);
}

START_TEST(events)
{
    struct place place;

    begin(&place);
    ck_assert_int_eq(watch_start(&watches, &users[0], WATCH_DIRECTORY, place.folder,
                                 IN_CREATE | IN_DELETE | IN_ONLYDIR),
                     0);
    watches_drain(&watches);
    ck_assert_uint_eq(told[0], 0);
    place_write(&place, "a", "x");
    watches_drain(&watches);
    ck_assert_uint_eq(told[0], 1);
    ck_assert_str_eq(names[0], "a");
    ck_assert_uint_eq(masks[0], IN_CREATE);
    watch_stop(&watches, &users[0]);
    watch_stop(&watches, &users[0]);
    place_unlink(&place, "a");
    watches_drain(&watches);
    ck_assert_uint_eq(told[0], 1);
    end(&place);
}
END_TEST

/* One inode, several users with different masks; a second path to it is the same watch. */
START_TEST(shared)
{
    struct place place;

    begin(&place);
    place_write(&place, "a", "x");
    ck_assert_int_eq(link(place_path(&place, "a"), place_path(&place, "b")), 0);
    ck_assert_int_eq(
        watch_start(&watches, &users[0], WATCH_FILE, place_path(&place, "a"), IN_MODIFY), 0);
    ck_assert_int_eq(
        watch_start(&watches, &users[1], WATCH_FILE, place_path(&place, "b"), IN_ATTRIB), 0);
    ck_assert_uint_eq(watches.count, 1);
    place_write(&place, "b", "yy");
    watches_drain(&watches);
    ck_assert_uint_ge(told[0], 1);
    ck_assert_uint_ge(told[1], 1);
    watch_stop(&watches, &users[0]);
    ck_assert_uint_eq(watches.count, 1);
    told[1] = 0;
    ck_assert_int_eq(chmod(place_path(&place, "a"), 0600), 0);
    watches_drain(&watches);
    ck_assert_uint_ge(told[1], 1);
    end(&place);
}
END_TEST

/* Whoever is told first stops all: nobody else is told, nothing is touched after. */
START_TEST(stop_while_told)
{
    struct place place;
    unsigned total = 0;

    begin(&place);
    for (size_t i = 0; i < USERS; i++)
        ck_assert_int_eq(watch_start(&watches, &users[i], WATCH_DIRECTORY, place.folder, IN_CREATE),
                         0);
    stops = USERS - 1; /* the last that came is told first */
    place_write(&place, "a", "x");
    place_write(&place, "b", "x");
    watches_drain(&watches);
    for (size_t i = 0; i < USERS; i++)
        total += told[i];
    ck_assert_uint_eq(total, 1);
    end(&place);
}
END_TEST

/* More than one read's worth. */
START_TEST(many)
{
    struct place place;
    char name[200];

    begin(&place);
    ck_assert_int_eq(watch_start(&watches, &users[0], WATCH_DIRECTORY, place.folder, IN_CREATE), 0);
    for (unsigned i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "%0150u", i);
        place_write(&place, name, "");
    }
    watches_drain(&watches);
    ck_assert_uint_eq(told[0], 500);
    end(&place);
}
END_TEST

/* More watches than buckets at first. */
START_TEST(many_watches)
{
    static struct watch_user more[300];
    struct place place;
    char name[16];

    begin(&place);
    for (unsigned i = 0; i < COUNT(more); i++) {
        snprintf(name, sizeof(name), "%u", i);
        place_write(&place, name, "");
        ck_assert_int_eq(
            watch_start(&watches, &more[i], WATCH_FILE, place_path(&place, name), IN_MODIFY), 0);
    }
    ck_assert_uint_eq(watches.count, COUNT(more));
    for (unsigned i = 0; i < COUNT(more); i++)
        watch_stop(&watches, &more[i]);
    end(&place);
}
END_TEST

START_TEST(overflow)
{
    struct place place;
    begin(&place);
    ck_assert_int_eq(watch_start(&watches, &users[0], WATCH_DIRECTORY, place.folder, IN_ATTRIB), 0);
    if (place_overflow_queue(&place)) {
        watches_drain(&watches);
        ck_assert_uint_eq(overflows, 1);
    }
    end(&place);
}
END_TEST

START_TEST(refused)
{
    struct place place;

    begin(&place);
    place_write(&place, "a", "");
    ck_assert_int_eq(watch_start(&watches, &users[0], WATCH_DIRECTORY, place_path(&place, "a"),
                                 IN_CREATE | IN_ONLYDIR),
                     -ENOTDIR);
    ck_assert_int_eq(
        watch_start(&watches, &users[0], WATCH_FILE, place_path(&place, "none"), IN_MODIFY),
        -ENOENT);
    ck_assert_int_eq(users[0].kind, WATCH_NONE);
    end(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("watch");

    tcase_add_test(tcase, events);
    tcase_add_test(tcase, shared);
    tcase_add_test(tcase, stop_while_told);
    tcase_add_test(tcase, many);
    tcase_add_test(tcase, many_watches);
    tcase_add_test(tcase, overflow);
    tcase_set_timeout(tcase, 60); /* a full queue takes thousands of files */
    tcase_add_test(tcase, refused);
    return files_run("watch", tcase);
}
