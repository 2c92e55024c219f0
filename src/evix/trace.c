/* SPDX-License-Identifier: MIT */
/*
 * Names the callback that held the loop, and hands lines of report to whoever wants them.
 * Decides nothing, and never writes anywhere by itself.
 * Called through TRACE_CALL by whatever runs callbacks, and by the files that report.
 */
#include "loop_private.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REPORT_BYTES = 256, NAME_BYTES = 160 };

static const char *const kind_names[] = {
    [HANDLE_INTERNAL] = "the loop",
    [HANDLE_TIMER] = "a timer",
    [HANDLE_POST] = "a post",
    [HANDLE_IO] = "a watcher",
    [HANDLE_SIGNAL] = "a signal",
    [HANDLE_ASYNC] = "a wake-up",
    [HANDLE_HOOK] = "a hook",
    [HANDLE_WORK] = "work that is done",
    [HANDLE_SOCKET] = "a closed socket",
    [HANDLE_OPERATION] = "an operation",
};

void evix__trace_report(const struct trace *trace, const char *format, ...)
{
    if (!trace->report)
        return;
    char text[REPORT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    trace->report(trace->report_data, text);
}

/*
 * A static function has no name at run time: then the object and the offset in it, which is what
 * addr2line(1) asks for.
 */
static void name_callback(char *out, size_t size, void *callback)
{
    Dl_info info;
    if (!dladdr(callback, &info) || !info.dli_fname) {
        snprintf(out, size, "%p", callback);
        return;
    }
    if (info.dli_sname && info.dli_saddr == callback) {
        snprintf(out, size, "%s", info.dli_sname);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(out, size, "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
             (size_t)((char *)callback - (char *)info.dli_fbase));
}

void evix__trace_begin(struct evix_loop *loop)
{
    loop->trace.began_ns = evix__clock_now_ns();
}

void evix__trace_end(struct evix_loop *loop, enum handle_kind kind, void *callback)
{
    uint64_t held_ns = evix__clock_now_ns() - loop->trace.began_ns;
    if (held_ns <= loop->trace.slow_ns)
        return;
    loop->counters.slow_callbacks++;
    if (!loop->trace.report)
        return;
    char name[NAME_BYTES];
    name_callback(name, sizeof(name), callback);
    evix__trace_report(&loop->trace, "callback %s of %s held the loop for %.3f ms", name,
                       kind_names[kind], (double)held_ns / 1e6);
}
