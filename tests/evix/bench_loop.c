/* SPDX-License-Identifier: MIT */
/*
 * What things cost: sizes of the structs that connections are made of, timers, posts, an iteration,
 * an echo over loopback, a wake-up. Not run by `make check`: make tests/evix/bench_loop, run it.
 * The figures are of wall time in one process, both ends of an echo included.
 */
#include <evix/evix.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POSTS = 5000000, TIMERS = 1000000, ECHOES = 400000, PAIRS_MOST = 1000 };

static struct evix_loop *loop;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, evix_strerror(error));
    exit(EXIT_FAILURE);
}

static void show(const char *what, uint64_t since_ns, uint64_t count)
{
    printf("  %-44s %10.1f ns\n", what, (double)(clock_ns() - since_ns) / (double)count);
}

static void show_sizes(void)
{
    printf("sizes in bytes: evix_socket %zu, evix_op %zu, evix_timer %zu, evix_io %zu, evix_post "
           "%zu\n",
           sizeof(struct evix_socket), sizeof(struct evix_op), sizeof(struct evix_timer),
           sizeof(struct evix_io), sizeof(struct evix_post));
}

/* ---- posts: one an iteration, so this is an iteration with a poll that does not sleep ---- */

static int posts_left;

static void on_post(struct evix_post *post)
{
    if (--posts_left > 0)
        evix_post(post);
}

static void bench_posts(void)
{
    struct evix_post posts[100];
    posts_left = POSTS / 10;
    uint64_t since = clock_ns();
    evix_post_init(&posts[0], loop, on_post);
    evix_post(&posts[0]);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    show("an iteration with one post", since, POSTS / 10);

    posts_left = POSTS;
    since = clock_ns();
    for (int i = 0; i < 100; i++) {
        evix_post_init(&posts[i], loop, on_post);
        evix_post(&posts[i]);
    }
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    show("a post, a hundred an iteration", since, POSTS);
}

/* ---- timers ---- */

static void on_timer(struct evix_timer *timer)
{
    (void)timer;
}

static void bench_timers(void)
{
    struct evix_timer *timers = calloc(TIMERS, sizeof(*timers));
    uint32_t seed = 1;
    if (!timers)
        fail("timers", -12);
    uint64_t since = clock_ns();
    for (int i = 0; i < TIMERS; i++) {
        seed = seed * 1664525u + 1013904223u;
        evix_timer_init(&timers[i], loop, on_timer);
        evix_timer_start(&timers[i], 1000 + (seed >> 8) % 60000, 0);
    }
    show("start a timer, a million of them", since, TIMERS);
    since = clock_ns();
    for (int i = 0; i < TIMERS; i++)
        evix_timer_start(&timers[i], 30000, 0);
    show("start it anew, later", since, TIMERS);
    since = clock_ns();
    for (int i = 0; i < TIMERS; i++)
        evix_timer_stop(&timers[i]);
    show("stop it", since, TIMERS);
    since = clock_ns();
    for (int i = 0; i < TIMERS; i++) {
        seed = seed * 1664525u + 1013904223u;
        evix_timer_start(&timers[i], (seed >> 8) % 4, 0);
    }
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    show("start it and let it fire", since, TIMERS);
    free(timers);
}

/* ---- wake-ups ---- */

static int wakes_left;

static void on_async(struct evix_async *async)
{
    if (--wakes_left > 0)
        evix_async_send(async);
    else
        evix_async_stop(async);
}

static void bench_wakeups(void)
{
    struct evix_async async;
    wakes_left = ECHOES;
    if (evix_async_start(&async, loop, on_async) < 0)
        fail("async", -1);
    uint64_t since = clock_ns();
    evix_async_send(&async);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    show("a wake-up, and the iteration for it", since, ECHOES);
}

/* ---- echoes: each pair has a client and a server in this loop ---- */

struct end {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct iovec iov;
    bool is_client;
};

static struct end ends[2 * PAIRS_MOST];
static int echoes_left;
static char message[100];

static void on_sent(struct evix_op *op, ssize_t result)
{
    (void)op;
    (void)result;
}

static void on_receive(struct evix_op *op, ssize_t result)
{
    struct end *end = EVIX_CONTAINER_OF(op, struct end, receive);
    if (!evix_op_more(op) || result <= 0)
        return;
    if (end->is_client && echoes_left-- <= 0) {
        evix_loop_stop(loop);
        return;
    }
    end->iov = (struct iovec){.iov_base = message, .iov_len = sizeof(message)};
    evix_send(&end->send, &end->socket, &end->iov, 1, 0, on_sent);
}

static int connect_pair(int listener, struct end *pair)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int fds[2];
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
        connect(fds[0], (struct sockaddr *)&address, length) < 0)
        return -1;
    fds[1] = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        pair[i].is_client = i == 0;
        evix_socket_init(&pair[i].socket, loop, fds[i]);
        evix_receive(&pair[i].receive, &pair[i].socket, on_receive);
    }
    return fds[1];
}

static void bench_echoes(int pairs)
{
    struct evix_counters before, after;
    char what[80];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listen(listener, 1024) < 0) /* unbound: any free port */
        fail("listen", -1);
    for (int i = 0; i < pairs; i++)
        if (connect_pair(listener, &ends[2 * i]) < 0)
            fail("connect", -1);
    for (int i = 0; i < pairs; i++) {
        ends[2 * i].iov = (struct iovec){.iov_base = message, .iov_len = sizeof(message)};
        evix_send(&ends[2 * i].send, &ends[2 * i].socket, &ends[2 * i].iov, 1, 0, on_sent);
    }
    evix_loop_counters(loop, &before);
    echoes_left = ECHOES;
    uint64_t since = clock_ns();
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    evix_loop_counters(loop, &after);
    snprintf(what, sizeof(what), "an echo, %d pairs (both ends; %.2f waits)", pairs,
             (double)(after.waits - before.waits) / ECHOES);
    show(what, since, ECHOES);
    for (int i = 0; i < 2 * pairs; i++)
        evix_socket_close(&ends[i].socket, NULL);
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    close(listener);
}

int main(void)
{
    static const enum evix_backend backends[] = {EVIX_BACKEND_IO_URING, EVIX_BACKEND_EPOLL,
                                                 EVIX_BACKEND_KQUEUE, EVIX_BACKEND_POLL};
    show_sizes();
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        struct evix_options options = {.backend = backends[i]};
        if (evix_loop_new(&loop, &options) < 0)
            continue;
        printf("%s\n", evix_backend_name(backends[i]));
        bench_posts();
        bench_timers();
        bench_wakeups();
        bench_echoes(1);
        bench_echoes(64);
        if (backends[i] != EVIX_BACKEND_POLL)
            bench_echoes(PAIRS_MOST);
        evix_loop_free(&loop);
    }
    return EXIT_SUCCESS;
}
