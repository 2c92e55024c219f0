/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ECHO_TCP_H
#define SERVER_ECHO_TCP_H

/* The echo service of RFC 862 on a stream socket: what comes is sent back, until the peer ends. */

struct worker;

/* Takes over an accepted descriptor; closes it if there is no memory. */
void echo_tcp_open(struct worker *worker, int fd);

/* The worker stops: sessions end at once. */
void echo_tcp_close_all(struct worker *worker);

/* Ends all sessions when what they received has been sent back. */
void echo_tcp_finish_all(struct worker *worker);

#endif
