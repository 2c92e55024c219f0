/* SPDX-License-Identifier: MIT */
/* What is in the page cache: told as far as it is, believed for a moment, window by window. */
#include "files_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_page_cache.h"
#include "files/residency.h"

#define MIB   (UINT64_C(1) << 20)
#define BLOCK 65536

static struct place place;
static struct residency *residency;
static int fd;

static void begin(size_t size)
{
    place_make(&place);
    place_fill(&place, "file", size, 1);
    fd = open(place_path(&place, "file"), O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    residency = calloc(1, sizeof(*residency));
    ck_assert_ptr_nonnull(residency);
}

/* A file of two windows in a page cache of the test's, in which nothing is read ahead or dropped.
 */
static void begin_faked(void)
{
    begin(2 * MIB);
    residency->no_cachestat = true;
    pages_are(0, 2 * MIB);
}

static void set_up(void)
{
    fd = -1;
    residency = NULL;
}

static void tear_down(void)
{
    pages_are_the_kernels();
    free(residency);
    if (fd >= 0)
        close(fd);
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

    begin(5 * MIB);
    residency->no_cachestat = true;
    pages_are(0, 5 * MIB);
    for (size_t i = 0; i < COUNT(rows); i++)
        ck_assert_uint_eq(residency_length(residency, &file, fd, rows[i].from, rows[i].to, i),
                          rows[i].length);
}
END_TEST

/* To ask has the kernel fetch what is missing: so nothing is asked for behind it. */
START_TEST(asked_in_order_as_far_as_it_is_there)
{
    struct residency_file file = {0};

    begin_faked();
    pages_are(0, 3 * BLOCK);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 4097, MIB, 1000), 3 * BLOCK - 4097);
    ck_assert_uint_eq(pages_asked(), 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(pages_asked_last_byte(i), (i + 1) * BLOCK - 1);
    pages_are(BLOCK, 2 * MIB); /* the first is missing: what is behind it does not help */
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 2000), 0);
    ck_assert_uint_eq(pages_asked(), 1);
}
END_TEST

/* For a moment nobody is asked again, whatever happens; then somebody is. */
START_TEST(believed_for_a_moment)
{
    struct residency_file file = {0};

    begin_faked();
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
    ck_assert_uint_eq(residency_length(residency, &file, fd, MIB, 2 * MIB, 1000), MIB);
    pages_are(0, 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB / 2, 1099), MIB / 2);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 4097, MIB, 1099), MIB - 4097);
    ck_assert_uint_eq(residency_length(residency, &file, fd, MIB, 2 * MIB, 1099), MIB);
    ck_assert_uint_eq(pages_asked(), 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1100), 0);
    ck_assert_uint_eq(pages_asked(), 1);
}
END_TEST

/* What has left from memory was there; but no more than has left. */
START_TEST(renewed_by_sending)
{
    struct residency_file file = {0};

    begin_faked();
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
    residency_renew(residency, &file, 0, MIB, 1090);
    pages_are(0, 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1189), MIB);
    residency_renew(residency, &file, 0, MIB / 2, 1189);
    residency_renew(residency, &file, MIB, 2 * MIB, 1189);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1190), 0);
}
END_TEST

/* More is found as more is asked for, and none of it is believed for longer than the first. */
START_TEST(grows_while_it_is_believed)
{
    struct residency_file file = {0};

    begin_faked();
    pages_are(0, BLOCK);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), BLOCK);
    pages_are(0, 2 * BLOCK);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 2 * BLOCK, 1050), 2 * BLOCK);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 100, 1050), 100);
    pages_are(0, 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 2 * BLOCK, 1099), 2 * BLOCK);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, 2 * BLOCK, 1100), 0);
}
END_TEST

