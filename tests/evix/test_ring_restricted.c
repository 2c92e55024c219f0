/* SPDX-License-Identifier: MIT */
/* What a ring of the loop's refuses, whoever asks: evix/uring_restrict.h. */

#include "../../src/evix/uring_open.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct io_uring ring;

static int open_ring(void)
{
    int error = evix__uring_open(&ring, URING_WAITED_FOR, 8, 16);
    if (error < 0)
        return error;
    error = evix__uring_start(&ring);
    if (error < 0)
        io_uring_queue_exit(&ring);
    return error;
}

static void setup(void)
{
    ck_assert_int_eq(open_ring(), 0);
}

static void teardown(void)
{
    io_uring_queue_exit(&ring);
}

static struct io_uring_sqe *take_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    ck_assert_ptr_nonnull(entry);
    return entry;
}

/* What became of the entry that was prepared. */
static int outcome(void)
{
    struct io_uring_cqe *completion;
    (void)io_uring_submit_and_wait(&ring, 1);
    ck_assert_int_eq(io_uring_peek_cqe(&ring, &completion), 0);
    int result = completion->res;
    io_uring_cqe_seen(&ring, completion);
    return result;
}

static void prepare_socket(struct io_uring_sqe *entry)
{
    io_uring_prep_rw(IORING_OP_SOCKET, entry, AF_INET, NULL, 0, SOCK_STREAM);
}

static void prepare_connect(struct io_uring_sqe *entry)
{
    static const struct sockaddr address = {.sa_family = AF_UNIX};
    io_uring_prep_connect(entry, 0, &address, sizeof(address));
}

static void prepare_write(struct io_uring_sqe *entry)
{
    io_uring_prep_write(entry, 1, "", 0, 0);
}

static void prepare_unlink(struct io_uring_sqe *entry)
{
    io_uring_prep_unlinkat(entry, AT_FDCWD, "/nonexistent/file", 0);
}

static void prepare_rename(struct io_uring_sqe *entry)
{
    io_uring_prep_renameat(entry, AT_FDCWD, "/nonexistent/a", AT_FDCWD, "/nonexistent/b", 0);
}

static void prepare_command(struct io_uring_sqe *entry)
{
    io_uring_prep_rw(IORING_OP_URING_CMD, entry, 0, NULL, 0, 0);
}

static const struct {
    const char *name;
    void (*prepare)(struct io_uring_sqe *entry);
} refused[] = {
    {"socket", prepare_socket}, {"connect", prepare_connect}, {"write", prepare_write},
    {"unlink", prepare_unlink}, {"rename", prepare_rename},   {"command", prepare_command},
};

START_TEST(test_refused)
{
    refused[_i].prepare(take_entry());
    int result = outcome();
    /* A kernel that has no such operation knows it even less. */
    ck_assert_msg(result == -EACCES || result == -EINVAL, "%s: %d", refused[_i].name, result);
}
END_TEST

START_TEST(test_granted)
{
    io_uring_prep_nop(take_entry());
    ck_assert_int_eq(outcome(), 0);
}
END_TEST

START_TEST(test_nothing_more_is_registered)
{
    int fd = 0;
    int error = io_uring_register((unsigned)ring.ring_fd, IORING_REGISTER_FILES, &fd, 1);
    ck_assert_int_eq(error, -EACCES);
}
END_TEST

int main(void)
{
    int error = open_ring();
    if (error < 0) {
        printf("skipped: this machine gives us no ring (error %d)\n", -error);
        return 77;
    }
    io_uring_queue_exit(&ring);
    Suite *suite = suite_create("ring restricted");
    TCase *cases = tcase_create("ring restricted");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, test_refused, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(cases, test_granted);
    tcase_add_test(cases, test_nothing_more_is_registered);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
