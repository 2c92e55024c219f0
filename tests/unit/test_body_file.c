/* SPDX-License-Identifier: MIT */
/* Bodies of files: exactly the promised bytes, hot and cold; cut files fail; released at any time.
 */
#include "files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fake_page_cache.h"

static struct place place;

static bool ready;

static void on_ready(void *data)
{
    (void)data;
    ready = true;
}

static void begin(bool cold)
{
    place_open(&place, STORE_WATCH);
    place.store->never_inline = cold;
    ready = false;
}

/* With a page cache of the test's, in which there is nothing yet. */
static void begin_faked(void)
{
    begin(false);
    place.store->residency.no_cachestat = true;
    pages_are(0, 0);
}

static void expect_range(const char *path, uint64_t offset, uint64_t length)
{
    struct representation *file = place_ask(&place, path);
    char *whole = file_content(file), *text;
    struct body *body;
    size_t got;
    int error;

    ck_assert_int_eq(body_from_file(&body, place.store, file, offset, length), 0);
    ck_assert_int_eq(body->length, (int64_t)length);
    representation_unref(&file); /* the body has a reference of its own */
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_eq(got, length);
    ck_assert(memcmp(text, whole + offset, length) == 0);
    body_release(body);
    free(text);
    free(whole);
}

/* Sizes around pages, chunks and pieces; ranges at the start, the end and across borders. */
START_TEST(ranges)
{
    const size_t lengths[] = {1,      4096,   65536,  65537,   131071,  131072, 131073,
                              262143, 262144, 262145, 1 << 20, 3 << 20, 5000001};

    begin(_i == 1);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        size_t size = lengths[i];
        char name[32];

        snprintf(name, sizeof(name), "f%zu", size);
        place_fill(&place, name, size, (unsigned)i);
        snprintf(name, sizeof(name), "/f%zu", size);
        expect_range(name, 0, size);
        expect_range(name, 0, 1);
        expect_range(name, size - 1, 1);
        expect_range(name, size, 0);
        expect_range(name, size / 3, size / 2);
        expect_range(name, size / 2, size - size / 2);
    }
    place_write(&place, "empty", "");
    expect_range("/empty", 0, 0);
    place_close(&place);
}
END_TEST

/* Hot: file ranges of bounded length. Cold: bytes, after a wait. Small: bytes at once. */
START_TEST(kinds)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;

    begin_faked();
    place_fill(&place, "large", 4 << 20, 1);
    place_fill(&place, "small", 1000, 1);
    file = place_ask(&place, "/large");
    pages_are(0, 4 << 20);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    for (unsigned i = 0; i < 4; i++) {
        body_next(body, &piece);
        ck_assert_int_eq(piece.kind, BODY_FILE);
        ck_assert_int_eq(piece.fd, file->fd);
        ck_assert_int_eq(piece.offset, i * 1048576);
        ck_assert_uint_eq(piece.length, 1048576);
    }
    body_release(body);
    representation_unref(&file);

    file = place_ask(&place, "/small");
    ck_assert_int_eq(body_from_file(&body, place.store, file, 10, 20), 0);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_BYTES);
    ck_assert_ptr_eq(piece.data, file->bytes + 10);
    ck_assert_uint_eq(piece.length, 20);
    body_release(body);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* What was dropped from the page cache is not given as a range, if the file system can drop it. */
START_TEST(really_cold)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;
    char *whole, *text;
    size_t got;
    int error, fd;

    begin(false);
    place_fill(&place, "large", 1 << 20, 1);
    fd = open(place_path(&place, "large"), O_RDONLY | O_CLOEXEC);
    file = place_ask(&place, "/large");
    ck_assert_int_eq(fsync(fd), 0);
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_eq(got, 1 << 20);
    whole = file_content(file);
    ck_assert_mem_eq(text, whole, 1 << 20);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_END);
    body_release(body);
    representation_unref(&file);
    free(text);
    free(whole);
    close(fd);
    place_close(&place);
}
END_TEST

/*
 * To look whether a byte is in memory has the kernel fetch it. If the end of a piece was looked for
 * before its start, it came first, and a send of the whole piece would wait for what is between.
 */
