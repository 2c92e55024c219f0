/* SPDX-License-Identifier: MIT */
/*
 * Opens a ring: tries the set-up flags from the best to the plainest, and checks the features.
 * Does not submit anything; what a ring is used for is its owner's affair.
 * Called by backend_uring.c for the loop's ring and by file_ring.c for a ring of files alone.
 */
#include "uring_open.h"

#include "uring_restrict.h"

#include <assert.h>
#include <errno.h>

/*
 * The best first; a kernel answers -EINVAL to what it does not know. Deferred task work (6.1) means
 * that completions are prepared in our own call, in batches, and never interrupt us elsewhere; with
 * SINGLE_ISSUER (6.0) the kernel spares its locks. Without the latter multishot receives are not
 * there either, and the ring is of no use for sockets.
 */
static const unsigned flags_if_waited_for[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL,
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SUBMIT_ALL,
};

/*
 * Work that waits to be run in our call does not make the descriptor readable for epoll (seen on
 * 6.18 with files that a kernel thread opened): a ring that is watched must go without.
 */
static const unsigned flags_if_polled[] = {
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SUBMIT_ALL,
    0,
};

enum { TRIES = 2 };
static_assert(sizeof(flags_if_waited_for) == TRIES * sizeof(unsigned), "as many as are tried");
static_assert(sizeof(flags_if_polled) == TRIES * sizeof(unsigned), "as many as are tried");

/*
 * NODROP: completions that find the queue full are kept; SUBMIT_STABLE: vectors and message heads
 * may be reused once submitted; FAST_POLL: sockets wait without a thread; EXT_ARG: the wait takes
 * a timeout. All are there since 5.11.
 */
static const unsigned features =
    IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL | IORING_FEAT_EXT_ARG;

/*
 * A filter may let rings be made and not be entered: better to know now. That it is not enabled yet
 * is the answer of a ring that may.
 */
static int try_to_enter(const struct io_uring *ring)
{
    int error = io_uring_enter((unsigned)ring->ring_fd, 0, 0, 0, NULL);
    return error == -EBADFD ? 0 : error;
}

int evix__uring_open(struct io_uring *ring, enum uring_use use, unsigned entries,
                     unsigned completions)
{
    const unsigned *flags = use == URING_POLLED ? flags_if_polled : flags_if_waited_for;
    int error = -EINVAL;
    for (int i = 0; error == -EINVAL && i < TRIES; i++) {
        struct io_uring_params parameters = {.cq_entries = completions};
        parameters.flags =
            flags[i] | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
        /* The library returns its errors and leaves errno as it was: never look there. */
        error = io_uring_queue_init_params(entries, ring, &parameters);
    }
    if (error < 0)
        return error == -EINVAL ? -ENOSYS : error;
    error = (ring->features & features) == features ? try_to_enter(ring) : -ENOSYS;
    if (error < 0)
        io_uring_queue_exit(ring);
    else
        (void)!evix__uring_restrict(ring); /* nothing that we do depends on it */
    return error;
}

int evix__uring_start(struct io_uring *ring)
{
    /* liburing 2.3 declares io_uring_enable_rings() and does not export it. */
    int error = io_uring_register((unsigned)ring->ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    if (error < 0)
        return error;
    /* Spares the kernel a look-up of the descriptor in each call; nothing is lost without it. */
    (void)!io_uring_register_ring_fd(ring);
    return 0;
}
