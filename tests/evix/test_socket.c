/* SPDX-License-Identifier: MIT */
/*
 * Operations that move connections and bytes: accept, connect, receive, send, files.
 * Cancelling, closing and time limits are in test_op.c.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

#include <limits.h>
#include <sys/resource.h>

/* ---- accept ---- */

enum { BURST = 200 };

static struct evix_socket listener;
static struct evix_op accept_op;
static int accepted[BURST];
static int accept_count, accept_end, accept_in_turn, accept_in_turn_most;

static void on_accept(struct evix_op *op, ssize_t result)
{
    if (!evix_op_more(op)) {
        accept_end = (int)result;
        return;
    }
    ck_assert_int_ge(result, 0);
    ck_assert_int_lt(accept_count, BURST);
    accepted[accept_count++] = (int)result;
    accept_in_turn++;
}

static void open_listener(void)
{
    accept_count = accept_end = 0;
    evix_socket_init(&listener, loop, listen_loopback());
    evix_accept(&accept_op, &listener, on_accept);
}

static void accept_until(int count)
{
    while (accept_count < count) {
        accept_in_turn = 0;
        turn();
        if (accept_in_turn > accept_in_turn_most)
            accept_in_turn_most = accept_in_turn;
    }
}

static void close_accepted(void)
{
    for (int i = 0; i < accept_count; i++)
        close(accepted[i]);
    evix_socket_close(&listener, NULL);
    run_to_end();
    ck_assert_int_eq(accept_end, -ECANCELED);
}

START_TEST(test_accept_burst)
{
    int clients[BURST];
    loop_open(_i);
    open_listener();
    accept_in_turn_most = 0;
    struct sockaddr_in address = address_of(listener.fd);
    for (int i = 0; i < BURST; i++)
        clients[i] = connect_to(&address);
    accept_until(BURST);
    if (usable[_i] != EVIX_BACKEND_IO_URING)
        ck_assert_int_eq(accept_in_turn_most, 64);
    for (int i = 0; i < BURST; i++) {
        ck_assert_int_ne(fcntl(accepted[i], F_GETFL) & O_NONBLOCK, 0);
        ck_assert_int_ne(fcntl(accepted[i], F_GETFD) & FD_CLOEXEC, 0);
    }
    int late = connect_to(&address); /* it is still armed */
    accept_count--;
    close(accepted[accept_count]);
    accept_until(BURST);
    close(late);
    for (int i = 0; i < BURST; i++)
        close(clients[i]);
    close_accepted();
    loop_close();
}
END_TEST

/* Without descriptors the accept ends, once, and does not turn the loop; then it is started anew.
 */
START_TEST(test_accept_without_descriptors)
{
    struct rlimit former, tight;
    if (is_under_valgrind())
        return; /* it keeps such limits by itself: after the call, when the connection is lost */
    loop_open(_i);
    open_listener();
    struct sockaddr_in address = address_of(listener.fd);
    int first = connect_to(&address);
    accept_until(1);
    evix_cancel(&accept_op); /* io_uring takes the limit that holds when an accept starts */
    run_to_end();
    int second = connect_to(&address);
    int next = dup(second);
    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &former), 0);
    tight = former;
    tight.rlim_cur = (rlim_t)next;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
    evix_accept(&accept_op, &listener, on_accept);
    while (evix_op_pending(&accept_op))
        turn();
    ck_assert_int_eq(accept_end, -EMFILE);
    ck_assert(!evix_loop_alive(loop));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &former), 0);
    evix_accept(&accept_op, &listener, on_accept);
    accept_until(2);
    close(first);
    close(second);
    close_accepted();
    loop_close();
}
END_TEST

/* ---- connect ---- */

static struct evix_socket client;
static struct evix_op connect_op;
static ssize_t connect_result;

static void on_connect(struct evix_op *op, ssize_t result)
{
    ck_assert(!evix_op_more(op));
    ck_assert(!evix_op_pending(op));
    connect_result = result;
    evix_socket_close(op->socket, NULL);
}

static ssize_t connect_client(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    connect_result = 1;
    evix_socket_init(&client, loop, fd);
    evix_connect(&connect_op, &client, (const struct sockaddr *)address, sizeof(*address),
                 on_connect);
    ck_assert_int_eq(connect_result, 1); /* never inside the call */
    run_to_end();
    return connect_result;
}

