/* SPDX-License-Identifier: MIT */
#ifndef SERVER_EXCHANGE_H
#define SERVER_EXCHANGE_H

/*
 * One request and its response: all that a handler sees. Whoever carries it (http1.c) makes it when
 * a head is complete and ends it when the last byte of its response has left, or the client has.
 */

#include "files/body.h"
#include "files/store.h"
#include "http/chunked.h"
#include "http/request.h"
#include "http/uri.h"
#include "server/auth.h"
#include "server/route.h"

struct handler;
struct listing;
struct responder;
struct worker;

/* What a handler answers. All zero but the status is fine. */
struct response {
    int status;
    const char *reason;      /* why it is no 200, for the log: constant text */
    struct http_text fields; /* lines with their CRLF; copied at once */
    bool has_length;         /* Content-Length is among them */
    bool is_generated;       /* an error, a redirect: of the location's headers, only those that are
                                of every answer apply */
    bool varies;             /* with Accept-Encoding: Vary says so, merged with a configured one */

    /* The content, one of: */
    struct http_text text;          /* copied at once */
    struct http_text text_fields;   /* further ones, that describe it */
    struct representation *content; /* whose bytes are in memory; a reference is taken */
    uint64_t offset, length;        /* the part of it */
    struct body *body;              /* taken over */
};

/* An error whose page is being looked up. */
struct error_state {
    struct lookup lookup;
    int status;
    const char *reason;
    char *fields; /* malloc(3)ed */
    size_t fields_length;
};

/* What a handler keeps for an exchange that it answers later. */
union handler_state {
    struct lookup lookup; /* static */
    struct listing *listing;
    struct echo *echo;
    struct error_state error;
    struct auth_wait auth; /* before there is a handler */
};

/* How the request's content arrives. */
enum content_framing { CONTENT_COUNTED, CONTENT_CHUNKED };

struct exchange {
    const struct http_request *request; /* in place; a copy after exchange_defer() */
    struct http_path path;              /* decoded; likewise */
    const struct route_host *host;
    const struct route *route;
    const struct handler *handler;
    struct worker *worker;
    union handler_state state;
    bool wants_content;    /* set by the handler's `start`: it takes the request's content */
    bool is_authenticated; /* the name in its Authorization is true */
    bool is_fallback;      /* set by the handler: another file stands in for what was asked for */

    /* Below: the carrier's, not the handler's. */
    void *carrier; /* the connection */
    const struct responder *responder;
    struct exchange *next; /* in a pool, or in an output's list */
    struct http_request *request_copy;
    char *path_copy;
    char *head_copy; /* of the response, for the access log */

    enum content_framing content_framing;
    uint64_t content_remaining;  /* CONTENT_COUNTED */
    struct http_chunked chunked; /* CONTENT_CHUNKED */
    uint64_t content_bytes;      /* received so far */
    uint64_t content_mark;       /* when it was looked at last */
    uint64_t content_paid_ms;    /* the loop's time up to which that is enough */

    struct representation *content; /* of the response */
    struct body *body;
    uint64_t body_left;      /* of a body with a known length, not yet given */
    struct body_piece piece; /* a file range that waits to be sent */
    struct evix_op file_op;

    const char *reason;
    uint64_t started_ns;   /* the loop's time when the head was complete */
    uint64_t sent_bytes;   /* that the kernel took, head and content */
    uint64_t queued_bytes; /* those that are in an output or a file range now */
    uint32_t head_bytes;
    uint32_t number; /* of the request on its connection, from 0 */
    uint16_t status; /* 0: no answer yet */
    bool is_head;    /* HEAD: everything but the content */
    bool is_chunked; /* the response is */
    bool has_piece;
    bool body_waits;  /* it said "later", and has not called yet */
    bool is_started;  /* the handler has it and has not answered */
    bool is_answered; /* the response is queued to its end */
    bool is_received; /* the request is received to its end, or given up */
    bool is_sent;     /* the response has left, or never will */
    bool is_aborted;  /* cut off */
    bool close;       /* the connection ends with it */
};

/* How a response leaves; exchange.c calls it. */
struct responder {
    void (*respond)(struct exchange *exchange, const struct response *response);
    void (*resume)(struct exchange *exchange);
    void (*handle)(struct exchange *exchange); /* calls exchange_handle() */
};

/* Finds the route and hands the exchange to its handler. `path_memory` takes the decoded path. */
void exchange_start(struct exchange *exchange, char *path_memory, size_t path_capacity);

/* Finds the route for its error page and its headers alone: the request is refused by its head. */
void exchange_refuse(struct exchange *exchange, char *path_memory, size_t path_capacity, int status,
                     const char *reason);

/* Goes on with an exchange that the guard of its route has let pass. */
void exchange_handle(struct exchange *exchange);

/* The same for one that waited meanwhile. */
void exchange_handle_late(struct exchange *exchange);

/* Answers; once for each exchange, from `start` or later. */
void exchange_respond(struct exchange *exchange, const struct response *response);

/* Answers with an error page, perhaps later if it is the site's own. `reason` is constant text for
 * the log. */
void exchange_fail(struct exchange *exchange, int status, const char *reason);

/* The same with further fields (lines with their CRLF). */
void exchange_fail_with(struct exchange *exchange, int status, const char *reason,
                        struct http_text fields);

/* The same with the built-in page, at once. */
void exchange_fail_plainly(struct exchange *exchange, int status, const char *reason,
                           struct http_text fields);

/*
 * The handler will answer after its `start` has returned: what the exchange refers to is copied,
 * for the lent buffer will be gone. False if there is no memory.
 */
bool exchange_defer(struct exchange *exchange);

/* The handler, whose `room` was less than what had come, has room again. */
void exchange_resume(struct exchange *exchange);

/* Gives up the handler's part, if it has not answered: the client has gone. */
void exchange_cancel(struct exchange *exchange);

/* Gives back what the exchange holds, but for its own memory. */
void exchange_release(struct exchange *exchange);

#endif