/* Neither another file inherits a belief, nor a window that has the same place for it. */
START_TEST(no_belief_of_anothers)
{
    struct residency_file file = {0}, other = {0};
    uint64_t far = RESIDENCY_WINDOWS * (uint64_t)RESIDENCY_WINDOW_BYTES;

    begin_faked();
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), MIB);
    pages_are(0, 0);
    ck_assert_uint_eq(residency_length(residency, &other, fd, 0, MIB, 1000), 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, far, far + 1, 1000), 0);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), 0);
}
END_TEST

START_TEST(reads_from_memory_alone)
{
    struct residency_file file = {0};
    char bytes[8192], more[4096];

    begin_faked();
    pages_are(4096, 6144);
    ck_assert_uint_eq(residency_read(&file, fd, bytes, 4096, 0), 0);
    ck_assert_int_eq(pread(fd, bytes, 4096, 4096), 4096);
    ck_assert_uint_eq(residency_read(&file, fd, more, 4096, 4096), 2048);
    ck_assert_mem_eq(bytes, more, 2048);
    pages_are(0, 4 * MIB);
    ck_assert_uint_eq(residency_read(&file, fd, bytes, 1, 2 * MIB), 0); /* the end */
}
END_TEST

/* Where memory alone can't be read from, that is asked once; without cachestat(2) nothing is there.
 */
START_TEST(file_system_that_can_not_tell)
{
    struct residency_file file = {0};
    char byte;

    begin_faked();
    pages_are_not_told();
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 1000), 0);
    ck_assert(file.never_in_memory);
    ck_assert_uint_eq(residency_length(residency, &file, fd, 0, MIB, 2000), 0);
    ck_assert_uint_eq(residency_read(&file, fd, &byte, 1, 0), 0);
    ck_assert_uint_eq(pages_asked(), 1);
}
END_TEST

/* Of one window: its blocks' last pages are in memory, and others are not. False, too: not told. */
static bool has_holes(char *map, size_t page)
{
    unsigned char pages[MIB / 4096];
    size_t present = 0, blocks = 0, count = MIB / page, step = BLOCK / page;

    if (mincore(map, MIB, pages) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        present += pages[i] & 1;
        blocks += i % step == step - 1 && (pages[i] & 1) != 0;
    }
    return blocks == MIB / BLOCK && present < count;
}

/* The kernel's own page cache, with what others do to it: true if there are such holes now. */
static bool make_holes(char *map, size_t page)
{
    char byte;

    ck_assert_int_eq(fdatasync(fd), 0);                              /* dirty pages stay */
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0); /* nothing is read ahead */
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    for (uint64_t at = BLOCK - 1; at < MIB; at += BLOCK)
        ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
    return has_holes(map, page);
}

/*
 * Last bytes of blocks are there and others are not: cachestat(2) tells. Only what was so before
 * and after the question counts, for the kernel's page cache is everybody's.
 */
START_TEST(holes_in_the_kernels)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct residency_file file = {0};
    bool is_tried = false;
    char *map;

    begin(2 * MIB);
    map = mmap(NULL, MIB, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    for (uint64_t round = 1; round <= 50 && !is_tried; round++) {
        if (!make_holes(map, page))
            continue;
        uint64_t length = residency_length(residency, &file, fd, 0, MIB, round * 1000);
        if (residency->no_cachestat || file.never_in_memory)
            break;
        is_tried = has_holes(map, page);
        ck_assert(!is_tried || length == 0);
    }
    munmap(map, MIB);
    if (!is_tried)
        printf(
            "# skipped: holes in the page cache: this kernel or file system makes or tells none\n");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("residency");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, as_far_as_the_window);
    tcase_add_test(tcase, asked_in_order_as_far_as_it_is_there);
    tcase_add_test(tcase, believed_for_a_moment);
    tcase_add_test(tcase, renewed_by_sending);
    tcase_add_test(tcase, grows_while_it_is_believed);
    tcase_add_test(tcase, no_belief_of_anothers);
    tcase_add_test(tcase, reads_from_memory_alone);
    tcase_add_test(tcase, file_system_that_can_not_tell);
    tcase_add_test(tcase, holes_in_the_kernels);
    return files_run("residency", tcase);
}
