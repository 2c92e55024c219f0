/* SPDX-License-Identifier: MIT */
#ifndef SERVER_WAIT_H
#define SERVER_WAIT_H

/* What a connection waits for: what its deadline is about, and how it is counted. */

enum connection_wait {
    WAIT_NOTHING,    /* a handler is at work: no deadline */
    WAIT_HEAD,       /* a request's head, from its first byte (or the accept) to its end */
    WAIT_KEEP_ALIVE, /* the first byte of another request */
    WAIT_CONTENT,    /* a request's content: progress */
    WAIT_SEND,       /* the client to take the response: progress */
    WAIT_LINGER,     /* the client to read the last response and close */
};
#define WAIT_COUNT 6

#endif
