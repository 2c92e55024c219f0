/* SPDX-License-Identifier: MIT */
/*
 * The life of an operation: cancelled, timed out, closed under and restarted at each stage; exactly
 * one final callback each time.
 * What the operations do is in test_socket.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

#include <sys/wait.h>

/* A connection in heap memory, so that a sanitizer sees a use after its end. */
struct connection {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct evix_timer timer;
    struct iovec iov;
    ssize_t receive_result, send_result;
    int receive_ends, send_ends, closes;
    size_t received;
};

static struct connection *it;
static int peer;
static char big[1 << 20];
static int closed_count;

static void on_receive(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, receive);
    if (evix_op_more(op)) {
        connection->received += (size_t)result;
        return;
    }
    ck_assert(!evix_op_pending(op));
    connection->receive_result = result;
    connection->receive_ends++;
}

static void on_send(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, send);
    connection->send_result = result;
    connection->send_ends++;
}

static void on_closed(struct evix_socket *socket)
{
    struct connection *connection = EVIX_CONTAINER_OF(socket, struct connection, socket);
    ck_assert_int_eq(socket->fd, -1);
    ck_assert(!evix_op_pending(&connection->receive));
    ck_assert(!evix_op_pending(&connection->send));
    closed_count++;
    free(connection);
}

static void open_connection(int row)
{
    int fds[2];
    loop_open(row);
    tcp_pair(fds);
    limit_buffers(fds[0], 4096);
    limit_buffers(fds[1], 4096);
    it = calloc(1, sizeof(*it));
    ck_assert_ptr_nonnull(it);
    evix_socket_init(&it->socket, loop, fds[0]);
    peer = fds[1];
    closed_count = 0;
}

static void close_connection(void)
{
    evix_socket_close(&it->socket, on_closed);
    evix_socket_close(&it->socket, NULL); /* harmless */
    run_to_end();
    ck_assert_int_eq(closed_count, 1);
    close(peer);
    loop_close();
}

static void start_receive(void)
{
    evix_receive(&it->receive, &it->socket, on_receive);
}

/* More than the buffers take: it parks until the peer reads. */
static void start_send(void)
{
    it->iov = (struct iovec){.iov_base = big, .iov_len = sizeof(big)};
    evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send);
}

static void nowait(int turns)
{
    for (int i = 0; i < turns; i++)
        ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_NOWAIT), 0);
}

/* ---- cancel ---- */

START_TEST(test_cancel_what_never_started)
{
    open_connection(_i);
    evix_cancel(&it->receive);
    ck_assert(!evix_op_pending(&it->receive));
    close_connection();
}
END_TEST

START_TEST(test_cancel_before_submit)
{
    open_connection(_i);
    start_receive();
    start_send();
    evix_cancel(&it->receive);
    evix_cancel(&it->receive);
    evix_cancel(&it->send);
    ck_assert_int_eq(it->receive_ends, 0); /* not inside the call */
    ck_assert(evix_op_pending(&it->receive));
    run_to_end();
    ck_assert_int_eq(it->receive_ends, 1);
    ck_assert_int_eq(it->receive_result, -ECANCELED);
    ck_assert_int_eq(it->send_ends, 1);
    ck_assert_int_eq(it->send_result, -ECANCELED);
    ck_assert_uint_eq(evix_op_progress(&it->send), 0);
    evix_cancel(&it->send); /* after the end */
    ck_assert(!evix_loop_alive(loop));
    close_connection();
}
END_TEST

START_TEST(test_cancel_parked)
{
    open_connection(_i);
    start_receive();
    start_send();
    nowait(4);
    ck_assert(evix_op_pending(&it->receive));
    ck_assert(evix_op_pending(&it->send));
    evix_cancel(&it->receive);
    evix_cancel(&it->send);
    evix_cancel(&it->send);
    ck_assert_int_eq(it->receive_ends + it->send_ends, 0);
    run_to_end();
    ck_assert_int_eq(it->receive_ends, 1);
    ck_assert_int_eq(it->receive_result, -ECANCELED);
    ck_assert_int_eq(it->send_ends, 1);
    ck_assert_int_eq(it->send_result, -ECANCELED);
    ck_assert_uint_gt(evix_op_progress(&it->send), 0);
    close_connection();
}
END_TEST

