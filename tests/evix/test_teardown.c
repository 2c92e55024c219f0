/* SPDX-License-Identifier: MIT */
/*
 * Connections that end in every state they can be in, by either side, many times over; and loops
 * that are freed under them. Each operation has one final callback and each socket one `closed`;
 * memory is freed in it, so that a sanitizer sees whoever comes later. No descriptor is left.
 * Run by `make check` on every backend; EVIX_TEARDOWN_ROUNDS asks for more rounds.
 */
#include <evix/evix.h>

#include <arpa/inet.h>
#include "under_valgrind.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const enum evix_backend backends[] = {EVIX_BACKEND_IO_URING, EVIX_BACKEND_EPOLL,
                                             EVIX_BACKEND_POLL};
enum { BACKENDS = sizeof(backends) / sizeof(*backends), LARGE = 4 << 20 };

/* What the connection is doing when its end comes. */
enum state {
    IDLE,           /* no operation at all */
    RECEIVING,      /* a receive waits */
    DATA_UNREAD,    /* bytes have come that no iteration has seen */
    IN_RECEIVE,     /* in the receive's callback */
    SENDING,        /* a send waits for the reader */
    SENDING_VECTOR, /* the same with several buffers */
    SENDING_FILE,   /* the same from a file */
    BOTH_WAYS,      /* a receive and a send wait */
    JUST_STARTED,   /* operations that no submit step has seen */
    JUST_CANCELLED, /* cancelled, and no iteration since */
    STARTED_ANEW,   /* cancelled, final callback seen, started again */
    TIMED,          /* a time limit runs */
    IN_SEND,        /* in the send's callback, a receive waits */
    STATES,
};

enum killer { WE_CLOSE, PEER_CLOSES, PEER_RESETS, BOTH_AT_ONCE, KILLERS };

struct connection {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct evix_timer timer;
    struct iovec iov[3];
    enum state state;
    int receive_started, receive_final;
    int send_started, send_final;
    bool is_closing, close_in_callback;
    bool is_held; /* the test holds a pointer to it: callbacks do not close it */
    int peer;
};

static struct evix_loop *loop;
static char *large;
static int file;
static int open_connections, seen_callbacks;