START_TEST(test_connect)
{
    loop_open(_i);
    int fd = listen_loopback();
    struct sockaddr_in address = address_of(fd);
    ck_assert_int_eq(connect_client(&address), 0);
    close(fd);
    loop_close();
}
END_TEST

START_TEST(test_connect_refused)
{
    loop_open(_i);
    int fd = bind_loopback(); /* a port that is ours, and that does not listen */
    struct sockaddr_in address = address_of(fd);
    ck_assert_int_eq(connect_client(&address), -ECONNREFUSED);
    close(fd);
    loop_close();
}
END_TEST

/* ---- transfers ---- */

/* One end: sends `to_send` bytes of a known pattern, checks as many that it receives. */
struct end {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct iovec *iov;
    char *memory;
    size_t to_send, to_receive, received;
    ssize_t sent, receive_end;
    int receives;
};

static struct end ends[2];

static char pattern(size_t offset)
{
    return (char)(offset * 31 + offset / 251);
}

static void on_receive(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, receive);
    const char *data = evix_op_data(op);
    if (!evix_op_more(op)) {
        end->receive_end = result;
        return;
    }
    ck_assert_int_gt(result, 0);
    ssize_t right = 0; /* an assertion a byte would take its time */
    while (right < result && data[right] == pattern(end->received + (size_t)right))
        right++;
    ck_assert_int_eq(right, result);
    end->received += (size_t)result;
    end->receives++;
}

static void on_send(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, send);
    end->sent = result;
    ck_assert_int_eq((ssize_t)evix_op_progress(op), result);
    shutdown(end->socket.fd, SHUT_WR);
}

static void open_end(struct end *end, int fd, size_t to_send)
{
    *end = (struct end){.to_send = to_send, .sent = -1, .receive_end = 1};
    end->memory = malloc(to_send + 1);
    ck_assert_ptr_nonnull(end->memory);
    for (size_t i = 0; i < to_send; i++)
        end->memory[i] = pattern(i);
    evix_socket_init(&end->socket, loop, fd);
    evix_receive(&end->receive, &end->socket, on_receive);
}

/* In pieces of uneven sizes, with empty ones between; `count` of them. */
static void send_pieces(struct end *end, unsigned count)
{
    size_t offset = 0, each = end->to_send / count;
    end->iov = malloc(count * sizeof(*end->iov));
    ck_assert_ptr_nonnull(end->iov);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes = i % 5 == 3 ? 0 : i % 5 == 4 ? 2 * each : each;
        if (i == count - 1)
            bytes = end->to_send - offset;
        end->iov[i] = (struct iovec){.iov_base = end->memory + offset, .iov_len = bytes};
        offset += bytes;
    }
    ck_assert_uint_eq(offset, end->to_send);
    evix_send(&end->send, &end->socket, end->iov, count, 0, on_send);
}

static void close_end(struct end *end)
{
    evix_socket_close(&end->socket, NULL);
    run_to_end();
    free(end->memory);
    free(end->iov);
}

static void transfer(int fds[2], size_t bytes_0, unsigned count_0, size_t bytes_1, unsigned count_1)
{
    open_end(&ends[0], fds[0], bytes_0);
    open_end(&ends[1], fds[1], bytes_1);
    send_pieces(&ends[0], count_0);
    send_pieces(&ends[1], count_1);
    run_to_end();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ends[i].sent, (ssize_t)ends[i].to_send);
        ck_assert_int_eq(ends[i].receive_end, 0);
        ck_assert_uint_eq(ends[i].received, ends[1 - i].to_send);
    }
    close_end(&ends[0]);
    close_end(&ends[1]);
}

START_TEST(test_small_and_empty)
{
    int fds[2];
    loop_open(_i);
    tcp_pair(fds);
    transfer(fds, 5, 1, 1, 1);
    tcp_pair(fds);
    transfer(fds, 0, 1, 7, 7);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    transfer(fds, 100, 3, 0, 4);
    loop_close();
}
END_TEST

START_TEST(test_many_buffers)
{
    int fds[2];
    loop_open(_i);
    tcp_pair(fds);
    transfer(fds, 3000, 3000, 2 * IOV_MAX, IOV_MAX);
    tcp_pair(fds);
    transfer(fds, 3000000, 5 * IOV_MAX + 3, 1000, IOV_MAX + 1);
    loop_close();
}
END_TEST

