/* SPDX-License-Identifier: MIT */
/*
 * Opens listening TCP sockets, and keeps new connections away from those that are to go.
 * It keeps nothing and logs nothing.
 * sockets.c, steering.c and takeover.c call it.
 */

#include "daemon/tcp_socket.h"

#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

/* Accepted sockets inherit TCP_NODELAY on Linux, which spares a call for each connection. */
static int set_options(int fd, const struct config_listen *listen, int family)
{
    int error = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (error == 0 && family == AF_INET6)
        error = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, listen->v6_only);
    if (error == 0)
        error = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    return error;
}

/*
 * The first socket of an address is bound without SO_REUSEPORT, which fails if anybody listens
 * there: with it, another evixd of the same user would be let in without a word, and get half of
 * our clients. Once it is bound, the option lets its siblings in.
 */
static int bind_socket(int fd, const struct sockaddr_storage *address, socklen_t length,
                       bool is_first)
{
    int error;
    if (!is_first) {
        error = set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
        if (error < 0)
            return error;
    }
    if (bind(fd, (const struct sockaddr *)address, length) != 0)
        return -errno;
    return is_first ? set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0;
}

int tcp_socket_open(const struct config_listen *config, const struct sockaddr_storage *address,
                    socklen_t length, bool is_first)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = set_options(fd, config, address->ss_family);
    if (error == 0)
        error = bind_socket(fd, address, length, is_first);
    if (error == 0 && listen(fd, (int)config->backlog) != 0)
        error = -errno;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

static int attach(int fd, int option, struct sock_filter *code, unsigned short length)
{
    struct sock_fprog program;
    memset(&program, 0,
           sizeof(program)); /* what lies between its members goes to the kernel, too */
    program.len = length;
    program.filter = code;
    return setsockopt(fd, SOL_SOCKET, option, &program, sizeof(program)) == 0 ? 0 : -errno;
}

/*
 * The group is an array in the order of listen(2); where one leaves, the last takes its place. So
 * while those that go are the last, the others keep their numbers.
 */
int tcp_socket_steer(int fd, unsigned count, const bool *is_away)
{
    unsigned away = 0;
    for (unsigned i = 0; is_away != NULL && i < count; i++)
        away += is_away[i];
    assert(away < count);
    struct sock_filter *code = calloc(3 + 2 * (size_t)away, sizeof(*code));
    if (code == NULL)
        return -ENOMEM;
    unsigned short length = 0;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                  (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM));
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, count - away);
    /* The number among those that stay becomes one among all: one more for each that is skipped. */
    for (unsigned i = 0; away != 0 && i < count; i++) {
        if (!is_away[i])
            continue;
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, i, 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    int error = attach(fd, SO_ATTACH_REUSEPORT_CBPF, code, length);
    free(code);
    return error;
}

void tcp_socket_admit_silent(int fd)
{
    (void)!set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0);
}

/* A SYN that is no SYN+ACK, of which a listening socket gets none; the flags are byte 13. */
int tcp_socket_refuse(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    return attach(fd, SO_ATTACH_FILTER, code, sizeof(code) / sizeof(code[0]));
}

int tcp_socket_describe(const struct sockaddr_storage *address, socklen_t length, char *out,
                        size_t size)
{
    char host[64], port[8];
    if (getnameinfo((const struct sockaddr *)address, length, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -EAFNOSUPPORT;
    snprintf(out, size, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return 0;
}
