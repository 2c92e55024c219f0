/* SPDX-License-Identifier: MIT */
#ifndef SERVER_HANDLER_H
#define SERVER_HANDLER_H

/*
 * What answers a request. A handler sees an exchange, never a socket or a connection. It answers in
 * `start`, or defers (exchange_defer()) and answers later, exactly once.
 */

#include "server/exchange.h"

struct handler {
    const char *name;
    unsigned methods; /* HTTP_METHOD_BIT()s; others get 405, OPTIONS is answered for it */

    void (*start)(struct exchange *exchange);

    /*
     * The request's content, if `start` set wants_content: `room` says how many bytes the handler
     * can take now (0: not now, until exchange_resume()), `content` hands over at most that many,
     * `content_pause` says that this was all for now, `content_end` that all have come. NULL: never
     * wanted. A handler that answers before the end does so in the pause: what came at once may be
     * malformed further on, and is then refused before anything was said.
     */
    size_t (*room)(struct exchange *exchange);
    void (*content)(struct exchange *exchange, const char *data, size_t length);
    void (*content_pause)(struct exchange *exchange);
    void (*content_end)(struct exchange *exchange);

    /* The client has gone before the answer: what is pending for it is given up. */
    void (*cancel)(struct exchange *exchange);
};

extern const struct handler handler_static;
extern const struct handler handler_echo;
extern const struct handler handler_redirect;
extern const struct handler handler_status;

/* Goes on for the static handler where a directory was found that may be listed. */
void listing_answer(struct exchange *exchange, struct representation *directory);

#endif
