/* SPDX-License-Identifier: MIT */
/*
 * The list of what the rings of a loop may be asked, and its registration.
 * Does not open or start a ring: uring_open.c does.
 * Called by uring_open.c.
 */
#include "uring_restrict.h"

/* What uring_op.c and uring_file.c prepare, and cancelling. */
static const uint8_t operations[] = {
    IORING_OP_NOP,     IORING_OP_ACCEPT,   IORING_OP_RECV,         IORING_OP_SEND,
    IORING_OP_SENDMSG, IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL, IORING_OP_OPENAT2,
    IORING_OP_STATX,   IORING_OP_READ,
};

/* What is registered once the ring runs. */
static const uint8_t registrations[] = {
    IORING_REGISTER_RING_FDS,
    IORING_UNREGISTER_RING_FDS,
};

enum {
    OPERATIONS = sizeof(operations),
    REGISTRATIONS = sizeof(registrations),
    ALL = OPERATIONS + REGISTRATIONS + 1,
};

int evix__uring_restrict(struct io_uring *ring)
{
    struct io_uring_restriction all[ALL] = {0};
    for (int i = 0; i < OPERATIONS; i++) {
        all[i].opcode = IORING_RESTRICTION_SQE_OP;
        all[i].sqe_op = operations[i];
    }
    for (int i = 0; i < REGISTRATIONS; i++) {
        all[OPERATIONS + i].opcode = IORING_RESTRICTION_REGISTER_OP;
        all[OPERATIONS + i].register_op = registrations[i];
    }
    /* Flags say how an operation is done, not which. */
    all[ALL - 1].opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED;
    all[ALL - 1].sqe_flags = UINT8_MAX;
    /* liburing 2.3 declares io_uring_register_restrictions() and does not export it. */
    return io_uring_register((unsigned)ring->ring_fd, IORING_REGISTER_RESTRICTIONS, all, ALL);
}