static void on_receive_cancels(struct evix_op *op, ssize_t result)
{
    on_receive(op, result);
    if (evix_op_more(op)) {
        evix_cancel(op);
        ck_assert(evix_op_pending(op));
    }
}

START_TEST(test_cancel_in_its_own_callback)
{
    open_connection(_i);
    evix_receive(&it->receive, &it->socket, on_receive_cancels);
    ck_assert_int_eq(send(peer, "x", 1, 0), 1);
    run_to_end();
    ck_assert_uint_eq(it->received, 1);
    ck_assert_int_eq(it->receive_ends, 1);
    ck_assert_int_eq(it->receive_result, -ECANCELED);
    close_connection();
}
END_TEST

/* Done, and its callback due in this very iteration: the result stands. */

static struct evix_hook late_hook;

static void on_hook_cancel(struct evix_hook *hook)
{
    evix_cancel(&it->send);
    evix_hook_stop(hook);
}

START_TEST(test_cancel_when_done)
{
    open_connection(_i);
    it->iov = (struct iovec){.iov_base = big, .iov_len = 10};
    evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send);
    evix_hook_start(&late_hook, loop, EVIX_HOOK_CHECK, on_hook_cancel);
    run_to_end();
    ck_assert_int_eq(it->send_ends, 1);
    ck_assert_int_eq(it->send_result, 10);
    close_connection();
}
END_TEST

static void on_send_restarts(struct evix_op *op, ssize_t result)
{
    on_send(op, result);
    if (it->send_ends < 3) {
        it->iov = (struct iovec){.iov_base = big, .iov_len = 5};
        evix_send(op, &it->socket, &it->iov, 1, 0, on_send_restarts);
        evix_cancel(op); /* started and cancelled inside: still one callback, later */
    }
}

START_TEST(test_restart_in_final_callback)
{
    open_connection(_i);
    it->iov = (struct iovec){.iov_base = big, .iov_len = 5};
    evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send_restarts);
    run_to_end();
    ck_assert_int_eq(it->send_ends, 3);
    ck_assert_int_eq(it->send_result, -ECANCELED);
    close_connection();
}
END_TEST

/* ---- time limits ---- */

START_TEST(test_timeout_parked)
{
    open_connection(_i);
    start_receive();
    evix_op_timeout(&it->receive, &it->timer, 5000);
    evix_op_timeout(&it->receive, &it->timer, 10); /* a new limit replaces the old */
    uint64_t before = evix_now_ns(loop);
    run_to_end();
    ck_assert_uint_ge(evix_now_ns(loop) - before, 10000000);
    ck_assert_uint_lt(evix_now_ns(loop) - before, 4000000000);
    ck_assert_int_eq(it->receive_ends, 1);
    ck_assert_int_eq(it->receive_result, -ETIMEDOUT);
    ck_assert(!evix_is_active(&it->timer.handle));
    close_connection();
}
END_TEST

START_TEST(test_timeout_in_time)
{
    open_connection(_i);
    it->iov = (struct iovec){.iov_base = big, .iov_len = 10};
    evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send);
    evix_op_timeout(&it->send, &it->timer, 3600 * 1000);
    run_to_end();
    ck_assert_int_eq(it->send_result, 10);
    ck_assert(!evix_is_active(&it->timer.handle));
    evix_op_timeout(&it->send, &it->timer, 1); /* not pending: nothing happens */
    ck_assert(!evix_loop_alive(loop));
    close_connection();
}
END_TEST

