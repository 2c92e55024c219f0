/* SPDX-License-Identifier: MIT */
#ifndef EVIX_SIGNAL_H
#define EVIX_SIGNAL_H

/*
 * Signals as events, by a self-pipe: the handler writes one byte and does nothing else. Any number
 * of watchers, in any number of loops, may watch a signal. A storm of one signal may be delivered
 * as a single callback, as signals are; no kind of signal is ever lost.
 */

#include <evix/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct evix_signal;
typedef void evix_signal_fn(struct evix_signal *signal, int number);

/* Embedded and owned by the caller; its memory is the caller's whenever it is stopped. */
struct evix_signal {
    struct evix_handle handle;
    evix_signal_fn *fn;
    int number;
    struct evix_link link; /* private */
};

EVIX_EXPORT void evix_signal_init(struct evix_signal *signal, struct evix_loop *loop,
                                  evix_signal_fn *fn);

/* Watches a signal (signal(7)). Errors: -EINVAL (SIGKILL, SIGSTOP, no such signal), -EMFILE. */
EVIX_EXPORT EVIX_MUST_CHECK int evix_signal_start(struct evix_signal *signal, int number);

/* Stops it. With the last watcher of a signal its former disposition comes back. */
EVIX_EXPORT void evix_signal_stop(struct evix_signal *signal);

/*
 * In a child process after fork(2): forgets every watcher and loop of the parent, closes the pipes
 * and restores the dispositions, so that the child can use its own. The kernel drops a signal that
 * is blocked and pending when its disposition becomes "ignored", and a process may have been
 * started with signals ignored (by nohup(1), or a shell's `&`): one whose children take orders by
 * signals sets the dispositions of these to SIG_DFL before it watches them.
 */
EVIX_EXPORT void evix_signal_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif
