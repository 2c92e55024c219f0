/* SPDX-License-Identifier: MIT */
#ifndef EVIX_TRACE_H
#define EVIX_TRACE_H

/* Diagnosis: callbacks that hold the loop, and lines of report. Included by loop_private.h. */

#include <evix/loop.h>

/* What a callback belongs to; the kind of a handle, or an operation. */
enum handle_kind {
    HANDLE_INTERNAL, /* the loop's own: neither traced nor counted */
    HANDLE_TIMER,
    HANDLE_POST,
    HANDLE_IO,
    HANDLE_SIGNAL,
    HANDLE_ASYNC,
    HANDLE_HOOK,
    HANDLE_WORK,
    HANDLE_SOCKET, /* and its `closed` callback */
    HANDLE_OPERATION,
};

struct trace {
    uint64_t slow_ns; /* 0: nothing is measured */
    uint64_t began_ns;
    evix_report_fn *report;
    void *report_data;
};

/* Gives a formatted line to the report callback, if there is one. Cut at 255 bytes. */
void evix__trace_report(const struct trace *trace, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void evix__trace_begin(struct evix_loop *loop);
void evix__trace_end(struct evix_loop *loop, enum handle_kind kind, void *callback);

/*
 * Runs a callback; every callback is run through this. Without a threshold it costs a counter and
 * two branches that are always predicted. What the callback is called with may be freed by it.
 */
#define TRACE_CALL(the_loop, kind, fn, ...)                                                        \
    do {                                                                                           \
        __typeof__(fn) trace_fn = (fn);                                                            \
        (the_loop)->counters.callbacks++;                                                          \
        if (__builtin_expect((the_loop)->trace.slow_ns != 0, 0)) {                                 \
            evix__trace_begin(the_loop);                                                           \
            trace_fn(__VA_ARGS__);                                                                 \
            evix__trace_end(the_loop, (kind), (void *)trace_fn);                                   \
        } else {                                                                                   \
            trace_fn(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

#endif
