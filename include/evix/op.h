/* SPDX-License-Identifier: MIT */
#ifndef EVIX_OP_H
#define EVIX_OP_H

/*
 * Operations: say what is to be done, be told when it was done. On io_uring the kernel completes
 * them; elsewhere the loop tries the call and parks it until the descriptor is ready.
 *
 * The rules of every operation:
 * - The caller embeds and owns `struct evix_op`, and nothing is allocated to start one. From the
 *   start to the final callback the operation, and the memory it names, belong to the loop.
 * - No callback runs inside the call that starts or cancels it. Operations that are started in an
 *   iteration go to the kernel together, in its submit step, or in a few if the iteration brought
 *   very much.
 * - Exactly one final callback for each start, cancelled or not. A multishot operation has further
 *   callbacks before it, for which evix_op_more() is true. In its final callback an operation may
 *   be started again, or its memory freed.
 * - Results are counts or negative errno values. -ECANCELED after evix_cancel() or a socket's
 *   close; -ETIMEDOUT after a timeout. Cancelling is a race: the operation may have succeeded.
 */

#include <evix/loop.h>
#include <evix/timer.h>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_file_request;
struct evix_op;
struct evix_socket;

typedef void evix_op_fn(struct evix_op *op, ssize_t result);
typedef void evix_socket_fn(struct evix_socket *socket);

/*
 * A stream socket that operations are started on. It takes over the descriptor, which must be
 * non-blocking, and may have one reading operation (accept, receive) and one writing operation
 * (connect, send, send_file) at a time.
 */
struct evix_socket {
    struct evix_handle handle;
    int fd;
    unsigned events;        /* private, as all below */
    struct evix_op *reader; /* started and not completed */
    struct evix_op *writer;
    evix_socket_fn *closed;
    struct evix_socket *next;
};

/* At most 64 bytes, so that a connection can afford a few. */
struct evix_op {
    evix_op_fn *fn;
    struct evix_socket
        *socket;          /* that it was started on; may be read in callbacks. NULL for files */
    struct evix_op *next; /* private, as all below */
    struct evix_timer *timeout;
    union {
        struct {
            struct iovec *iov;
            uint64_t sent;
        } send;
        struct {
            const void *data; /* lent bytes, for the length of the callback */
            uint64_t index;
        } lent;
        struct {
            const struct sockaddr *address;
            uint64_t length;
        } connect;
        struct {
            int64_t offset;
            uint32_t sent;
            int fd;
        } range;
        struct {
            struct evix_loop *loop;
            struct evix_file_request *request;
        } file;
    } u;
    uint32_t length;
    int32_t result;
    uint8_t kind;
    uint8_t state;
    uint16_t flags;
    uint32_t count;
};

/* Takes over `fd`. Nothing is registered with the kernel until the first operation. */
EVIX_EXPORT void evix_socket_init(struct evix_socket *socket, struct evix_loop *loop, int fd);

/*
 * Cancels the socket's operations (each gets its final callback), then closes the descriptor, then
 * calls `closed` (which may be NULL) in the closing phase: from then on the memory of the socket
 * is the caller's again. Calling it twice is harmless; the second `closed` is ignored.
 */
EVIX_EXPORT void evix_socket_close(struct evix_socket *socket, evix_socket_fn *closed);

/*
 * Multishot accept: one callback for each connection, with its descriptor (non-blocking,
 * close-on-exec; the caller's) and evix_op_more(). Ends with an error, or when cancelled.
 * Without descriptors (EMFILE, ENFILE, ENOBUFS, ENOMEM) it ends with that error: start it again
 * when some came free, or after a while. Errors that belong to one connection (accept(2):
 * ECONNABORTED, EPROTO, ...) are passed over. At most 64 connections an iteration, so that a burst
 * cannot starve others. Accepted is in this process's own calls, on io_uring too: what waits in the
 * queue of a process that is killed is there for the next one that has the same listener.
 */
EVIX_EXPORT void evix_accept(struct evix_op *op, struct evix_socket *listener, evix_op_fn *fn);

/*
 * Connects; `address` must stay until the final callback. 0, or the error of the attempt as
 * SO_ERROR has it (-ECONNREFUSED, ...): writable does not mean connected.
 */
EVIX_EXPORT void evix_connect(struct evix_op *op, struct evix_socket *socket,
                              const struct sockaddr *address, socklen_t length, evix_op_fn *fn);

/*
 * Receives into a buffer that the loop lends for the length of the callback: evix_op_data(), as
 * many bytes as the result says; 0 is the end of the stream. So a connection that waits holds no
 * buffer. Multishot: callbacks go on (evix_op_more()) until the end, an error or evix_cancel().
 * After evix_cancel() some data may still be delivered before the final callback, and must be
 * taken; on readiness-based backends there is none. Running out of buffers is the loop's affair:
 * it arms the operation again when buffers come back.
 */
EVIX_EXPORT void evix_receive(struct evix_op *op, struct evix_socket *socket, evix_op_fn *fn);

/*
 * Sends all of `count` buffers (at most IOV_MAX at a time go to the kernel; more are fine), or
 * fails. The vector and its memory must stay until the final callback; the loop may change the
 * vector. The result is the total; after an error evix_op_progress() tells how much had gone.
 * `flags`: EVIX_SEND_MORE (more will follow soon: MSG_MORE of send(2)) or 0.
 */
EVIX_EXPORT void evix_send(struct evix_op *op, struct evix_socket *socket, struct iovec *iov,
                           unsigned count, unsigned flags, evix_op_fn *fn);
enum { EVIX_SEND_MORE = 1 };

/*
 * Sends `length` bytes (at most 2 GiB - 1) of a file from `offset`, by sendfile(2) where the
 * platform has it. Whatever the page cache lacks is read by the loop's own thread: make sure
 * that it is there. The descriptor stays the caller's. A result below `length` means that the
 * file ended there.
 */
EVIX_EXPORT void evix_send_file(struct evix_op *op, struct evix_socket *socket, int fd,
                                int64_t offset, uint32_t length, evix_op_fn *fn);

/*
 * The same for a range that the page cache is believed to hold, for `fresh_ms` and not for ever: if
 * a full socket has room again later than that, the operation ends with what it had sent, maybe
 * nothing, so that the caller can look anew. A result below `length` means that, or the file's end.
 */
EVIX_EXPORT void evix_send_file_fresh(struct evix_op *op, struct evix_socket *socket, int fd,
                                      int64_t offset, uint32_t length, uint32_t fresh_ms,
                                      evix_op_fn *fn);

/* How many bytes a send operation has given to the kernel so far. */
EVIX_EXPORT uint64_t evix_op_progress(const struct evix_op *op);

/* In a receive's callback: the lent bytes. */
static inline const void *evix_op_data(const struct evix_op *op)
{
    return op->u.lent.data;
}

/* In a multishot operation's callback: true if this was not the final one. */
EVIX_EXPORT bool evix_op_more(const struct evix_op *op);

/* From the start until the final callback begins. */
EVIX_EXPORT bool evix_op_pending(const struct evix_op *op);

/*
 * Asks for the operation to end; its final callback comes later, with -ECANCELED, or with what it
 * had achieved. Nothing happens if it is not pending.
 */
EVIX_EXPORT void evix_cancel(struct evix_op *op);

/*
 * Gives a started operation a time limit: it ends with -ETIMEDOUT. `timer` is the caller's memory,
 * in the loop's use until the final callback; it need not be initialised.
 */
EVIX_EXPORT void evix_op_timeout(struct evix_op *op, struct evix_timer *timer, uint64_t ms);

#ifdef __cplusplus
}
#endif

#endif