static int count_descriptors(void)
{
    DIR *entries = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

static bool open_loop(int row)
{
    /* Few buffers, so that running out of them is a state that is met as well. */
    struct evix_options options = {.backend = backends[row], .receive_buffers = 4};
    int error = evix_loop_new(&loop, &options);
    if (error == -ENOSYS || error == -EPERM)
        return false;
    ck_assert_int_eq(error, 0);
    return true;
}

/* A pair of TCP sockets: ours non-blocking, the peer's blocking. */
static void make_pair(int *ours, int *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    int small = 4096;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    *ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*ours, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    ck_assert_int_eq(connect(*ours, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(fcntl(*ours, F_SETFL, O_NONBLOCK), 0);
    *peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(*peer, 0);
    close(listener);
}

/* A reset leaves no port behind that would have to wait before it may be used again. */
static void reset_peer(struct connection *connection)
{
    struct linger at_once = {.l_onoff = 1};
    setsockopt(connection->peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(connection->peer);
    connection->peer = -1;
}

static void on_closed(struct evix_socket *socket)
{
    struct connection *connection = EVIX_CONTAINER_OF(socket, struct connection, socket);
    ck_assert_int_eq(connection->receive_final, connection->receive_started);
    ck_assert_int_eq(connection->send_final, connection->send_started);
    if (connection->peer >= 0)
        reset_peer(connection);
    memset(connection, 0xa5, sizeof(*connection));
    free(connection);
    open_connections--;
}

static void close_ours(struct connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    evix_socket_close(&connection->socket, on_closed);
}

static void on_received(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, receive);
    seen_callbacks++;
    if (result > 0) {
        ck_assert(evix_op_more(op));
        ck_assert_int_eq(*(const char *)evix_op_data(op), 'd');
    }
    if (!evix_op_more(op))
        connection->receive_final++;
    bool is_over = !evix_op_more(op) && result != -ECANCELED;
    if (!connection->is_held && (connection->close_in_callback || is_over))
        close_ours(connection);
}

static void on_sent(struct evix_op *op, ssize_t result)
{
    struct connection *connection = EVIX_CONTAINER_OF(op, struct connection, send);
    (void)result;
    seen_callbacks++;
    connection->send_final++;
    if (!connection->is_held)
        close_ours(connection);
}

static void start_receive(struct connection *connection)
{
    connection->receive_started++;
    evix_receive(&connection->receive, &connection->socket, on_received);
}

static void start_send(struct connection *connection, unsigned buffers, size_t bytes)
{
    connection->send_started++;
    for (unsigned i = 0; i < buffers; i++)
        connection->iov[i] = (struct iovec){large, bytes};
    evix_send(&connection->send, &connection->socket, connection->iov, buffers, 0, on_sent);
}

static void start_send_file(struct connection *connection)
{
    connection->send_started++;
    evix_send_file(&connection->send, &connection->socket, file, 0, LARGE, on_sent);
}

static void turn(void)
{
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_NOWAIT), 0);
}

static void write_peer(struct connection *connection)
{
    ck_assert_int_eq(send(connection->peer, "data", 4, MSG_NOSIGNAL), 4);
}

static void on_timed(struct evix_op *op, ssize_t result)
{
    ck_assert(result == -ETIMEDOUT || result == 0 || result == -ECONNRESET || result == -ECANCELED);
    on_received(op, result);
}

/* Brings a connection into its state. */
static void reach(struct connection *connection)
{
    switch (connection->state) {
    case IDLE:
        break;
    case RECEIVING:
        start_receive(connection);
        turn();
        break;
    case DATA_UNREAD:
        start_receive(connection);
        turn();
        write_peer(connection);
        break;
    case IN_RECEIVE:
        start_receive(connection);
        connection->close_in_callback = true;
        write_peer(connection);
        break;
    case SENDING:
        start_send(connection, 1, LARGE);
        turn();
        break;
    case SENDING_VECTOR:
        start_send(connection, 3, LARGE / 3);
        turn();
        break;
    case SENDING_FILE:
        start_send_file(connection);
        turn();
        break;
    case BOTH_WAYS:
        start_receive(connection);
        start_send(connection, 1, LARGE);
        turn();
        break;
    case JUST_STARTED:
        start_receive(connection);
        start_send(connection, 2, LARGE / 2);
        break;
    case JUST_CANCELLED:
        start_receive(connection);
        start_send(connection, 1, LARGE);
        turn();
        evix_cancel(&connection->receive);
        evix_cancel(&connection->send);
        break;
    case STARTED_ANEW:
        start_receive(connection);
        turn();
        evix_cancel(&connection->receive);
        while (evix_op_pending(&connection->receive))
            turn();
        start_receive(connection);
        turn();
        break;
    case TIMED:
        connection->receive_started++;
        evix_receive(&connection->receive, &connection->socket, on_timed);
        evix_op_timeout(&connection->receive, &connection->timer, 1);
        turn();
        break;
    case IN_SEND:
        start_receive(connection);
        start_send(connection, 1, 10);
        break;
    case STATES:
        break;
    }
}

static void end(struct connection *connection, enum killer killer)
{
    if (killer == WE_CLOSE || killer == BOTH_AT_ONCE)
        close_ours(connection);
    if (killer == PEER_CLOSES) {
        close(connection->peer);
        connection->peer = -1;
    }
    if (killer == PEER_RESETS || killer == BOTH_AT_ONCE)
        reset_peer(connection);
    if (killer == PEER_CLOSES || killer == PEER_RESETS) {
        turn();
        /* Whoever has no operation to tell it so must close by itself. */
        if (open_connections > 0)
            close_ours(connection);
    }
}

static struct connection *make_connection(enum state state)
{
    int ours;
    struct connection *connection = calloc(1, sizeof(*connection));
    make_pair(&ours, &connection->peer);
    evix_socket_init(&connection->socket, loop, ours);
    connection->state = state;
    open_connections++;
    return connection;
}

static void run_round(void)
{
    for (enum state state = 0; state < STATES; state++) {
        for (enum killer killer = 0; killer < KILLERS; killer++) {
            struct connection *connection = make_connection(state);
            reach(connection);
            if (open_connections > 0)
                end(connection, killer);
            ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
            ck_assert_int_eq(open_connections, 0);
        }
    }
}

static int rounds(void)
{
    const char *asked = getenv("EVIX_TEARDOWN_ROUNDS");
    return asked ? atoi(asked) : 10;
}

START_TEST(test_one_after_the_other)
{
    if (!open_loop(_i))
        return;
    turn(); /* what the loop opens by itself is open now */
    int before = count_descriptors();
    for (int i = 0; i < rounds(); i++)
        run_round();
    ck_assert_int_eq(count_descriptors(), before);
    evix_loop_free(&loop);
}
END_TEST

/* All states at once in one batch, so that endings meet other endings. */
START_TEST(test_together)
{
    if (!open_loop(_i))
        return;
    turn();
    int before = count_descriptors();
    for (int i = 0; i < rounds(); i++) {
        struct connection *connections[STATES];
        for (int state = 0; state < STATES; state++) {
            connections[state] = make_connection((enum state)state);
            connections[state]->is_held = true;
            reach(connections[state]);
        }
        for (int state = 0; state < STATES; state++) {
            if ((state + i) % 2)
                reset_peer(connections[state]);
            close_ours(connections[state]);
        }
        ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
        ck_assert_int_eq(open_connections, 0);
    }
    ck_assert_int_eq(count_descriptors(), before);
    evix_loop_free(&loop);
}
END_TEST

/* The loop goes first: no callback any more, and the memory is ours when the call returns. */
START_TEST(test_free_under_connections)
{
    int before = count_descriptors();
    for (int i = 0; i < rounds(); i++) {
        if (!open_loop(_i))
            return;
        struct connection *connections[STATES];
        for (int state = 0; state < STATES; state++) {
            connections[state] = make_connection((enum state)state);
            connections[state]->is_held = true;
            reach(connections[state]);
        }
        for (int state = 0; state < STATES; state++)
            if (state % 3 == i % 3)
                close_ours(connections[state]);
        int seen = seen_callbacks;
        evix_loop_free(&loop);
        ck_assert_int_eq(seen_callbacks, seen);
        for (int state = 0; state < STATES; state++) {
            struct connection *connection = connections[state];
            if (connection->peer >= 0)
                reset_peer(connection);
            /* Those that were being closed were closed; the others' descriptors are ours. */
            if (!connection->is_closing)
                close(connection->socket.fd);
            memset(connection, 0xa5, sizeof(*connection));
            free(connection);
            open_connections--;
        }
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static void on_opened(struct evix_op *op, ssize_t result)
{
    (void)op;
    ck_assert_int_ge(result, 0);
    close((int)result);
}

static void run_nothing(struct evix_work *work)
{
    (void)work;
}

static void on_nothing_done(struct evix_work *work, int error)
{
    (void)work;
    ck_assert_int_eq(error, 0);
}

/* Uses all that the loop has: sockets, files, threads. */
static void use_everything(void)
{
    struct evix_op op;
    struct evix_file_request request;
    struct evix_open_how how = {.flags = O_RDONLY};
    struct evix_work work;
    evix_file_open(&op, loop, &request, AT_FDCWD, "/dev/null", &how, on_opened);
    ck_assert_int_eq(evix_work_start(&work, loop, run_nothing, on_nothing_done), 0);
    int seen = seen_callbacks;
    struct connection *connection = make_connection(RECEIVING);
    connection->is_held = true;
    reach(connection);
    write_peer(connection);
    while (seen_callbacks == seen)
        turn();
    close_ours(connection);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
}

/*
 * A child frees the loop that it has got from its parent, with everything under way; the parent
 * goes on with it as if nothing had been.
 */
START_TEST(test_child_frees_the_parents_loop)
{
    if (!open_loop(_i))
        return;
    use_everything();
    struct connection *connection = make_connection(RECEIVING);
    connection->is_held = true;
    reach(connection);
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            alarm(5);
            evix_loop_free(&loop);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        int seen = seen_callbacks;
        write_peer(connection);
        while (seen_callbacks == seen)
            turn();
    }
    close_ours(connection);
    use_everything();
    ck_assert_int_eq(open_connections, 0);
    evix_loop_free(&loop);
}
END_TEST

static void set_up(void)
{
    char path[] = "/tmp/evix-test-teardown-XXXXXX";
    large = calloc(1, LARGE);
    file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    unlink(path);
    ck_assert_int_eq(write(file, large, LARGE), LARGE);
}

static void tear_down(void)
{
    close(file);
    free(large);
}

static Suite *make_suite(void)
{
    Suite *suite = suite_create("teardown");
    TCase *tests = tcase_create("connections");
    int first = is_under_valgrind() ? 1 : 0; /* it does not know what a ring does; see there */
    tcase_set_timeout(tests, getenv("EVIX_TEARDOWN_ROUNDS") ? 600 : 30);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, test_one_after_the_other, first, BACKENDS);
    tcase_add_loop_test(tests, test_together, first, BACKENDS);
    tcase_add_loop_test(tests, test_free_under_connections, first, BACKENDS);
    tcase_add_loop_test(tests, test_child_frees_the_parents_loop, first, BACKENDS);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
