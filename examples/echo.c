/* SPDX-License-Identifier: MIT */
/* An echo server: ./echo, then nc localhost 7007. One thread, any number of connections. */
#include <evix/evix.h>

#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* All that a connection needs, in one piece of memory: a socket and its operations. */
struct connection {
    struct evix_socket socket;
    struct evix_op receive, send;
    struct iovec iov;
    char *sending, *waiting; /* on its way; arrived meanwhile */
    size_t waiting_bytes;
    bool is_ended;
};

static void on_receive(struct evix_op *op, ssize_t result);
static void on_sent(struct evix_op *op, ssize_t result);

/* The last callback of a socket: from here on its memory is ours again. */
static void on_closed(struct evix_socket *socket)
{
    struct connection *it = EVIX_CONTAINER_OF(socket, struct connection, socket);
    free(it->sending);
    free(it->waiting);
    free(it);
}

/* What is next. Nothing is received while an answer is on its way: it would fill our memory. */
static void go_on(struct connection *it)
{
    if (evix_op_pending(&it->send))
        return;
    if (it->waiting_bytes > 0) {
        char *next = it->waiting;
        it->waiting = it->sending; /* memory for what comes then */
        it->sending = next;
        it->iov = (struct iovec){.iov_base = next, .iov_len = it->waiting_bytes};
        it->waiting_bytes = 0;
        evix_send(&it->send, &it->socket, &it->iov, 1, 0, on_sent);
    } else if (it->is_ended) {
        evix_socket_close(&it->socket, on_closed);
    } else if (!evix_op_pending(&it->receive)) {
        evix_receive(&it->receive, &it->socket, on_receive);
    }
}

/* Data is lent for the length of this callback: what is to stay has to be copied. */
static void on_receive(struct evix_op *op, ssize_t result)
{
    struct connection *it = EVIX_CONTAINER_OF(op, struct connection, receive);
    if (evix_op_more(op)) {
        it->waiting = realloc(it->waiting, it->waiting_bytes + (size_t)result);
        if (!it->waiting)
            err(EXIT_FAILURE, "receive");
        memcpy(it->waiting + it->waiting_bytes, evix_op_data(op), (size_t)result);
        it->waiting_bytes += (size_t)result;
        evix_cancel(op); /* its final callback comes later */
    }
    it->is_ended = !evix_op_more(op) && result != -ECANCELED; /* 0: no more comes; or an error */
    go_on(it);
}

/* All was sent, or it failed, which the receive is told as well: there is nothing in between. */
static void on_sent(struct evix_op *op, ssize_t result)
{
    (void)result;
    go_on(EVIX_CONTAINER_OF(op, struct connection, send));
}

static void on_accept(struct evix_op *op, ssize_t result)
{
    struct connection *it = evix_op_more(op) ? calloc(1, sizeof(*it)) : NULL;
    if (!it)
        errx(EXIT_FAILURE, "accept: %s", evix_strerror((int)result));
    evix_socket_init(&it->socket, op->socket->handle.loop, (int)result);
    go_on(it);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7007)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 128) < 0)
        err(EXIT_FAILURE, "port 7007");
    struct evix_loop *loop;
    struct evix_socket listener;
    struct evix_op accept_op;
    if (evix_loop_new(&loop, NULL) < 0)
        return EXIT_FAILURE;
    evix_socket_init(&listener, loop, fd);
    evix_accept(&accept_op, &listener, on_accept); /* multishot: one callback a connection */
    return evix_loop_run(loop, EVIX_RUN_DEFAULT) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
