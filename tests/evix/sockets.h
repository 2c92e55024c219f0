/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EVIX_SOCKETS_H
#define TESTS_EVIX_SOCKETS_H

/* Sockets on the loopback interface, for the tests of operations. All non-blocking. */

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void set_nonblocking(int fd)
{
    ck_assert_int_eq(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static inline struct sockaddr_in address_of(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return address;
}

/* A socket that is bound to a port that nobody else has. */
static inline int bind_loopback(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    set_nonblocking(fd);
    return fd;
}

static inline int listen_loopback(void)
{
    int fd = bind_loopback();
    ck_assert_int_eq(listen(fd, 1024), 0);
    return fd;
}

/* A connected socket; blocks until the kernel has queued the connection. */
static inline int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    set_nonblocking(fd);
    return fd;
}

static inline void limit_send_buffer(int fd, int bytes)
{
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)), 0);
}

/* A TCP window below the interface's MTU makes a stream wait for timers of the kernel's. */
static inline void limit_buffers(int fd, int bytes)
{
    limit_send_buffer(fd, bytes);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
}

/* Both ends of a TCP connection. */
static inline void tcp_pair(int fds[2])
{
    int listener = listen_loopback();
    struct sockaddr_in address = address_of(listener);
    fds[0] = connect_to(&address);
    while ((fds[1] = accept(listener, NULL, NULL)) < 0)
        ck_assert_int_eq(errno, EAGAIN);
    set_nonblocking(fds[1]);
    close(listener);
}

/* The peer is reset rather than told of an orderly end. */
static inline void reset_close(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    close(fd);
}

#endif