START_TEST(test_cancel_beats_timeout)
{
    open_connection(_i);
    start_receive();
    evix_op_timeout(&it->receive, &it->timer, 0);
    evix_cancel(&it->receive);
    run_to_end();
    ck_assert_int_eq(it->receive_ends, 1);
    ck_assert_int_eq(it->receive_result, -ECANCELED);
    close_connection();
}
END_TEST

START_TEST(test_timeout_of_a_connect)
{
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), full = bind_loopback();
    int fillers[64], count = 0;
    open_connection(_i);
    ck_assert_int_eq(listen(full, 0), 0);
    address = address_of(full);
    for (; count < 64; count++) { /* until the queue is full and SYNs are dropped */
        fillers[count] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fillers[count], (struct sockaddr *)&address, sizeof(address));
    }
    struct evix_socket client;
    evix_socket_init(&client, loop, fd);
    evix_connect(&it->send, &client, (struct sockaddr *)&address, sizeof(address), on_send);
    evix_op_timeout(&it->send, &it->timer, 30);
    run_to_end();
    ck_assert_int_eq(it->send_ends, 1);
    ck_assert_int_eq(it->send_result, -ETIMEDOUT);
    evix_socket_close(&client, NULL);
    run_to_end();
    while (count > 0)
        close(fillers[--count]);
    close(full);
    close_connection();
}
END_TEST

/* ---- close ---- */

/* Started, parked, or done: whatever was there ends with one callback, then the socket is closed.
 */
START_TEST(test_close_at_each_stage)
{
    for (int turns = 0; turns < 5; turns++) {
        open_connection(_i);
        start_receive();
        start_send();
        nowait(turns);
        if (turns == 4)
            ck_assert_int_eq(send(peer, "x", 1, 0), 1);
        evix_socket_close(&it->socket, NULL);
        ck_assert_int_eq(it->receive_ends + it->send_ends, 0);
        run_to_end();
        ck_assert_int_eq(it->receive_ends, 1);
        ck_assert_int_eq(it->send_ends, 1);
        ck_assert_int_eq(it->receive_result, -ECANCELED);
        ck_assert_int_eq(it->send_result, -ECANCELED);
        free(it);
        close(peer);
        loop_close();
    }
}
END_TEST

/* On a socket that is being closed an operation is cancelled from the start. */

static void on_send_starts_more(struct evix_op *op, ssize_t result)
{
    on_send(op, result);
    if (it->send_ends == 1) {
        ck_assert_int_eq(result, -ECANCELED);
        start_send();
    }
}

START_TEST(test_start_while_closing)
{
    open_connection(_i);
    it->iov = (struct iovec){.iov_base = big, .iov_len = sizeof(big)};
    evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send_starts_more);
    nowait(2);
    evix_socket_close(&it->socket, on_closed);
    while (closed_count == 0) {
        ck_assert_int_le(it->send_ends, 2);
        turn();
    }
    close(peer);
    loop_close();
}
END_TEST

/* The peer goes away, and the callback that sees it closes; memory goes with `closed`. */

static void on_receive_closes(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, receive);
    bool is_over = !evix_op_more(op);
    on_receive(op, result);
    if (is_over || connection->received >= 3)
        evix_socket_close(&connection->socket, on_closed);
}

static void on_send_closes(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, send);
    on_send(op, result);
    evix_socket_close(&connection->socket, on_closed);
}

/* `how`: bit 0 reset or orderly, bit 1 with a send in flight, bit 2 with data before. */
static void peer_closes(int row, int turns, int how)
{
    open_connection(row);
    evix_receive(&it->receive, &it->socket, on_receive_closes);
    if (how & 2) {
        it->iov = (struct iovec){.iov_base = big, .iov_len = sizeof(big)};
        evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_send_closes);
    }
    nowait(turns);
    if (how & 4)
        ck_assert_int_eq(send(peer, "xyz", 3, 0), 3);
    if (how & 1)
        reset_close(peer);
    else
        close(peer);
    run_to_end();
    ck_assert_int_eq(closed_count, 1);
    loop_close();
}