/* Both directions are full at the same time; both bits of an event have to be served. */
START_TEST(test_big_both_ways_over_small_buffers)
{
    int fds[2];
    loop_open(_i);
    tcp_pair(fds);
    limit_send_buffer(fds[0], 4096);
    limit_send_buffer(fds[1], 4096);
    transfer(fds, 4000000, 7, 5000000, 1);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    limit_buffers(fds[0], 4096);
    limit_buffers(fds[1], 4096);
    transfer(fds, 1000000, 1, 1000000, 900);
    loop_close();
}
END_TEST

/* Data and the end of the stream wait in the socket together: both have to be seen. */
START_TEST(test_data_and_end_at_once)
{
    int fds[2];
    loop_open(_i);
    for (int before = 0; before < 2; before++) {
        tcp_pair(fds);
        open_end(&ends[0], fds[0], 0);
        for (int i = 0; i < 3 * before; i++) /* armed, and told of it by an event */
            ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
        ck_assert_int_eq(send(fds[1], (char[]){pattern(0), pattern(1)}, 2, 0), 2);
        ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
        run_to_end();
        ck_assert_uint_eq(ends[0].received, 2);
        ck_assert_int_eq(ends[0].receive_end, 0);
        close_end(&ends[0]);
        close(fds[1]);
    }
    loop_close();
}
END_TEST

/* A peer that has ended its side can still be sent to. */
START_TEST(test_half_close)
{
    int fds[2];
    char bytes[8];
    loop_open(_i);
    tcp_pair(fds);
    open_end(&ends[0], fds[0], 4);
    ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
    run_to_end();
    ck_assert_int_eq(ends[0].receive_end, 0);
    send_pieces(&ends[0], 1);
    run_to_end();
    ck_assert_int_eq(ends[0].sent, 4);
    ck_assert_int_eq(recv(fds[1], bytes, sizeof(bytes), 0), 4);
    close_end(&ends[0]);
    close(fds[1]);
    loop_close();
}
END_TEST

/* ---- a peer that goes away ---- */

static void on_send_fails(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, send);
    end->sent = result;
}

START_TEST(test_send_to_a_reset_connection)
{
    int fds[2];
    char big[65536] = {0};
    loop_open(_i);
    tcp_pair(fds);
    limit_buffers(fds[0], 4096);
    limit_buffers(fds[1], 4096);
    open_end(&ends[0], fds[0], 0);
    struct iovec vectors[64];
    for (int i = 0; i < 64; i++)
        vectors[i] = (struct iovec){.iov_base = big, .iov_len = sizeof(big)};
    evix_send(&ends[0].send, &ends[0].socket, vectors, 64, 0, on_send_fails);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1);
    ck_assert(evix_op_pending(&ends[0].send)); /* parked: the peer reads nothing */
    uint64_t progress = evix_op_progress(&ends[0].send);
    reset_close(fds[1]);
    run_to_end(); /* and no SIGPIPE */
    ck_assert(ends[0].sent == -ECONNRESET || ends[0].sent == -EPIPE);
    ck_assert(ends[0].receive_end == -ECONNRESET || ends[0].receive_end == 0);
    ck_assert_uint_ge(evix_op_progress(&ends[0].send), progress);

    evix_send(&ends[0].send, &ends[0].socket, vectors, 1, EVIX_SEND_MORE, on_send_fails);
    run_to_end();
    ck_assert_int_lt(ends[0].sent, 0);
    close_end(&ends[0]);
    loop_close();
}
END_TEST

static struct evix_timer end_timer;

static void on_end(struct evix_timer *timer)
{
    (void)timer;
}

/* Nobody reads, the peer resets: the loop sleeps all the same. */
START_TEST(test_reset_while_paused_does_not_spin)
{
    int fds[2];
    struct evix_counters before, after;
    loop_open(_i);
    tcp_pair(fds);
    open_end(&ends[0], fds[0], 0);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 1); /* registered and parked */
    evix_cancel(&ends[0].receive);
    run_to_end();
    ck_assert_int_eq(ends[0].receive_end, -ECANCELED);
    reset_close(fds[1]);
    evix_timer_init(&end_timer, loop, on_end);
    evix_timer_start(&end_timer, 50, 0);
    evix_loop_counters(loop, &before);
    run_to_end();
    evix_loop_counters(loop, &after);
    ck_assert_uint_le(after.iterations - before.iterations, 5);
    evix_receive(&ends[0].receive, &ends[0].socket, on_receive); /* it is told when it asks */
    run_to_end();
    ck_assert_int_eq(ends[0].receive_end, -ECONNRESET);
    close_end(&ends[0]);
    loop_close();
}
END_TEST

