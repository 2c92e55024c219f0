/* SPDX-License-Identifier: MIT */
/*
 * The floor that the kernel sets: receives, looks for the blank line, sends a fixed 1 KiB response.
 * No HTTP, no files, no timers, no libevix: a yardstick, not a server to put on a network.
 * Run by hand and by scripts/wrk's comparisons: floor epoll|io_uring PORT.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

enum {
    DESCRIPTORS = 65536,
    RECEIVE_BYTES = 16384,
    PIPELINED = 64, /* responses that one send can carry */
    BATCH = 512,
};

static char responses[PIPELINED * 1200];
static size_t response_bytes;

/* A request may be cut anywhere: all that is kept of it is how much of the blank line was seen. */
static uint8_t progress[DESCRIPTORS];

static void fill_responses(void)
{
    char body[1024];
    memset(body, 'x', sizeof(body));
    int head = snprintf(responses, 160,
                        "HTTP/1.1 200 OK\r\nServer: floor\r\nContent-Type: text/plain\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        sizeof(body));
    memcpy(responses + head, body, sizeof(body));
    response_bytes = (size_t)head + sizeof(body);
    for (size_t i = 1; i < PIPELINED; i++)
        memcpy(responses + i * response_bytes, responses, response_bytes);
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
    return found < PIPELINED ? found : PIPELINED;
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

static void epoll_accept(int poller, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
        if (fd >= DESCRIPTORS || epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) {
            close(fd);
            continue;
        }
        progress[fd] = 0;
    }
}

/* A reader that leaves more than a socket buffer unread is cut off: a floor owes it nothing. */
static void epoll_serve(int fd)
{
    char data[RECEIVE_BYTES];
    for (;;) {
        ssize_t got = recv(fd, data, sizeof(data), 0);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            break;
        size_t bytes = count_requests(fd, data, (size_t)got) * response_bytes;
        if (bytes > 0 && send(fd, responses, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
            break;
        if ((size_t)got < sizeof(data))
            return; /* drained: whatever comes later makes a new edge */
    }
    close(fd);
}

static int run_epoll(int listener)
{
    struct epoll_event events[BATCH];
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    int poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0)
        return -errno;
    for (;;) {
        int count = epoll_wait(poller, events, BATCH, -1);
        if (count < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                epoll_accept(poller, listener);
            else
                epoll_serve(events[i].data.fd);
        }
    }
}

#ifdef HAVE_LIBURING
enum { BUFFERS = 1024, GROUP = 0 };
enum ring_kind { RING_ACCEPT, RING_RECEIVE, RING_SEND };

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char *buffer_memory;

static struct io_uring_sqe *ring_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (!entry) {
        io_uring_submit(&ring);
        entry = io_uring_get_sqe(&ring);
    }
    if (!entry)
        abort(); /* submitting has emptied the queue: the kernel broke its word */
    return entry;
}

/* Last, because liburing from 2.4 on clears the user data while it prepares an entry. */
static void ring_finish(struct io_uring_sqe *entry, enum ring_kind kind, int fd)
{
    entry->user_data = (uint64_t)kind << 32 | (uint32_t)fd;
}

static void ring_accept(int listener)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_multishot_accept(entry, listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ring_finish(entry, RING_ACCEPT, listener);
}

static void ring_receive(int fd)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_recv_multishot(entry, fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = GROUP;
    ring_finish(entry, RING_RECEIVE, fd);
}

static void ring_send(int fd, size_t bytes)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_send(entry, fd, responses, bytes, MSG_NOSIGNAL | MSG_WAITALL);
    ring_finish(entry, RING_SEND, fd);
}

static void ring_give(unsigned index)
{
    io_uring_buf_ring_add(buffers, buffer_memory + (size_t)index * RECEIVE_BYTES, RECEIVE_BYTES,
                          (unsigned short)index, io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(buffers, 1);
}

static void on_received(int fd, const struct io_uring_cqe *cqe)
{
    if (cqe->res > 0) {
        unsigned index = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
        const char *data = buffer_memory + (size_t)index * RECEIVE_BYTES;
        size_t bytes = count_requests(fd, data, (size_t)cqe->res) * response_bytes;
        ring_give(index);
        if (bytes > 0)
            ring_send(fd, bytes);
    }
    if (cqe->flags & IORING_CQE_F_MORE)
        return;
    if (cqe->res > 0 || cqe->res == -ENOBUFS)
        ring_receive(fd);
    else
        close(fd);
}

static void on_completion(const struct io_uring_cqe *cqe)
{
    int fd = (int)(uint32_t)cqe->user_data;
    switch ((enum ring_kind)(cqe->user_data >> 32)) {
    case RING_ACCEPT:
        if (cqe->res >= DESCRIPTORS) {
            close(cqe->res);
        } else if (cqe->res >= 0) {
            progress[cqe->res] = 0;
            ring_receive(cqe->res);
        }
        if (!(cqe->flags & IORING_CQE_F_MORE))
            ring_accept(fd);
        break;
    case RING_RECEIVE:
        on_received(fd, cqe);
        break;
    case RING_SEND:
        break; /* a peer that went away shows in its receive */
    }
}

static int open_ring(void)
{
    struct io_uring_params parameters = {.cq_entries = 16384};
    parameters.flags =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    int error = io_uring_queue_init_params(2048, &ring, &parameters);
    if (error < 0)
        return error;
    io_uring_register_ring_fd(&ring);
    size_t table = BUFFERS * sizeof(struct io_uring_buf);
    void *memory = mmap(NULL, table + (size_t)BUFFERS * RECEIVE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    buffers = memory;
    buffer_memory = (char *)memory + table;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)memory, .ring_entries = BUFFERS, .bgid = GROUP};
    error = io_uring_register_buf_ring(&ring, &registration, 0);
    if (error < 0)
        return error;
    for (unsigned i = 0; i < BUFFERS; i++)
        ring_give(i);
    return 0;
}

static int run_ring(int listener)
{
    int error = open_ring();
    if (error < 0)
        return error;
    ring_accept(listener);
    for (;;) {
        error = io_uring_submit_and_wait(&ring, 1);
        if (error < 0 && error != -EINTR)
            return error;
        struct io_uring_cqe *cqe;
        unsigned head, count = 0;
        io_uring_for_each_cqe(&ring, head, cqe)
        {
            on_completion(cqe);
            count++;
        }
        io_uring_cq_advance(&ring, count);
    }
}
#else
static int run_ring(int listener)
{
    (void)listener;
    return -ENOSYS;
}
#endif

int main(int argc, char **argv)
{
    bool is_ring = argc == 3 && strcmp(argv[1], "io_uring") == 0;
    if (argc != 3 || (!is_ring && strcmp(argv[1], "epoll") != 0)) {
        fprintf(stderr, "usage: floor epoll|io_uring PORT\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    fill_responses();
    int listener = open_listener((uint16_t)strtoul(argv[2], NULL, 10));
    int error = listener < 0 ? listener : is_ring ? run_ring(listener) : run_epoll(listener);
    fprintf(stderr, "floor: %s\n", strerror(-error));
    return 2;
}
