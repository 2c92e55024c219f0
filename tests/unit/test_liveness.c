/* SPDX-License-Identifier: MIT */
/* Which workers serve, seen from outside: daemon/liveness.h. The workers here are words in memory.
 */

#include <config.h>

#include "daemon/liveness.h"

#include <evix/hook.h>

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORKERS 2

static struct evix_loop *loop;
static struct config_listen listen_config;
static struct config config;
static struct sockets sockets;
static struct counters_slot *slots;
static struct liveness liveness;

/* What it said: a digit, the worker, and a letter: '?' asked, then a state. */
static char said[256];
static const char *awaited; /* ends the loop */
static struct evix_timer watchman;
static unsigned looks_left; /* by the same loop's clock */
static unsigned turns_when_asked;
static bool can_be_asked;

static void say(unsigned worker, char what)
{
    size_t length = strlen(said);
    ck_assert_uint_lt(length + 2, sizeof(said));
    said[length] = (char)('0' + worker);
    said[length + 1] = what;
    if (awaited != NULL && strcmp(said, awaited) == 0)
        evix_loop_stop(loop);
}

static bool on_ask(void *data, unsigned worker)
{
    ck_assert_ptr_eq(data, &liveness);
    if (!can_be_asked)
        return false;
    slots[worker].pulse += turns_when_asked;
    say(worker, '?');
    return true;
}

static void on_changed(void *data, unsigned worker, enum liveness_state state)
{
    static const char letters[] = {[LIVENESS_SERVES] = 's',
                                   [LIVENESS_AWAY] = 'a',
                                   [LIVENESS_MISSING] = 'm',
                                   [LIVENESS_STUCK] = 'k'};
    ck_assert_ptr_eq(data, &liveness);
    say(worker, letters[state]);
}

static void on_watchman(struct evix_timer *timer)
{
    (void)timer;
    if (--looks_left == 0)
        evix_loop_stop(loop);
}

static void set_up(void)
{
    struct evix_options options = {.backend = EVIX_BACKEND_EPOLL, .no_file_ring = true};
    struct sockaddr_in *address = (struct sockaddr_in *)&listen_config.sockaddr;
    listen_config = (struct config_listen){.address = "127.0.0.1:0", .backlog = 64};
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_config.sockaddr_length = sizeof(*address);
    config = (struct config){.listen = &listen_config, .listen_count = 1};
    ck_assert_int_eq(sockets_open(&sockets, &config, WORKERS, NULL), 0);
    /* Each begins a page, which calloc(3) does not give. */
    slots = aligned_alloc(_Alignof(struct counters_slot), WORKERS * sizeof(*slots));
    ck_assert_ptr_nonnull(slots);
    memset(slots, 0, WORKERS * sizeof(*slots));
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    evix_timer_init(&watchman, loop, on_watchman);
    memset(said, 0, sizeof(said));
    turns_when_asked = 0;
    can_be_asked = true;
}

static void begin(uint32_t stuck_ms)
{
    struct liveness_options options = {.loop = loop,
                                       .sockets = &sockets,
                                       .stuck_ms = stuck_ms,
                                       .events = {on_ask, on_changed, &liveness}};
    ck_assert_int_eq(liveness_init(&liveness, &options), 0);
    for (unsigned i = 0; i < WORKERS; i++)
        liveness_note_start(&liveness, i, &slots[i]);
    liveness_begin(&liveness);
}

static void tear_down(void)
{
    liveness_fini(&liveness);
    evix_timer_stop(&watchman);
    evix_loop_free(&loop);
    sockets_close(&sockets);
    free(slots);
}

static void run(unsigned intervals)
{
    looks_left = intervals;
    evix_timer_start(&watchman, LIVENESS_LOOK_MS, LIVENESS_LOOK_MS);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    evix_timer_stop(&watchman);
}

/* Runs until exactly this was said. */
static void expect(const char *text)
{
    awaited = text;
    if (strcmp(said, text) != 0)
        run(400);
    awaited = NULL;
    ck_assert_str_eq(said, text);
    memset(said, 0, sizeof(said));
}

/* Runs for a while in which nothing is said. */
static void expect_silence(void)
{
    run(3 * LIVENESS_AWAY_LOOKS);
    ck_assert_str_eq(said, "");
}

