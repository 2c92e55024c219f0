/* SPDX-License-Identifier: MIT */
/*
 * An echo server with libevix: everything that a client sends is sent back to it.
 *
 *     ./echo 7007          then, in another terminal: nc localhost 7007
 *
 * It shows the life of an operation: start it, be called back, start the next. What a server for
 * the public would add: limits on connections and idle time, and a log.
 */
#include <evix/evix.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A client. The operations lie in it, so that nothing else is allocated while it lives. */
struct client {
    struct evix_socket socket;
    struct evix_op receiving, sending;
    struct iovec piece;
    char *data; /* on its way back */
};

static void receive(struct client *client);

/* The last callback of a socket: only now is its memory ours again. */
static void on_closed(struct evix_socket *socket)
{
    struct client *client = EVIX_CONTAINER_OF(socket, struct client, socket);

    free(client->data);
    free(client);
}

static void on_sent(struct evix_op *op, ssize_t result)
{
    struct client *client = EVIX_CONTAINER_OF(op, struct client, sending);

    if (result < 0)
        evix_socket_close(&client->socket, on_closed);
    else
        receive(client);
}

/*
 * The bytes are lent for the length of this callback, so what is sent later has to be copied. To
 * receive nothing more until it has left is all that back-pressure takes: the operation is
 * cancelled, and started again in on_sent().
 */
static void on_received(struct evix_op *op, ssize_t result)
{
    struct client *client = EVIX_CONTAINER_OF(op, struct client, receiving);

    if (result > 0) {
        char *data = realloc(client->data, client->piece.iov_len + (size_t)result);

        if (data == NULL) {
            evix_socket_close(&client->socket, on_closed);
            return;
        }
        client->data = data;
        memcpy(data + client->piece.iov_len, evix_op_data(op), (size_t)result);
        client->piece.iov_len += (size_t)result;
        evix_cancel(op);
    }
    if (evix_op_more(op))
        return; /* the final callback is still to come: more may arrive before it */
    if (client->piece.iov_len == 0) {
        evix_socket_close(&client->socket, on_closed); /* the end, or an error */
        return;
    }
    client->piece.iov_base = client->data;
    evix_send(&client->sending, &client->socket, &client->piece, 1, 0, on_sent);
}

static void receive(struct client *client)
{
    client->piece = (struct iovec){0};
    evix_receive(&client->receiving, &client->socket, on_received);
}

static void on_accepted(struct evix_op *op, ssize_t fd)
{
    struct client *client = fd >= 0 ? calloc(1, sizeof(*client)) : NULL;

    if (client == NULL) {
        if (fd >= 0)
            close((int)fd);
        return;
    }
    evix_socket_init(&client->socket, op->socket->handle.loop, (int)fd);
    receive(client);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 7007))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct evix_loop *loop;
    struct evix_socket listener;
    struct evix_op accepting;

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, SOMAXCONN) < 0) {
        perror("echo");
        return 1;
    }
    int error = evix_loop_new(&loop, NULL);
    if (error < 0) {
        fprintf(stderr, "echo: %s\n", evix_strerror(error));
        return 1;
    }
    evix_socket_init(&listener, loop, fd);
    evix_accept(&accepting, &listener, on_accepted);
    printf("echoing on port %d with %s\n", ntohs(address.sin_port),
           evix_backend_name(evix_loop_backend(loop)));
    evix_loop_run(loop, EVIX_RUN_DEFAULT);
    evix_loop_free(&loop);
    return 0;
}
