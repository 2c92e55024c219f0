/* SPDX-License-Identifier: MIT */
/*
 * Forks the workers, watches them, and replaces those that die.
 * It decides neither when they stop (master.c) nor how soon one is replaced (respawn.c).
 * master.c calls it.
 */

#include "daemon/children.h"

#include "daemon/exit_code.h"
#include "daemon/respawn.h"
#include "daemon/steering.h"
#include "daemon/takeover.h"
#include "daemon/worker_process.h"
#include "log/log.h"
#include "server/worker.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    struct children *children;
    unsigned index;
    pid_t pid;                  /* 0: not running */
    int control_fd;             /* the master's end; -1: closed */
    struct counters_slot *slot; /* where it counts; NULL: not running, or none was free */
    bool is_in_the_way;         /* of a retired one: it accepts from what passed on */
    bool is_holding;            /* of a retired one: it still has listeners */
    bool is_ready;              /* in this life */
    bool was_ready;             /* in this life or an earlier one */
    bool wants_reopen;          /* told to open its logs anew before it was ready for the signal */
    bool is_asked;              /* for a sign of life, and owes it */
    bool is_missing;            /* which was said */
    unsigned unheard;           /* times that a sign of life was missed */
    uint64_t started_ms;
    uint32_t delay_ms; /* before this life */
    struct evix_io control;
    struct evix_timer respawn;
};

static void close_control(struct child *child)
{
    if (child->control_fd < 0)
        return;
    evix_io_stop(&child->control);
    close(child->control_fd);
    child->control_fd = -1;
}

/* Has no effect on a worker that is not there any more. */
static void send_signal(const struct child *child, int number)
{
    if (child->pid > 0)
        kill(child->pid, number);
}

static void note_ready(struct child *child)
{
    struct children *children = child->children;
    log_event(LOG_LEVEL_DEBUG, "worker %u (%ld) serves", child->index, (long)child->pid);
    child->is_ready = true;
    if (child->wants_reopen)
        send_signal(child, SIGUSR1);
    child->wants_reopen = false;
    if (child->was_ready)
        return;
    child->was_ready = true;
    if (--children->never_ready != 0 || children->is_stopping)
        return;
    counters_set_away(children->options.counters, 0);
    liveness_begin(&children->liveness);
    children->options.events.all_ready(children->options.events.data);
}

static void note_made_way(struct child *child)
{
    struct children *children = child->children;
    if (!child->is_in_the_way)
        return;
    child->is_in_the_way = false;
    if (--children->in_the_way == 0)
        children->options.events.made_way(children->options.events.data);
}

/* A retired worker has closed its listeners, or has died. */
static void note_let_go(struct child *child)
{
    struct children *children = child->children;
    note_made_way(child);
    if (!child->is_holding)
        return;
    child->is_holding = false;
    if (--children->holding == 0)
        children->options.events.let_go(children->options.events.data);
}

static void on_control(struct evix_io *io, unsigned events)
{
    struct child *child = EVIX_CONTAINER_OF(io, struct child, control);
    char word;
    (void)events;
    ssize_t length = recv(child->control_fd, &word, 1, MSG_DONTWAIT);
    if (length > 0) {
        if (word == WORKER_SERVES && !child->is_ready)
            note_ready(child);
        else if (word == WORKER_ALIVE)
            child->is_asked = false;
        else if (word == WORKER_MADE_WAY)
            note_made_way(child);
        else if (word == WORKER_LET_GO)
            note_let_go(child);
    } else if (length == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_control(child); /* the worker is about to end; SIGCHLD tells how it went */
    }
}

/* In the new process. The parent's memory is all there, and none of it is used but these values. */
static _Noreturn void become_worker(const struct child *child, int control_fd)
{
    const struct children_options *options = &child->children->options;
    struct worker_process process = {
        .config = options->config,
        .privileges = options->privileges,
        .sockets = options->sockets,
        .error_log = options->error_log,
        .index = child->index,
        .is_successor = child->was_ready,
        .control_fd = control_fd,
        .counters = options->counters,
        .slot = child->slot,
    };
    worker_process_run(&process);
}