/* What came while nobody read is there when reading goes on. */
START_TEST(test_resume_after_pause)
{
    int fds[2];
    char bytes[1000];
    loop_open(_i);
    tcp_pair(fds);
    open_end(&ends[0], fds[0], 0);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = pattern(i);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_int_eq(send(fds[1], bytes + i * 100, 100, 0), 100);
        while (ends[0].received < (i + 1) * 100)
            turn();
        evix_cancel(&ends[0].receive);
        run_to_end();
        ck_assert_int_eq(ends[0].receive_end, -ECANCELED);
        if (i % 2 == 0 && i < 9) { /* arrives while paused */
            i++;
            ck_assert_int_eq(send(fds[1], bytes + i * 100, 100, 0), 100);
            ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_NOWAIT), 0);
        }
        evix_receive(&ends[0].receive, &ends[0].socket, on_receive);
        while (ends[0].received < (i + 1) * 100)
            turn();
    }
    close_end(&ends[0]);
    close(fds[1]);
    loop_close();
}
END_TEST

/* ---- fairness: one peer that never stops sending does not hold the loop ---- */

static struct evix_timer tick;
static int ticks;

static void on_tick(struct evix_timer *timer)
{
    ticks++;
    evix_timer_start(timer, 0, 0);
}

START_TEST(test_a_flood_does_not_hold_the_loop)
{
    enum { BYTES = 8 << 20 };
    int fds[2];
    loop_open(_i);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    limit_buffers(fds[0], 4 << 20);
    limit_buffers(fds[1], 4 << 20);
    open_end(&ends[0], fds[0], BYTES);
    open_end(&ends[1], fds[1], 0);
    evix_timer_init(&tick, loop, on_tick);
    evix_timer_start(&tick, 0, 0);
    evix_unref(&tick.handle);
    ticks = 0;
    send_pieces(&ends[0], 1);
    send_pieces(&ends[1], 1);
    run_to_end();
    evix_timer_stop(&tick);
    ck_assert_uint_eq(ends[1].received, BYTES);
    ck_assert_int_ge(ticks, 4);
    close_end(&ends[0]);
    close_end(&ends[1]);
    loop_close();
}
END_TEST

/* ---- files ---- */

static int make_file(size_t bytes)
{
    char name[] = "/tmp/evix-test-socket-XXXXXX";
    int fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    char *memory = malloc(bytes + 1);
    ck_assert_ptr_nonnull(memory);
    for (size_t i = 0; i < bytes; i++)
        memory[i] = pattern(i);
    ck_assert_int_eq(pwrite(fd, memory, bytes, 100), (ssize_t)bytes);
    free(memory);
    return fd;
}

static void send_file(int row, size_t bytes, size_t asked, bool is_unix)
{
    int fds[2];
    loop_open(row);
    if (is_unix)
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    else
        tcp_pair(fds);
    limit_send_buffer(fds[0], 4096);
    int file = make_file(bytes);
    open_end(&ends[0], fds[0], 0);
    open_end(&ends[1], fds[1], 0);
    evix_send_file(&ends[0].send, &ends[0].socket, file, 100, (uint32_t)asked, on_send);
    send_pieces(&ends[1], 1);
    run_to_end();
    ck_assert_int_eq(ends[0].sent, (ssize_t)(asked < bytes ? asked : bytes));
    ck_assert_int_eq((ssize_t)ends[1].received, ends[0].sent);
    ck_assert_int_eq(lseek(file, 0, SEEK_CUR), 0); /* the caller's position is untouched */
    close_end(&ends[0]);
    close_end(&ends[1]);
    close(file);
    loop_close();
}

START_TEST(test_send_file)
{
    send_file(_i, 3000000, 3000000, false);
    send_file(_i, 500000, 500000, true);
    send_file(_i, 100, 10, false);
    send_file(_i, 0, 0, false);
}
END_TEST