START_TEST(looked_for_in_order)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;

    begin_faked();
    place_fill(&place, "large", 8 << 20, 1);
    file = place_ask(&place, "/large");
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, 8 << 20), 0);
    pages_are(0, 192 << 10);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_FILE);
    ck_assert_uint_eq(piece.length, 192 << 10);
    ck_assert_uint_eq(pages_asked(), 4);
    for (size_t i = 0; i < pages_asked(); i++)
        ck_assert_uint_eq(pages_asked_last_byte(i), (i + 1) * 65536 - 1);
    pages_are(0, 0);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_LATER);
    ck_assert_uint_eq(pages_asked(), 1);
    ck_assert_uint_eq(pages_asked_last_byte(0), (256 << 10) - 1);
    body_release(body);
    expect_range("/large", 0, 4096);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/*
 * What was read is given from the page cache: whoever is slow holds no chunk meanwhile. Where it
 * has left the page cache at once, it is given from the chunk.
 */
START_TEST(read_and_given_from_the_cache)
{
    const bool stays = _i == 0;
    struct representation *file;
    struct body_piece piece;
    struct body *body;

    begin_faked();
    place_fill(&place, "large", 1 << 20, 1);
    file = place_ask(&place, "/large");
    pages_are(0, 0);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, 1 << 20), 0);
    body->ready = on_ready;
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_LATER);
    while (!ready)
        ck_assert_int_ge(evix_loop_run(place.loop, EVIX_RUN_ONCE), 0);
    pages_are(0, stays ? 1 << 20 : 0);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, stays ? BODY_FILE : BODY_BYTES);
    ck_assert_uint_eq(piece.length, 128 << 10);
    if (stays) {
        ck_assert_int_eq(piece.offset, 0);
        ck_assert_uint_eq(place.store->chunks.count, 1);
    }
    body_release(body);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* What did not leave is given again, and nothing twice. */
START_TEST(taken_back)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;
    char *whole, *text;
    size_t got;
    int error;
    uint64_t at = 0;

    begin_faked();
    place_fill(&place, "large", 4 << 20, 1);
    file = place_ask(&place, "/large");
    pages_are(0, 4 << 20);
    whole = file_content(file);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    for (unsigned turn = 0; turn < 20; turn++) {
        body_next(body, &piece);
        ck_assert_int_eq(piece.kind, BODY_FILE);
        ck_assert_int_eq(piece.offset, (int64_t)at);
        uint64_t left = turn * 7919 % 100000; /* so much of it; at first nothing */
        body_take_back(body, piece.length - left);
        at += left;
    }
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_eq(got, file->size - at);
    ck_assert(memcmp(text, whole + at, got) == 0);
    body_release(body);
    free(text);
    free(whole);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* A piece that the file has no more, though it was seen a moment ago: no range of it again. */
START_TEST(taken_back_and_cut_short)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;
    char *text;
    size_t got;
    int error;

    begin_faked();
    place_fill(&place, "large", 1 << 20, 1);
    file = place_ask(&place, "/large");
    pages_are(0, 1 << 20);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_FILE);
    ck_assert_int_eq(truncate(place_path(&place, "large"), 300001), 0);
    body_take_back(body, piece.length - 300001);
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, -ENODATA);
    ck_assert_uint_eq(got, 0);
    free(text);
    body_release(body);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* One body for several ranges in turn, in any order: in memory, in the page cache, and cold. */
START_TEST(aimed_anew)
{
    const struct {
        uint64_t offset, length;
    } aims[] = {{500000, 300000}, {0, 1}, {0, 0}, {999999, 1}, {65535, 262146}};
    struct representation *file;
    struct body *body;
    char *whole, *text;
    size_t got;
    int error;

    begin(_i == 1);
    place_fill(&place, "file", 1000000, 3);
    file = place_ask(&place, "/file");
    whole = file_content(file);
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, 0), 0);
    for (size_t i = 0; i < COUNT(aims); i++) {
        body_file_aim(body, aims[i].offset, aims[i].length);
        text = body_read(&place, body, &got, &error);
        ck_assert_int_eq(error, 0);
        ck_assert_uint_eq(got, aims[i].length);
        ck_assert(memcmp(text, whole + aims[i].offset, got) == 0);
        free(text);
    }
    body_release(body);
    free(whole);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* What is missing is never made up. */
START_TEST(cut_short)
{
    struct representation *file;
    struct body *body;
    char *text;
    size_t got;
    int error;

    begin(true);
    place_fill(&place, "large", 1 << 20, 1);
    file = place_ask(&place, "/large");
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    ck_assert_int_eq(truncate(place_path(&place, "large"), 300001), 0);
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, -ENODATA);
    ck_assert_uint_eq(got, 300001);
    body_release(body);
    free(text);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* A file that grows gives what was promised and no more. */
