/* SPDX-License-Identifier: MIT */
/*
 * Many clients that are ready at once: the first are answered before the last are looked at, in the
 * order in which they came, and few answers are under way at a time.
 * Run by `make check`, on every backend that the machine lets us use.
 */
#include "each_backend.h"
#include "sockets.h"

enum {
    CLIENTS = 200,
    STRIDE = 32,           /* of the library */
    AT_A_TIME = 2 * STRIDE /* answers under way */
};

static struct client {
    struct evix_socket socket;
    struct evix_op receiving, sending;
    struct iovec answer;
    int peer;
    bool is_answered, is_closed;
} clients[CLIENTS];

static int received, answered, under_way, under_way_most, answered_before_last;
static struct client *order[CLIENTS]; /* of the requests */
static bool closes_others;            /* whoever is answered takes another one with it */

static void close_client(struct client *client)
{
    client->is_closed = true;
    evix_socket_close(&client->socket, NULL);
}

static void on_sent(struct evix_op *op, ssize_t result)
{
    struct client *client = EVIX_CONTAINER_OF(op, struct client, sending);
    under_way--;
    if (result == -ECANCELED)
        return;
    ck_assert_int_eq(result, 1);
    client->is_answered = true;
    if (!closes_others)
        ck_assert_ptr_eq(client, order[answered]);
    else
        close_client(&clients[(client - clients + CLIENTS / 2) % CLIENTS]);
    answered++;
}

static void on_received(struct evix_op *op, ssize_t result)
{
    struct client *client = EVIX_CONTAINER_OF(op, struct client, receiving);
    if (!evix_op_more(op))
        return;
    ck_assert_int_eq(result, 1);
    ck_assert(!client->is_closed);
    order[received++] = client;
    answered_before_last = answered;
    client->answer = (struct iovec){(void *)"a", 1};
    evix_send(&client->sending, &client->socket, &client->answer, 1, 0, on_sent);
    if (++under_way > under_way_most)
        under_way_most = under_way;
}

static void start_counting(void)
{
    received = answered = under_way = under_way_most = answered_before_last = 0;
}

static void all_ask(void)
{
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(send(clients[i].peer, "q", 1, 0), 1);
}

static void take_answers(void)
{
    char byte;
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(recv(clients[i].peer, &byte, 1, 0), 1);
}

/* After one answer each: the backend has them all parked. */
static void open_clients(int row)
{
    loop_open(row);
    for (int i = 0; i < CLIENTS; i++) {
        int fds[2];
        tcp_pair(fds);
        clients[i] = (struct client){.peer = fds[0]};
        evix_socket_init(&clients[i].socket, loop, fds[1]);
        evix_receive(&clients[i].receiving, &clients[i].socket, on_received);
    }
    start_counting();
    all_ask();
    while (answered < CLIENTS)
        turn();
    take_answers();
    start_counting();
}

static void close_clients(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        close_client(&clients[i]);
        close(clients[i].peer);
    }
    run_to_end();
    loop_close();
}

START_TEST(test_first_answers_leave_before_the_last_request)
{
    open_clients(_i);
    all_ask();
    while (answered < CLIENTS)
        turn();
    take_answers();
    ck_assert_int_eq(received, CLIENTS);
    ck_assert_int_eq(under_way, 0);
    ck_assert_int_le(under_way_most, AT_A_TIME);
    ck_assert_int_ge(answered_before_last, CLIENTS - AT_A_TIME);
    close_clients();
}
END_TEST

static bool is_anyone_waiting(void)
{
    for (int i = 0; i < CLIENTS; i++)
        if (!clients[i].is_answered && !clients[i].is_closed)
            return true;
    return under_way > 0;
}

/* The callback of an early answer closes clients whose requests wait in the same batch. */
START_TEST(test_others_closed_within_the_batch)
{
    open_clients(_i);
    for (int i = 0; i < CLIENTS; i++)
        clients[i].is_answered = false;
    closes_others = true;
    all_ask();
    while (is_anyone_waiting())
        turn();
    ck_assert_int_ge(answered, CLIENTS / 2);
    closes_others = false;
    close_clients();
}
END_TEST

int main(void)
{
    find_usable();
    Suite *suite = suite_create("batch");
    TCase *cases = tcase_create("batch");
    tcase_set_timeout(cases, 60);
    add_for_each(cases, test_first_answers_leave_before_the_last_request);
    add_for_each(cases, test_others_closed_within_the_batch);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
