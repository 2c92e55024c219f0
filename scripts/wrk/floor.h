/* SPDX-License-Identifier: MIT */
/*
 * What the yardstick's ways of waiting share: one listener, one fixed response, and the count of
 * the requests in what was received. Each way is one file with one function, which runs for ever
 * and returns a negative errno value if it cannot.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FLOOR_DESCRIPTORS = 65536,
    FLOOR_RECEIVE_BYTES = 16384,
    FLOOR_PIPELINED = 64, /* responses that one send can carry */
};

/* As many copies of the response as one send can carry, and the length of one. */
extern char floor_responses[];
extern size_t floor_response_bytes;

/* A new connection has this number: nothing of a request was seen. */
void floor_reset(int fd);

/* Bytes of floor_responses that answer the requests which end in this data. */
size_t floor_answer(int fd, const char *data, size_t length);

/* Receives once and answers. 1: go on; 0: there was nothing to receive; negative: close it. A
 * reader that leaves more than a socket buffer unread is cut off: a floor owes it nothing. */
int floor_serve(int fd);

int floor_run_epoll(int listener);
int floor_run_io_uring(int listener);
int floor_run_poll(int listener);
int floor_run_threads(int listener);

#endif
