/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_BODY_H
#define EVIXD_FILES_BODY_H

/*
 * A body source: where the content of a message comes from, one piece after the other. Whoever
 * sends it asks for the next piece only when the last one has left, so a body holds at most one
 * piece's memory, and a slow client holds up nobody else.
 */

#include <stddef.h>
#include <stdint.h>

enum body_piece_kind {
    BODY_BYTES,  /* memory, which stays until the next call of `next` or `release` */
    BODY_FILE,   /* a range of a file that the page cache is believed to hold */
    BODY_LATER,  /* nothing yet: the body calls `ready` when it is worth asking again */
    BODY_END,    /* all was given */
    BODY_FAILED, /* it can't go on (file cut short, I/O error): the message must not be completed */
};

struct body_piece {
    enum body_piece_kind kind;
    int fd;           /* BODY_FILE: stays open until the next call of `next` or `release` */
    const char *data; /* BODY_BYTES */
    size_t length;    /* BODY_BYTES, BODY_FILE: more than 0, below 2 GiB */
    int64_t offset;   /* BODY_FILE */
    int error;        /* BODY_FAILED: a negative errno */
};

struct body;

struct body_ops {
    /* Fills `out`. After BODY_END or BODY_FAILED it must not be called again. */
    void (*next)(struct body *body, struct body_piece *out);
    /* Of the BODY_FILE that was given last so many bytes did not leave: they are the next to be
       given, perhaps in another way. NULL where no such piece is given. */
    void (*take_back)(struct body *body, size_t length);
    /* Gives everything back, the body's own memory included. Always called once, at any time. */
    void (*release)(struct body *body);
};

/* Embedded as the first member of each kind of body. The sender sets `ready` before `next`. */
struct body {
    const struct body_ops *ops;
    int64_t length; /* of all the content, in bytes; -1: unknown */
    void (*ready)(void *data);
    void *ready_data;
};

static inline void body_next(struct body *body, struct body_piece *out)
{
    body->ops->next(body, out);
}

static inline void body_take_back(struct body *body, size_t length)
{
    body->ops->take_back(body, length);
}

static inline void body_release(struct body *body)
{
    body->ops->release(body);
}

#endif