START_TEST(growing)
{
    struct representation *file;
    struct body *body;
    char *text;
    size_t got;
    int error, fd;

    begin(_i == 1);
    place_fill(&place, "large", 100000, 1);
    file = place_ask(&place, "/large");
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    fd = open(place_path(&place, "large"), O_WRONLY | O_APPEND | O_CLOEXEC);
    ck_assert_int_eq(write(fd, "more", 4), 4);
    close(fd);
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_eq(got, 100000);
    body_release(body);
    free(text);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* Beyond 4 GiB, in a sparse file. */
START_TEST(far_offsets)
{
    const uint64_t far = UINT64_C(5) << 30;
    struct representation *file;
    struct body *body;
    char *text;
    size_t got;
    int error, fd;

    begin(_i == 1);
    fd = open(place_path(&place, "sparse"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq(pwrite(fd, "here", 4, (off_t)far), 4);
    close(fd);
    file = place_ask(&place, "/sparse");
    ck_assert_uint_eq(file->size, far + 4);
    ck_assert_int_eq(body_from_file(&body, place.store, file, far - 2, 6), 0);
    text = body_read(&place, body, &got, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_eq(got, 6);
    ck_assert_mem_eq(text, "\0\0here", 6);
    body_release(body);
    free(text);
    representation_unref(&file);
    place_close(&place);
}
END_TEST

/* Released before, while, and after it is read; and the store freed at once. */
START_TEST(released)
{
    struct representation *file;
    struct body_piece piece;
    struct body *body;

    begin(true);
    place_fill(&place, "large", 1 << 20, 1);
    file = place_ask(&place, "/large");
    ck_assert_int_eq(body_from_file(&body, place.store, file, 0, file->size), 0);
    representation_unref(&file);
    body->ready = on_ready;
    if (_i > 0) {
        body_next(body, &piece);
        ck_assert_int_eq(piece.kind, BODY_LATER);
    }
    if (_i == 2)
        evix_loop_run(place.loop, EVIX_RUN_NOWAIT);
    if (_i >= 3)
        while (!ready)
            evix_loop_run(place.loop, EVIX_RUN_ONCE);
    if (_i >= 4) {
        body_next(body, &piece);
        ck_assert_int_eq(piece.kind, BODY_BYTES);
    }
    body_release(body);
    place_close(&place);
}
END_TEST

/* Buffers come from a pool and go back to it. */
START_TEST(pool)
{
    struct representation *file;
    struct body *body[20];
    struct body_piece piece;

    begin(true);
    place_fill(&place, "large", 1 << 20, 1);
    file = place_ask(&place, "/large");
    for (size_t i = 0; i < COUNT(body); i++) {
        ck_assert_int_eq(body_from_file(&body[i], place.store, file, 0, file->size), 0);
        body[i]->ready = on_ready;
        body_next(body[i], &piece);
    }
    ck_assert_uint_eq(place.store->chunks.count, 0);
    ck_assert_int_eq(evix_loop_run(place.loop, EVIX_RUN_DEFAULT), 0);
    for (size_t i = 0; i < COUNT(body); i++)
        body_release(body[i]);
    ck_assert_uint_eq(place.store->chunks.count, 16); /* the others went back to the system */
    representation_unref(&file);
    place_close(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("body_file");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, pages_are_the_kernels, NULL);
    tcase_add_loop_test(tcase, ranges, 0, 2);
    tcase_add_test(tcase, kinds);
    tcase_add_test(tcase, really_cold);
    tcase_add_test(tcase, looked_for_in_order);
    tcase_add_loop_test(tcase, read_and_given_from_the_cache, 0, 2);
    tcase_add_test(tcase, taken_back);
    tcase_add_test(tcase, taken_back_and_cut_short);
    tcase_add_loop_test(tcase, aimed_anew, 0, 2);
    tcase_add_test(tcase, cut_short);
    tcase_add_loop_test(tcase, growing, 0, 2);
    tcase_add_loop_test(tcase, far_offsets, 0, 2);
    tcase_add_loop_test(tcase, released, 0, 5);
    tcase_add_test(tcase, pool);
    return files_run_beneath("body_file", tcase);
}