/* A file that is shorter than was said: the result says where it ended. */
START_TEST(test_send_file_that_ends_early)
{
    send_file(_i, 1000000, 2000000, false);
    send_file(_i, 1000, 2000, true);
    send_file(_i, 0, 4000, false);
}
END_TEST

START_TEST(test_send_file_fails)
{
    int fds[2];
    loop_open(_i);
    tcp_pair(fds);
    open_end(&ends[0], fds[0], 0);
    evix_send_file(&ends[0].send, &ends[0].socket, -1, 0, 10, on_send_fails);
    while (evix_op_pending(&ends[0].send))
        turn();
    ck_assert_int_eq(ends[0].sent, -EBADF);
    close_end(&ends[0]);
    close(fds[1]);
    loop_close();
}
END_TEST

static void on_part(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, send);
    ck_assert_int_ge(result, 0);
    ck_assert_int_eq((ssize_t)evix_op_progress(op), result);
    end->sent = result;
}

static void on_late(struct evix_timer *timer)
{
    (void)timer;
}

/* Sends a file from `from` on, to a peer that reads only when the time is over. How much left. */
static size_t send_to_a_late_reader(int file, size_t from, size_t bytes, uint32_t fresh_ms)
{
    struct evix_timer late;
    evix_send_file_fresh(&ends[0].send, &ends[0].socket, file, (off_t)(100 + from),
                         (uint32_t)(bytes - from), fresh_ms, on_part);
    evix_timer_init(&late, loop, on_late);
    evix_timer_start(&late, 30, 0);
    while (evix_is_active(&late.handle))
        turn();
    ck_assert(evix_op_pending(&ends[0].send)); /* the socket is full */
    evix_receive(&ends[1].receive, &ends[1].socket, on_receive);
    while (evix_op_pending(&ends[0].send))
        turn();
    evix_cancel(&ends[1].receive);
    while (evix_op_pending(&ends[1].receive))
        turn();
    return (size_t)ends[0].sent;
}

/* Whoever had to wait is told before more of the file is looked at; else it is sent whole. */
START_TEST(test_send_file_for_as_long_as_it_is_fresh)
{
    size_t bytes = 8000000, from;
    int fds[2];
    loop_open(_i);
    tcp_pair(fds);
    limit_send_buffer(fds[0], 100000);
    int file = make_file(bytes);
    open_end(&ends[0], fds[0], 0);
    open_end(&ends[1], fds[1], 0);
    evix_cancel(&ends[1].receive);
    while (evix_op_pending(&ends[1].receive))
        turn();
    from = send_to_a_late_reader(file, 0, bytes, 10);
    ck_assert_uint_gt(from, 0);
    ck_assert_uint_lt(from, bytes);
    from += send_to_a_late_reader(file, from, bytes, 0);
    ck_assert_uint_eq(from, bytes);
    shutdown(fds[0], SHUT_WR);
    evix_receive(&ends[1].receive, &ends[1].socket, on_receive);
    while (evix_op_pending(&ends[1].receive))
        turn();
    ck_assert_uint_eq(ends[1].received, bytes);
    close_end(&ends[0]);
    close_end(&ends[1]);
    close(file);
    loop_close();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("socket");
    TCase *cases = tcase_create("socket");
    tcase_set_timeout(cases, 30);
    add_for_each(cases, test_accept_burst);
    add_for_each(cases, test_accept_without_descriptors);
    add_for_each(cases, test_connect);
    add_for_each(cases, test_connect_refused);
    add_for_each(cases, test_small_and_empty);
    add_for_each(cases, test_many_buffers);
    add_for_each(cases, test_big_both_ways_over_small_buffers);
    add_for_each(cases, test_data_and_end_at_once);
    add_for_each(cases, test_half_close);
    add_for_each(cases, test_send_to_a_reset_connection);
    add_for_each(cases, test_reset_while_paused_does_not_spin);
    add_for_each(cases, test_resume_after_pause);
    add_for_each(cases, test_a_flood_does_not_hold_the_loop);
    add_for_each(cases, test_send_file);
    add_for_each(cases, test_send_file_that_ends_early);
    add_for_each(cases, test_send_file_fails);
    add_for_each(cases, test_send_file_for_as_long_as_it_is_fresh);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    find_usable();
    return run_suite(make_suite());
}