static void give_slot_back(struct child *child)
{
    counters_give_back(child->slot);
    child->slot = NULL;
}

/* Signals wait until the new process has a disposition of its own for them. */
static pid_t fork_worker(const struct child *child, int control_fd)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become_worker(child, control_fd);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? -error : pid;
}

static int start_child(struct child *child)
{
    struct children *children = child->children;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    child->slot =
        counters_take(children->options.counters, child->index, children->options.generation);
    counters_note_away(child->slot, children->options.sockets->is_away[child->index]);
    int error = fork_worker(child, pair[1]);
    close(pair[1]);
    if (error < 0) {
        give_slot_back(child);
        goto close_pair;
    }
    child->pid = error;
    child->is_ready = false;
    child->is_asked = false;
    child->unheard = 0;
    child->wants_reopen = false;
    child->control_fd = pair[0];
    child->started_ms = evix_now_ms(children->options.loop);
    children->running++;
    liveness_note_start(&children->liveness, child->index, child->slot);
    log_event(LOG_LEVEL_DEBUG, "worker %u (%ld) started", child->index, (long)child->pid);

    evix_io_init(&child->control, children->options.loop, child->control_fd, on_control);
    error = evix_io_start(&child->control, EVIX_READ);
    if (error == 0)
        return 0;
    child->control_fd = -1;
    send_signal(child, SIGKILL); /* it could never say that it serves; SIGCHLD does the rest */
    log_event(LOG_LEVEL_ERROR, "cannot watch worker %u: %s", child->index, evix_strerror(error));
    error = 0;

close_pair:
    close(pair[0]);
    return error;
}

static void schedule_respawn(struct child *child, uint64_t lived_ms)
{
    child->delay_ms = respawn_delay_ms(child->delay_ms, lived_ms);
    evix_timer_start(&child->respawn, child->delay_ms, 0);
}

static int start_again(struct child *child)
{
    counters_note_respawn(child->children->options.counters);
    int error = start_child(child);
    if (error < 0)
        log_event(LOG_LEVEL_ERROR, "cannot start worker %u: %s", child->index,
                  evix_strerror(error));
    return error;
}

static void on_respawn(struct evix_timer *timer)
{
    struct child *child = EVIX_CONTAINER_OF(timer, struct child, respawn);
    if (child->children->is_stopping || child->children->is_retired)
        return;
    if (start_again(child) < 0)
        schedule_respawn(child, 0);
}

