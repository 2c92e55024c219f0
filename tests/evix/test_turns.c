/* SPDX-License-Identifier: MIT */
/*
 * Ranges of files take turns: an iteration sends so many bytes, whatever number of sockets has
 * room. How one range is sent is in test_socket.c. Run by `make check`, on every backend that the
 * machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

#include <sys/mman.h>
#include <time.h>

enum {
    COUNT = 32,
    BYTES = 4 << 20,               /* more than any socket holds, and than a turn */
    BYTES_PER_ITERATION = 2 << 20, /* at most: a turn that begins with its last byte may go on */
};

static struct download {
    struct evix_socket socket;
    struct evix_op send;
    int peer;
    ssize_t result;
    bool has_ended;
} downloads[COUNT];
static int file;

static void on_sent(struct evix_op *op, ssize_t result)
{
    struct download *download = EVIX_CONTAINER_OF(op, struct download, send);
    download->result = result;
    download->has_ended = true;
}

static void start_all(void)
{
    file = memfd_create("turns", MFD_CLOEXEC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, BYTES), 0);
    for (int i = 0; i < COUNT; i++) {
        int fds[2];
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        downloads[i] = (struct download){.peer = fds[1]};
        evix_socket_init(&downloads[i].socket, loop, fds[0]);
        evix_send_file(&downloads[i].send, &downloads[i].socket, file, 0, BYTES, on_sent);
    }
}

static void close_all(void)
{
    for (int i = 0; i < COUNT; i++) {
        evix_socket_close(&downloads[i].socket, NULL);
        close(downloads[i].peer);
    }
    run_to_end();
    close(file);
    loop_close();
}

/* Without sleeping: where all sockets are full, nothing would wake it. */
static void iterate(void)
{
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_NOWAIT), 0);
}

static uint64_t progress(void)
{
    uint64_t bytes = 0;
    for (int i = 0; i < COUNT; i++)
        bytes += downloads[i].has_ended ? (uint64_t)downloads[i].result
                                        : evix_op_progress(&downloads[i].send);
    return bytes;
}

/* What all peers have got by now. */
static uint64_t receive_all(void)
{
    static char memory[1 << 16];
    uint64_t bytes = 0;
    for (int i = 0; i < COUNT; i++)
        for (ssize_t got; (got = recv(downloads[i].peer, memory, sizeof(memory), 0)) > 0;)
            bytes += (uint64_t)got;
    return bytes;
}

START_TEST(test_an_iteration_sends_so_much_and_no_more)
{
    uint64_t before = 0, received = 0;
    loop_open(_i);
    start_all();
    while (before < (uint64_t)COUNT * BYTES) {
        iterate();
        ck_assert_uint_le(progress() - before, BYTES_PER_ITERATION);
        before = progress();
        received += receive_all();
    }
    ck_assert_uint_eq(received, before);
    run_to_end();
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(downloads[i].result, BYTES);
    close_all();
}
END_TEST

/* What was believed when it was started is good for its first turn, however late that comes. */
START_TEST(test_first_turn_is_never_too_late)
{
    struct timespec pause = {.tv_nsec = 3000000};
    loop_open(_i);
    start_all();
    for (int i = 0; i < COUNT; i++)
        evix_cancel(&downloads[i].send);
    run_to_end();
    downloads[0].has_ended = false;
    evix_send_file_fresh(&downloads[0].send, &downloads[0].socket, file, 0, 1000, 1, on_sent);
    nanosleep(&pause, NULL);
    evix_now_update(loop);
    run_to_end();
    ck_assert_int_eq(downloads[0].result, 1000);
    close_all();
}
END_TEST

/* Each has begun before anybody has had three turns. */
START_TEST(test_all_have_their_turn)
{
    loop_open(_i);
    start_all();
    for (int i = 0; i < COUNT; i++) {
        iterate();
        receive_all();
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_uint_gt(evix_op_progress(&downloads[i].send), 0);
    close_all();
}
END_TEST

START_TEST(test_cancelled_while_waiting_for_the_turn)
{
    loop_open(_i);
    start_all();
    iterate();
    for (int i = 0; i < COUNT; i++)
        evix_cancel(&downloads[i].send);
    run_to_end();
    for (int i = 0; i < COUNT; i++) {
        ck_assert(downloads[i].has_ended);
        ck_assert_int_eq(downloads[i].result, -ECANCELED);
    }
    close_all();
}
END_TEST

/* The loop may go while they wait. */
START_TEST(test_end_of_the_loop)
{
    loop_open(_i);
    start_all();
    iterate();
    evix_loop_free(&loop);
    for (int i = 0; i < COUNT; i++) {
        close(downloads[i].socket.fd);
        close(downloads[i].peer);
        ck_assert(!downloads[i].has_ended);
    }
    close(file);
}
END_TEST

int main(void)
{
    find_usable();
    Suite *suite = suite_create("turns");
    TCase *cases = tcase_create("files");
    tcase_set_timeout(cases, 60);
    add_for_each(cases, test_an_iteration_sends_so_much_and_no_more);
    add_for_each(cases, test_all_have_their_turn);
    add_for_each(cases, test_first_turn_is_never_too_late);
    add_for_each(cases, test_cancelled_while_waiting_for_the_turn);
    add_for_each(cases, test_end_of_the_loop);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
