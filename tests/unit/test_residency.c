/* SPDX-License-Identifier: MIT */
/* What is in the page cache: told as far as it is, believed for a moment, window by window. */
#include "files_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "files/residency.h"

#define MIB (UINT64_C(1) << 20)

static struct place place;
static struct residency *residency;
static int fd;

/* A file of that size, just written: so it is in memory. */
static void begin(size_t size)
{
    place_make(&place);
    place_fill(&place, "file", size, 1);
    fd = open(place_path(&place, "file"), O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fsync(fd), 0); /* what is dirty can't be dropped */
    residency = calloc(1, sizeof(*residency));
}

static void end(void)
{
    free(residency);
    close(fd);
    place_remove(&place);
}

/*
 * Whether the kernel and this file system can drop pages, and tell. Asking may bring in the page
 * that was asked for: it is one that no test speaks of.
 */
static bool drop(void)
{
    const uint64_t from = 8192, to = 12288;
    struct residency_file file = {0};
    struct residency *fresh = calloc(1, sizeof(*fresh));
    bool was_there = residency_length(fresh, &file, fd, from, to, 1) > 0, is_there;

    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0); /* nothing is read ahead */
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    is_there = residency_length(fresh, &file, fd, from, to, 1000) > 0;
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    free(fresh);
    return was_there && !is_there;
}

static void read_all(size_t size)
{
    char *all = malloc(size);

    ck_assert_int_eq(pread(fd, all, size, 0), (ssize_t)size);
    free(all);
}

START_TEST(as_far_as_the_window)
{
    const struct {
        uint64_t from, to, length;
    } rows[] = {
        {0, 1, 1},
        {0, MIB, MIB},
        {4097, MIB, MIB - 4097},
        {MIB / 2, 3 * MIB, MIB / 2},
        {MIB, 4 * MIB, MIB},
        {2 * MIB - 1, 4 * MIB, 1},
        {5 * MIB - 1, 5 * MIB, 1},
    };
    struct residency_file file = {0};
    char byte;

    begin(5 * MIB);
    if (residency_read(&file, fd, &byte, 1, 0) == 1)
        for (size_t i = 0; i < COUNT(rows); i++)
            ck_assert_uint_eq(residency_length(residency, &file, fd, rows[i].from, rows[i].to, i),
                              rows[i].length);
    end();
}
END_TEST

/* For a moment nobody is asked again, whatever happens; then somebody is. */
START_TEST(believed_for_a_moment)
{
    struct residency_file file = {0};

    begin(2 * MIB);
    if (drop()) {
        read_all(2 * MIB);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
        ck_assert_uint_eq(residency_length(residency, &file, fd, MIB, 2 * MIB, 1000), MIB);
        if (!drop()) /* pages in use for a moment stay */
            goto out;
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB / 2, 1099), MIB / 2);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 4097, MIB, 1099), MIB - 4097);
        ck_assert_uint_eq(residency_length(residency, &file, fd, MIB, 2 * MIB, 1099), MIB);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1100), 0);
    }
out:
    end();
}
END_TEST

/* What has left from memory was there; but no more than has left. */
START_TEST(renewed_by_sending)
{
    struct residency_file file = {0};

    begin(2 * MIB);
    if (drop()) {
        read_all(2 * MIB);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
        residency_renew(residency, &file, 0, MIB, 1090);
        if (!drop())
            goto out;
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1189), MIB);
        residency_renew(residency, &file, 0, MIB / 2, 1189);
        residency_renew(residency, &file, MIB, 2 * MIB, 1189);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1190), 0);
    }
out:
    end();
}
END_TEST

/* More is found as more is asked for, and none of it is believed for longer than the first. */
START_TEST(grows_while_it_is_believed)
{
    struct residency_file file = {0};
    char block[65536];

    begin(2 * MIB);
    if (drop()) {
        ck_assert_int_eq(pread(fd, block, sizeof(block), 0), sizeof(block));
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), 65536);
        ck_assert_int_eq(pread(fd, block, sizeof(block), 65536), sizeof(block));
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 131072, 1050), 131072);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 100, 1050), 100);
        if (!drop()) /* pages in use for a moment stay */
            goto out;
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 131072, 1099), 131072);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 131072, 1100), 0);
    }
out:
    end();
}
END_TEST

/* Neither another file inherits a belief, nor a window that has the same place for it. */
START_TEST(no_belief_of_anothers)
{
    struct residency_file file = {0}, other = {0};

    begin(2 * MIB);
    if (drop()) {
        read_all(2 * MIB);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
        uint64_t far = RESIDENCY_WINDOWS * (uint64_t)RESIDENCY_WINDOW_BYTES;
        if (!drop()) /* pages in use for a moment stay */
            goto out;
        ck_assert_uint_eq(residency_length(residency, &other, fd, 0, MIB, 1000), 0);
        if (!drop()) /* who asks the kernel in vain has it read ahead */
            goto out;
        ck_assert_uint_eq(residency_length(residency, &file, fd, far, far + 1, 1000), 0);
        ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), 0);
    }
out:
    end();
}
END_TEST

START_TEST(reads_from_memory_alone)
{
    struct residency_file file = {0};
    char bytes[8192], more[4096];

    begin(2 * MIB);
    if (drop()) {
        ck_assert_uint_eq(residency_read(&file, fd, bytes, 4096, 0), 0);
        ck_assert_int_eq(pread(fd, bytes, 4096, 0), 4096);
        ck_assert_uint_eq(residency_read(&file, fd, more, 4096, 0), 4096);
        ck_assert_mem_eq(bytes, more, 4096);
        ck_assert_uint_eq(residency_read(&file, fd, bytes, 1, 2 * MIB), 0); /* the end */
    }
    end();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("residency");

    tcase_add_test(tcase, as_far_as_the_window);
    tcase_add_test(tcase, believed_for_a_moment);
    tcase_add_test(tcase, renewed_by_sending);
    tcase_add_test(tcase, grows_while_it_is_believed);
    tcase_add_test(tcase, no_belief_of_anothers);
    tcase_add_test(tcase, reads_from_memory_alone);
    return files_run("residency", tcase);
}