static int connect_client(void)
{
    const struct sockets_listener *listener = &sockets.listeners[0];
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(
        connect(client, (const struct sockaddr *)&listener->bound, listener->bound_length), 0);
    return client;
}

/* The kernel chooses whose queue it is in; so as many as it takes. Returns the last client. */
static int queue_for(unsigned worker)
{
    const struct sockets_listener *listener = &sockets.listeners[0];
    for (;;) {
        int client = connect_client();
        for (unsigned i = 0; i < WORKERS; i++) {
            int fd = i == worker ? -1 : accept4(listener->fds[i], NULL, NULL, SOCK_CLOEXEC);
            if (fd < 0)
                continue;
            close(fd);
            close(client);
            client = -1;
        }
        if (client >= 0)
            return client;
    }
}

static void empty_queue(unsigned worker)
{
    int fd;
    while ((fd = accept4(sockets.listeners[0].fds[worker], NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(fd);
}

START_TEST(sleeping_is_no_fault)
{
    begin(0);
    expect_silence();
}
END_TEST

START_TEST(a_queue_that_nobody_empties)
{
    begin(0);
    int client = queue_for(1);
    expect("1?1a");
    expect("1m"); /* and no more, with stuck_ms = 0 */
    expect_silence();
    slots[1].pulse += 2;
    empty_queue(1);
    expect("1s");
    expect_silence();
    close(client);
}
END_TEST

/* One whose limit of connections is reached, say, leaves new ones in its queue. */
START_TEST(one_that_turns_when_it_is_asked)
{
    begin(100);
    turns_when_asked = 2;
    int client = queue_for(0);
    expect("0?0?0?0?0?0?");
    close(client);
}
END_TEST

START_TEST(a_callback_that_does_not_return)
{
    begin(200);
    slots[0].pulse = 7;
    expect("0?0a0k");
    liveness_note_end(&liveness, 0, false);
    slots[0].pulse = 0;
    expect_silence();
    liveness_note_start(&liveness, 0, &slots[0]);
    expect_silence();
    slots[0].pulse = 1;
    expect("0s");
}
END_TEST

static void on_turn(struct evix_hook *hook)
{
    (void)hook;
    slots[0].pulse += 2;
}

/* One that has much to do is seen in callbacks at each look, but in another one. */
START_TEST(a_busy_one_turns)
{
    struct evix_hook hook = {0};
    begin(100);
    slots[0].pulse = 1;
    evix_hook_start(&hook, loop, EVIX_HOOK_PREPARE, on_turn);
    expect_silence();
    evix_hook_stop(&hook);
}
END_TEST

START_TEST(one_that_was_asked_and_is_asleep)
{
    begin(200);
    int client = queue_for(0);
    expect("0?0a");
    empty_queue(0); /* by its successor in another configuration, say: it still owes a turn */
    expect("0k");
    close(client);
}
END_TEST

START_TEST(an_order_takes_a_turn)
{
    begin(200);
    liveness_leave_sockets(&liveness);
    liveness_expect_turn(&liveness, 1);
    expect("1?1a1k");
}
END_TEST

START_TEST(one_that_died)
{
    begin(100);
    liveness_note_end(&liveness, 1, false);
    expect_silence();
    liveness_note_start(&liveness, 1, &slots[1]);
    liveness_note_end(&liveness, 1, true);
    expect("1a");
    ck_assert_uint_eq(liveness_count_away(&liveness), 1);
    liveness_note_start(&liveness, 1, &slots[1]);
    slots[1].pulse = 1;
    expect("1s");
    ck_assert_uint_eq(liveness_count_away(&liveness), 0);
}
END_TEST

START_TEST(nobody_waits_for_a_successor_without_sockets)
{
    begin(100);
    liveness_note_end(&liveness, 0, true);
    liveness_note_end(&liveness, 1, false);
    ck_assert_str_eq(said, "0a");
    liveness_leave_sockets(&liveness);
    ck_assert_uint_eq(liveness_count_away(&liveness), 0);
    memset(said, 0, sizeof(said));
    expect_silence();
}
END_TEST

/* Nobody is killed who is not there, and nothing is said of one of which nothing is known. */
START_TEST(without_a_process_or_a_slot)
{
    begin(100);
    liveness_note_end(&liveness, 0, false);
    liveness_note_start(&liveness, 1, NULL);
    int clients[40]; /* some in each queue, but for one run in 10^11 */
    for (unsigned i = 0; i < 40; i++)
        clients[i] = connect_client();
    expect("0a");
    expect("0m");
    expect_silence();
    for (unsigned i = 0; i < 40; i++)
        close(clients[i]);
}
END_TEST

/* While nothing happens it does not even look; the first connection that waits begins it. */
START_TEST(idle)
{
    struct evix_counters before, after;
    int tries = 20;
    begin(0);
    do { /* at first it looks on for a while */
        evix_loop_counters(loop, &before);
        run(20);
        evix_loop_counters(loop, &after);
    } while (after.waits - before.waits > 20 + 1 && --tries > 0);
    ck_assert_int_gt(tries, 0);
    int client = queue_for(1);
    expect("1?1a");
    close(client);
}
END_TEST

/* There may be a callback that hangs, though nobody new comes. */
START_TEST(idle_with_clients)
{
    begin(0);
    slots[0].data.connections[0] = 1;
    turns_when_asked = 2;
    run(60);
    memset(said, 0, sizeof(said));
    turns_when_asked = 0;
    slots[0].pulse |= 1;
    awaited = "0?0a"; /* unless it was asked just before */
    run(100);
    awaited = NULL;
    ck_assert_ptr_nonnull(strstr(said, "0a"));
}
END_TEST

/* It may be stopped, which nothing shows but that it does not answer. */
START_TEST(a_sleeper_with_clients_that_does_not_answer)
{
    begin(1000);
    slots[0].data.connections[0] = 1;
    expect("0?0?0a");
    expect("0k");
}
END_TEST

START_TEST(a_sleeper_with_echo_sessions_that_does_not_answer)
{
    begin(0);
    slots[1].data.echo_sessions = 1;
    expect("1?1?1a");
    slots[1].pulse = 2;
    expect("1s");
}
END_TEST

/* Its clients have nothing to say: a turn a second at most, and nobody is blamed. */
START_TEST(a_sleeper_with_clients_that_answers)
{
    begin(1000);
    slots[0].data.connections[0] = 1;
    turns_when_asked = 2;
    uint64_t before_ms = evix_now_ms(loop);
    run(100);
    uint64_t seconds = (evix_now_ms(loop) - before_ms) / 1000;
    size_t asked = strlen(said) / 2;
    ck_assert_uint_ge(asked, 1);
    ck_assert_uint_le(asked, seconds + 1);
    for (size_t i = 0; i < asked; i++)
        ck_assert_int_eq(memcmp(said + 2 * i, "0?", 2), 0);
}
END_TEST

/* One that starts, say. Who was not asked owes no answer. */
START_TEST(a_sleeper_that_cannot_be_asked)
{
    begin(1000);
    slots[0].data.connections[0] = 1;
    can_be_asked = false;
    run(80);
    ck_assert_str_eq(said, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("liveness");
    TCase *tests = tcase_create("liveness");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, sleeping_is_no_fault);
    tcase_add_test(tests, a_queue_that_nobody_empties);
    tcase_add_test(tests, one_that_turns_when_it_is_asked);
    tcase_add_test(tests, a_callback_that_does_not_return);
    tcase_add_test(tests, a_busy_one_turns);
    tcase_add_test(tests, one_that_was_asked_and_is_asleep);
    tcase_add_test(tests, an_order_takes_a_turn);
    tcase_add_test(tests, one_that_died);
    tcase_add_test(tests, nobody_waits_for_a_successor_without_sockets);
    tcase_add_test(tests, without_a_process_or_a_slot);
    tcase_add_test(tests, idle);
    tcase_add_test(tests, idle_with_clients);
    tcase_add_test(tests, a_sleeper_with_clients_that_does_not_answer);
    tcase_add_test(tests, a_sleeper_with_echo_sessions_that_does_not_answer);
    tcase_add_test(tests, a_sleeper_with_clients_that_answers);
    tcase_add_test(tests, a_sleeper_that_cannot_be_asked);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