START_TEST(test_peer_closes_at_each_stage)
{
    for (int turns = 0; turns < 5; turns++)
        for (int how = 0; how < 8; how++)
            peer_closes(_i, turns, how);
}
END_TEST

/*
 * Both operations of many sockets become ready in one batch; whoever is called first closes all.
 * Events that the batch still holds must find nobody.
 */
enum { CROWD = 32 };

static struct connection *crowd[CROWD];
static int crowd_calls, crowd_ends;

static void on_crowd(struct evix_op *op, ssize_t result)
{
    (void)result;
    if (!evix_op_more(op)) {
        crowd_ends++;
        return;
    }
    crowd_calls++;
    for (int i = 0; i < CROWD; i++)
        evix_socket_close(&crowd[i]->socket, on_closed);
}

START_TEST(test_close_all_in_a_batch)
{
    int peers[CROWD];
    loop_open(_i);
    crowd_calls = crowd_ends = closed_count = 0;
    for (int i = 0; i < CROWD; i++) {
        int fds[2];
        tcp_pair(fds);
        peers[i] = fds[1];
        crowd[i] = calloc(1, sizeof(*crowd[i]));
        ck_assert_ptr_nonnull(crowd[i]);
        evix_socket_init(&crowd[i]->socket, loop, fds[0]);
        evix_receive(&crowd[i]->receive, &crowd[i]->socket, on_crowd);
    }
    nowait(3);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(send(peers[i], "x", 1, 0), 1);
    run_to_end();
    /* On io_uring the others may have received before they were cancelled. */
    if (usable[_i] != EVIX_BACKEND_IO_URING)
        ck_assert_int_eq(crowd_calls, 1);
    ck_assert_int_eq(crowd_ends, CROWD);
    ck_assert_int_eq(closed_count, CROWD);
    for (int i = 0; i < CROWD; i++)
        close(peers[i]);
    loop_close();
}
END_TEST

/* The open socket lives on in a child: closing it here must stop its events here. */
START_TEST(test_close_while_a_child_has_it)
{
    int gate[2], status;
    open_connection(_i);
    start_receive();
    nowait(3);
    ck_assert_int_eq(pipe(gate), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        char byte;
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
    }
    evix_socket_close(&it->socket, on_closed);
    run_to_end();
    ck_assert_int_eq(closed_count, 1);
    ck_assert_int_eq(send(peer, "x", 1, 0), 1); /* to the child's copy */
    nowait(3);
    close(gate[1]);
    close(gate[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close(peer);
    loop_close();
}
END_TEST

/* A loop that ends with operations in flight uses their memory no more. */
START_TEST(test_free_with_operations)
{
    open_connection(_i);
    start_receive();
    start_send();
    nowait(3);
    int fd = it->socket.fd;
    evix_loop_free(&loop);
    free(it);
    close(fd);
    close(peer);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("op");
    TCase *cases = tcase_create("op");
    tcase_set_timeout(cases, 30);
    add_for_each(cases, test_cancel_what_never_started);
    add_for_each(cases, test_cancel_before_submit);
    add_for_each(cases, test_cancel_parked);
    add_for_each(cases, test_cancel_in_its_own_callback);
    add_for_each(cases, test_cancel_when_done);
    add_for_each(cases, test_restart_in_final_callback);
    add_for_each(cases, test_timeout_parked);
    add_for_each(cases, test_timeout_in_time);
    add_for_each(cases, test_cancel_beats_timeout);
    add_for_each(cases, test_timeout_of_a_connect);
    add_for_each(cases, test_close_at_each_stage);
    add_for_each(cases, test_start_while_closing);
    add_for_each(cases, test_peer_closes_at_each_stage);
    add_for_each(cases, test_close_all_in_a_batch);
    add_for_each(cases, test_close_while_a_child_has_it);
    add_for_each(cases, test_free_with_operations);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
