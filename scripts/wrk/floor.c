/* SPDX-License-Identifier: MIT */
/*
 * The floor that the kernel sets: receives, looks for the blank line, sends a fixed 1 KiB response.
 * No HTTP, no files, no timers, no libevix: a yardstick, not a server to put on a network.
 * Run by hand and by the comparisons beside it: floor epoll|io_uring|poll|threads PORT.
 */
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

char floor_responses[FLOOR_PIPELINED * 1200];
size_t floor_response_bytes;

/* A request may be cut anywhere: all that is kept of it is how much of the blank line was seen. */
static uint8_t progress[FLOOR_DESCRIPTORS];

static void fill_responses(void)
{
    char body[1024];
    memset(body, 'x', sizeof(body));
    int head = snprintf(floor_responses, 160,
                        "HTTP/1.1 200 OK\r\nServer: floor\r\nContent-Type: text/plain\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        sizeof(body));
    memcpy(floor_responses + head, body, sizeof(body));
    floor_response_bytes = (size_t)head + sizeof(body);
    for (size_t i = 1; i < FLOOR_PIPELINED; i++)
        memcpy(floor_responses + i * floor_response_bytes, floor_responses, floor_response_bytes);
}

void floor_reset(int fd)
{
    progress[fd] = 0;
}

/* How many blank lines end in these bytes. memchr() strides over the rest of each line. */
static size_t count_requests(int fd, const char *data, size_t length)
{
    const char *end = data + length;
    size_t found = 0;
    uint8_t line = progress[fd]; /* 1: the last line feed is the last byte but for a CR */
    while (data < end) {
        if (line && *data == '\r') {
            data++;
            continue;
        }
        if (line && *data == '\n') {
            found++;
            data++;
            line = 0;
            continue;
        }
        const char *feed = memchr(data, '\n', (size_t)(end - data));
        line = feed ? 1 : 0;
        data = feed ? feed + 1 : end;
    }
    progress[fd] = line;
    return found < FLOOR_PIPELINED ? found : FLOOR_PIPELINED;
}

size_t floor_answer(int fd, const char *data, size_t length)
{
    return count_requests(fd, data, length) * floor_response_bytes;
}

int floor_serve(int fd)
{
    char data[FLOOR_RECEIVE_BYTES];
    ssize_t got = recv(fd, data, sizeof(data), 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return -ECONNRESET;
    size_t bytes = floor_answer(fd, data, (size_t)got);
    if (bytes > 0 && send(fd, floor_responses, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        return -EPIPE;
    return (size_t)got == sizeof(data);
}

static int open_listener(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* what is accepted inherits it */
    socklen_t length = sizeof(address);
    if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static const struct {
    const char *name;
    int (*run)(int listener);
} ways[] = {
    {"epoll", floor_run_epoll},
    {"io_uring", floor_run_io_uring},
    {"poll", floor_run_poll},
    {"threads", floor_run_threads},
};

int main(int argc, char **argv)
{
    int (*run)(int) = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(argv[1], ways[i].name) == 0)
            run = ways[i].run;
    }
    if (!run) {
        fprintf(stderr, "usage: floor epoll|io_uring|poll|threads PORT\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    fill_responses();
    int listener = open_listener((uint16_t)strtoul(argv[2], NULL, 10));
    int error = listener < 0 ? listener : run(listener);
    fprintf(stderr, "floor: %s\n", strerror(-error));
    return 2;
}
