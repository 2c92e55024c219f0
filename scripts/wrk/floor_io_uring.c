/* SPDX-License-Identifier: MIT */
/*
 * The yardstick on io_uring: multishot accept and receive, a ring of provided buffers, and one
 * system call for all that a turn of the loop has to send and to wait for.
 * It counts and answers nothing itself (floor.c does).
 */
#include "floor.h"

#include <errno.h>
#ifdef HAVE_LIBURING
#include <liburing.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#ifdef HAVE_LIBURING
enum { BUFFERS = 1024, GROUP = 0 };
enum ring_kind { RING_ACCEPT, RING_RECEIVE, RING_SEND };

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char *buffer_memory;

static struct io_uring_sqe *ring_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (!entry) {
        io_uring_submit(&ring);
        entry = io_uring_get_sqe(&ring);
    }
    if (!entry)
        abort(); /* submitting has emptied the queue: the kernel broke its word */
    return entry;
}

/* Last, because liburing from 2.4 on clears the user data while it prepares an entry. */
static void ring_finish(struct io_uring_sqe *entry, enum ring_kind kind, int fd)
{
    entry->user_data = (uint64_t)kind << 32 | (uint32_t)fd;
}

static void ring_accept(int listener)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_multishot_accept(entry, listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ring_finish(entry, RING_ACCEPT, listener);
}

static void ring_receive(int fd)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_recv_multishot(entry, fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = GROUP;
    ring_finish(entry, RING_RECEIVE, fd);
}

static void ring_send(int fd, size_t bytes)
{
    struct io_uring_sqe *entry = ring_entry();
    io_uring_prep_send(entry, fd, floor_responses, bytes, MSG_NOSIGNAL | MSG_WAITALL);
    ring_finish(entry, RING_SEND, fd);
}

static void ring_give(unsigned index)
{
    io_uring_buf_ring_add(buffers, buffer_memory + (size_t)index * FLOOR_RECEIVE_BYTES,
                          FLOOR_RECEIVE_BYTES, (unsigned short)index,
                          io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(buffers, 1);
}

static void on_received(int fd, const struct io_uring_cqe *cqe)
{
    if (cqe->res > 0) {
        unsigned index = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
        const char *data = buffer_memory + (size_t)index * FLOOR_RECEIVE_BYTES;
        size_t bytes = floor_answer(fd, data, (size_t)cqe->res);
        ring_give(index);
        if (bytes > 0)
            ring_send(fd, bytes);
    }
    if (cqe->flags & IORING_CQE_F_MORE)
        return;
    if (cqe->res > 0 || cqe->res == -ENOBUFS)
        ring_receive(fd);
    else
        close(fd);
}

static void on_completion(const struct io_uring_cqe *cqe)
{
    int fd = (int)(uint32_t)cqe->user_data;
    switch ((enum ring_kind)(cqe->user_data >> 32)) {
    case RING_ACCEPT:
        if (cqe->res >= FLOOR_DESCRIPTORS) {
            close(cqe->res);
        } else if (cqe->res >= 0) {
            floor_reset(cqe->res);
            ring_receive(cqe->res);
        }
        if (!(cqe->flags & IORING_CQE_F_MORE))
            ring_accept(fd);
        break;
    case RING_RECEIVE:
        on_received(fd, cqe);
        break;
    case RING_SEND:
        break; /* a peer that went away shows in its receive */
    }
}

static int open_ring(void)
{
    struct io_uring_params parameters = {.cq_entries = 16384};
    parameters.flags =
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    int error = io_uring_queue_init_params(2048, &ring, &parameters);
    if (error < 0)
        return error;
    io_uring_register_ring_fd(&ring);
    size_t table = BUFFERS * sizeof(struct io_uring_buf);
    void *memory = mmap(NULL, table + (size_t)BUFFERS * FLOOR_RECEIVE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    buffers = memory;
    buffer_memory = (char *)memory + table;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)memory, .ring_entries = BUFFERS, .bgid = GROUP};
    error = io_uring_register_buf_ring(&ring, &registration, 0);
    if (error < 0)
        return error;
    for (unsigned i = 0; i < BUFFERS; i++)
        ring_give(i);
    return 0;
}

int floor_run_io_uring(int listener)
{
    int error = open_ring();
    if (error < 0)
        return error;
    ring_accept(listener);
    for (;;) {
        error = io_uring_submit_and_wait(&ring, 1);
        if (error < 0 && error != -EINTR)
            return error;
        struct io_uring_cqe *cqe;
        unsigned head, count = 0;
        io_uring_for_each_cqe(&ring, head, cqe)
        {
            on_completion(cqe);
            count++;
        }
        io_uring_cq_advance(&ring, count);
    }
}
#else
int floor_run_io_uring(int listener)
{
    (void)listener;
    return -ENOSYS;
}
#endif