/* How it ended, in words. Returns the exit code that stands for it. */
static int describe_end(int status, char *out, size_t size)
{
    if (WIFEXITED(status)) {
        snprintf(out, size, "exited with code %d", WEXITSTATUS(status));
        return WEXITSTATUS(status);
    }
    snprintf(out, size, "was ended by signal %d (%s)%s", WTERMSIG(status),
             strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    return EXIT_CODE_RUNNING;
}

/* One that was told to stop before it had come to watching for that. */
static bool is_stop(int status)
{
    if (!WIFSIGNALED(status))
        return false;
    int number = WTERMSIG(status);
    return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

/* One that will have no successor. */
static void note_last_end(struct child *child, pid_t pid, int status, int code, const char *how)
{
    struct children *children = child->children;
    const struct children_events *events = &children->options.events;
    bool is_expected = code == EXIT_CODE_CLEAN || (children->is_stopping && is_stop(status)) ||
                       children->never_ready != 0; /* what went wrong was said, of the first */
    log_event(is_expected ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING, "worker %u (%ld) %s", child->index,
              (long)pid, how);
    note_let_go(child);
    if (children->running == 0)
        events->all_gone(events->data);
}

static void note_end(struct child *child, int status)
{
    struct children *children = child->children;
    const struct children_events *events = &children->options.events;
    uint64_t lived_ms = evix_now_ms(children->options.loop) - child->started_ms;
    char how[96];
    int code = describe_end(status, how, sizeof(how));
    pid_t pid = child->pid;

    assert(children->running > 0);
    child->pid = 0;
    give_slot_back(child);
    children->running--;
    close_control(child);
    child->is_missing = false;
    if (children->is_stopping || children->is_retired) {
        liveness_note_end(&children->liveness, child->index, false);
        note_last_end(child, pid, status, code, how);
        return;
    }
    if (children->never_ready != 0) {
        log_event(LOG_LEVEL_ERROR, "worker %u (%ld) could not start: it %s", child->index,
                  (long)pid, how);
        events->start_failed(events->data, code);
        return;
    }
    schedule_respawn(child, lived_ms);
    log_event(LOG_LEVEL_ERROR, "worker %u (%ld) %s; its successor starts in %u ms", child->index,
              (long)pid, how, child->delay_ms);
    /* One that has died before in a short time is likely to do so again. */
    liveness_note_end(&children->liveness, child->index, child->delay_ms > RESPAWN_FIRST_MS);
}

bool children_note_end(struct children *children, pid_t pid, int status)
{
    for (unsigned i = 0; i < children->options.count; i++) {
        if (children->table[i].pid == pid) {
            note_end(&children->table[i], status);
            return true;
        }
    }
    return false;
}

/* ---- those that do not turn ---------------------------------------------------------------- */

static void tell_liveness(struct child *child, enum liveness_state state)
{
    long pid = (long)child->pid;
    bool was_missing = child->is_missing;
    const struct children *children = child->children;
    bool has_others = !children->is_stopping && !children->is_retired &&
                      liveness_count_away(&children->liveness) < children->options.sockets->workers;
    child->is_missing = pid != 0 && state >= LIVENESS_MISSING;
    if (state == LIVENESS_SERVES)
        log_event(was_missing ? LOG_LEVEL_NOTICE : LOG_LEVEL_INFO,
                  "worker %u (%ld) is back: it gets its share of new connections", child->index,
                  pid);
    else if (pid == 0)
        log_event(LOG_LEVEL_INFO, "worker %u is away until its successor serves", child->index);
    else if (state == LIVENESS_AWAY)
        log_event(LOG_LEVEL_INFO, "worker %u (%ld) is away: its event loop does not turn",
                  child->index, pid);
    else if (state == LIVENESS_MISSING)
        log_event(LOG_LEVEL_WARNING, "worker %u (%ld) has not responded for a second%s",
                  child->index, pid, has_others ? ": new connections go to others" : "");
    else
        log_event(LOG_LEVEL_ERROR, "worker %u (%ld) is stuck: killed", child->index, pid);
}

static void on_liveness(void *data, unsigned worker, enum liveness_state state)
{
    struct children *children = data;
    struct child *child = &children->table[worker];
    if (!children->is_stopping && !children->is_retired) {
        steering_set_away(children->options.sockets, worker, state != LIVENESS_SERVES);
        counters_set_away(children->options.counters, liveness_count_away(&children->liveness));
    }
    counters_note_away(child->slot, state != LIVENESS_SERVES);
    tell_liveness(child, state);
    if (state == LIVENESS_STUCK)
        send_signal(child, SIGKILL);
}

/* Whoever has closed its end is about to end. Whether an answer is due. */
static bool ask(struct child *child)
{
    char word = WORKER_ASKED;
    if (child->is_ready && !child->is_asked && child->control_fd >= 0 &&
        send(child->control_fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
        child->is_asked = true;
    return child->is_asked;
}

static bool on_ask(void *data, unsigned worker)
{
    struct children *children = data;
    return ask(&children->table[worker]);
}

/* ---- from the start to the end of all ------------------------------------------------------ */

static int init_liveness(struct children *children)
{
    struct liveness_options options = {
        .loop = children->options.loop,
        .sockets = children->options.sockets,
        .stuck_ms = children->options.config->timeouts.stuck_ms,
        .events = {on_ask, on_liveness, children},
    };
    return liveness_init(&children->liveness, &options);
}

int children_start(struct children *children, const struct children_options *options)
{
    *children = (struct children){.options = *options};
    children->never_ready = options->count;
    children->table = calloc(options->count, sizeof(*children->table));
    if (children->table == NULL || init_liveness(children) < 0) {
        free(children->table);
        children->table = NULL;
        children->options.count = 0;
        return -ENOMEM;
    }
    for (unsigned i = 0; i < options->count; i++) {
        struct child *child = &children->table[i];
        *child = (struct child){.children = children, .index = i, .control_fd = -1};
        evix_timer_init(&child->respawn, options->loop, on_respawn);
    }
    for (unsigned i = 0; i < options->count; i++) {
        int error = start_child(&children->table[i]);
        if (error < 0) {
            log_event(LOG_LEVEL_ERROR, "cannot start worker %u: %s", i, evix_strerror(error));
            return error;
        }
    }
    return 0;
}

/* Words that cannot be sent are those to a worker that has died, which SIGCHLD tells. */
static void send_order(const struct child *child)
{
    const struct children_options *options = &child->children->options;
    for (size_t i = 0; i < options->sockets->count; i++) {
        char word = takeover_leaves(options->sockets, child->index, i) ? WORKER_LISTENER_GOES
                                                                       : WORKER_LISTENER_STAYS;
        (void)!send(child->control_fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void children_leave_sockets(struct children *children, bool is_drained)
{
    if (children->options.count == 0)
        return;
    liveness_leave_sockets(&children->liveness);
    if (!is_drained || children->is_stopping || children->is_retired)
        return;
    for (unsigned i = 0; i < children->options.count; i++) {
        struct child *child = &children->table[i];
        evix_timer_stop(&child->respawn);
        if (child->pid == 0 && child->was_ready)
            (void)!start_again(child);
    }
}

void children_retire(struct children *children)
{
    const struct children_events *events = &children->options.events;
    children->is_retired = true;
    children->in_the_way = children->holding = children->running;
    for (unsigned i = 0; i < children->options.count; i++) {
        struct child *child = &children->table[i];
        evix_timer_stop(&child->respawn);
        child->is_in_the_way = child->is_holding = child->pid > 0;
        if (child->control_fd >= 0)
            send_order(child);
        liveness_expect_turn(&children->liveness, i);
    }
    if (children->running != 0)
        return;
    events->made_way(events->data);
    events->let_go(events->data);
    events->all_gone(events->data);
}

/*
 * A successor that does not watch its signals yet would be ended by one, and take along what waits
 * in its queue: it finds a word when it does serve.
 */
static void stop_child(struct child *child, int signal_number)
{
    char word = WORKER_FINISH;
    bool is_graceful = signal_number == SIGTERM || signal_number == SIGQUIT;
    if (is_graceful && child->was_ready && !child->is_ready && child->control_fd >= 0)
        (void)!send(child->control_fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    else
        send_signal(child, signal_number);
}

void children_stop(struct children *children, int signal_number)
{
    const struct children_events *events = &children->options.events;
    children->is_stopping = true;
    for (unsigned i = 0; i < children->options.count; i++) {
        evix_timer_stop(&children->table[i].respawn);
        stop_child(&children->table[i], signal_number);
        liveness_expect_turn(&children->liveness, i);
    }
    if (children->running == 0)
        events->all_gone(events->data);
}

void children_reopen_logs(struct children *children)
{
    for (unsigned i = 0; i < children->options.count; i++) {
        struct child *child = &children->table[i];
        if (child->is_ready)
            send_signal(child, SIGUSR1);
        else
            child->wants_reopen = true;
    }
}

/* Counted in turns of the master's loop, so that a master that was stopped does not blame them. */
bool children_ask(struct children *children)
{
    bool are_alive = true;
    for (unsigned i = 0; i < children->options.count && !children->is_stopping; i++) {
        struct child *child = &children->table[i];
        if (child->pid == 0 || (child->is_ready && !child->is_asked))
            child->unheard = 0;
        else if (++child->unheard >= CHILDREN_PATIENCE) {
            log_event(LOG_LEVEL_ERROR, "worker %u (%ld) gives no sign of life: killed", i,
                      (long)child->pid);
            send_signal(child, SIGKILL);
            are_alive = false;
        }
        (void)!ask(child);
    }
    return are_alive;
}

void children_fini(struct children *children)
{
    assert(children->running == 0);
    for (unsigned i = 0; i < children->options.count; i++)
        evix_timer_stop(&children->table[i].respawn);
    if (children->options.count != 0)
        liveness_fini(&children->liveness);
    free(children->table);
    children->table = NULL;
    children->options.count = 0;
}
