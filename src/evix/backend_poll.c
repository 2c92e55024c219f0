/* SPDX-License-Identifier: MIT */
/*
 * poll: the portable reference, and the lower rung of the ladder. Every wait looks at everything.
 * Only keeps a table and waits: ready.c does the operations, io.c the watchers.
 * Called through the table by loop.c, op.c, ready.c, close.c and io.c.
 */
#include "backend.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By descriptor: what waits for it. A socket's interest follows from its operations. */
struct poll_entry {
    struct evix_socket *socket;
    uint64_t token;
    unsigned interest;
};

/*
 * One entry gives two rows at most. Who a row is for is kept beside it, since callbacks of the same
 * batch may give the descriptor's number to another.
 */
struct poll_state {
    struct poll_entry *entries;
    size_t capacity;
    struct pollfd *rows;
    uint64_t *owners; /* a token, or the address of a socket */
    size_t row_count;
    bool is_ready;
};

static int poll_open(struct evix_loop *loop, const struct evix_options *options)
{
    (void)options;
    loop->backend_data = calloc(1, sizeof(struct poll_state));
    return loop->backend_data ? 0 : -ENOMEM;
}

static void poll_close(struct evix_loop *loop)
{
    struct poll_state *state = loop->backend_data;
    free(state->entries);
    free(state->rows);
    free(state->owners);
    free(state);
}

/* The rows are made to fit here, so that wait() cannot fail for memory. */
static int grow(struct poll_state *state, size_t wanted)
{
    size_t capacity = state->capacity ? state->capacity : 64;
    while (capacity < wanted)
        capacity *= 2;
    struct poll_entry *entries = realloc(state->entries, capacity * sizeof(*entries));
    if (entries)
        state->entries = entries;
    struct pollfd *rows = realloc(state->rows, 2 * capacity * sizeof(*rows));
    if (rows)
        state->rows = rows;
    uint64_t *owners = realloc(state->owners, 2 * capacity * sizeof(*owners));
    if (owners)
        state->owners = owners;
    if (!entries || !rows || !owners)
        return -ENOMEM;
    memset(entries + state->capacity, 0, (capacity - state->capacity) * sizeof(*entries));
    state->capacity = capacity;
    return 0;
}

static int poll_arm(struct evix_loop *loop, struct evix_socket *socket)
{
    struct poll_state *state = loop->backend_data;
    size_t fd = (size_t)socket->fd;
    if (fd >= state->capacity && grow(state, fd + 1) < 0)
        return -ENOMEM;
    state->entries[fd].socket = socket;
    socket->events |= SOCKET_REGISTERED;
    return 0;
}

static void poll_forget(struct evix_loop *loop, struct evix_socket *socket)
{
    struct poll_state *state = loop->backend_data;
    if (socket->events & SOCKET_REGISTERED)
        state->entries[socket->fd].socket = NULL;
}

/* The errors that epoll gives; poll(2) would say "always ready" of a file. */
static int check_descriptor(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? -EPERM : 0;
}

static int poll_watch(struct evix_loop *loop, int fd, unsigned was, unsigned wanted, uint64_t token)
{
    struct poll_state *state = loop->backend_data;
    int error = was ? 0 : check_descriptor(fd);
    if (error < 0)
        return error;
    if ((size_t)fd >= state->capacity && grow(state, (size_t)fd + 1) < 0)
        return -ENOMEM;
    state->entries[fd].token = token;
    state->entries[fd].interest = wanted;
    return 0;
}

static void add_row(struct poll_state *state, int fd, unsigned interest, uint64_t owner)
{
    if (interest == 0)
        return; /* a hang-up that nobody waits for must not wake the loop */
    state->owners[state->row_count] = owner;
    state->rows[state->row_count++] =
        (struct pollfd){.fd = fd,
                        .events = (short)((interest & EVIX_READ ? POLLIN : 0) |
                                          (interest & EVIX_WRITE ? POLLOUT : 0))};
}

static unsigned socket_interest(const struct evix_socket *socket)
{
    unsigned interest = 0;
    if (socket->reader && socket->reader->state == OP_RUNNING)
        interest |= EVIX_READ;
    if (socket->writer && socket->writer->state == OP_RUNNING)
        interest |= EVIX_WRITE;
    return interest;
}

static void fill_rows(struct poll_state *state)
{
    state->row_count = 0;
    for (size_t fd = 0; fd < state->capacity; fd++) {
        struct poll_entry *entry = &state->entries[fd];
        add_row(state, (int)fd, entry->interest, entry->token);
        if (entry->socket)
            add_row(state, (int)fd, socket_interest(entry->socket), (uintptr_t)entry->socket);
    }
}

static int to_ms(uint64_t timeout_ns)
{
    if (timeout_ns == BACKEND_FOREVER)
        return -1;
    uint64_t ms = timeout_ns / 1000000u + (timeout_ns % 1000000u != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static int poll_wait(struct evix_loop *loop, uint64_t timeout_ns)
{
    struct poll_state *state = loop->backend_data;
    fill_rows(state);
    int count = poll(state->rows, state->row_count, to_ms(timeout_ns));
    state->is_ready = count > 0;
    return count < 0 ? -errno : count;
}

static unsigned from_poll(short revents)
{
    unsigned events = 0;
    if (revents & POLLIN)
        events |= EVIX_READ;
    if (revents & POLLOUT)
        events |= EVIX_WRITE;
    if (revents & (POLLERR | POLLHUP | POLLNVAL))
        events |= EVIX_READ | EVIX_WRITE | EVIX_HANGUP;
    return events;
}

static void poll_dispatch(struct evix_loop *loop)
{
    struct poll_state *state = loop->backend_data;
    size_t count = state->is_ready ? state->row_count : 0, done = 0;
    state->is_ready = false;
    if (loop->ready.retry.first)
        evix__ready_run_retries(loop);
    for (size_t i = 0; i < count; i++) { /* callbacks may grow the arrays: never keep a pointer */
        unsigned events = from_poll(state->rows[i].revents);
        uint64_t owner = state->owners[i];
        if (events == 0)
            continue;
        if (owner & IO_TOKEN_BIT)
            evix__io_dispatch(loop, owner, events);
        else
            evix__ready_event(loop, (struct evix_socket *)(uintptr_t)owner, events);
        if (++done % DISPATCH_STRIDE == 0)
            evix__ops_submit_early(loop);
    }
}

const struct backend evix__backend_poll = {
    .id = EVIX_BACKEND_POLL,
    .name = "poll",
    .capabilities = BACKEND_SOCKETS | BACKEND_READY,
    .open = poll_open,
    .close = poll_close,
    .submit = evix__ready_submit,
    .cancel = evix__ready_cancel,
    .await_room = evix__ready_await_room,
    .push = evix__ready_push,
    .forget = poll_forget,
    .wait = poll_wait,
    .dispatch = poll_dispatch,
    .watch = poll_watch,
    .arm = poll_arm,
};
