/* SPDX-License-Identifier: MIT */
/*
 * Accepts what waits at a listener, a bounded burst at a time.
 * Does not wait: a backend says when there is something, and decides what comes after the burst.
 * Called by ready.c and uring_op.c.
 */
#include "accept.h"

#include "platform.h"

#include <errno.h>

enum {
    BURST = 64, /* so that a flood of connections cannot hold the loop */
    TRIES = 64, /* failures one after the other, without a connection between them */
};

/* Errors that belong to a connection that was waiting, not to the listener (accept(2)). */
static bool is_passing(int error)
{
    switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM: /* a firewall's rule */
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ETIMEDOUT:
#ifdef ENONET
    case ENONET:
#endif
        return true;
    default:
        return false;
    }
}

/* Its callback may have cancelled it; then it is complete, or flagged, as the backend does it. */
static bool is_wanted(const struct evix_op *op)
{
    return op->state == OP_RUNNING && !(op->flags & OP_CANCELLED);
}

/*
 * As many calls as there are connections where the kernel tells how many: one that only finds that
 * there is none left makes a socket and throws it away, which took 3.4 microseconds where telling
 * took 0.3. A connection that arrives after the counting wakes the backend anew; one that is left
 * behind by a call that failed does not.
 */
int evix__accept_burst(struct evix_loop *loop, struct evix_op *op)
{
    int waiting = evix__platform_backlog(op->socket->fd);
    int most = waiting > 0 && waiting < BURST ? waiting : BURST;
    bool has_failed = false;

    for (int i = 0; i < most; i++) {
        int fd = evix__platform_accept(op->socket->fd);
        if (fd >= 0) {
            op->count = 0;
            evix__op_deliver(loop, op, fd);
            if (!is_wanted(op))
                return ACCEPT_UNWANTED;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return ACCEPT_EMPTY;
        } else if (!is_passing(errno) || op->count++ >= TRIES) {
            return -errno;
        } else {
            has_failed = true;
        }
    }
    return most == waiting && !has_failed ? ACCEPT_EMPTY : ACCEPT_MORE;
}
