/* SPDX-License-Identifier: MIT */
/*
 * Undoes what a parent has said of signals.
 * It watches none (master.c and the server do), and leaves the mask alone.
 * main.c calls it.
 */

#include "daemon/signals.h"

#include <signal.h>
#include <stddef.h>

/* PIPE is not among them: who prints has it as it came, and who serves ignores it. */
static const int heeded[] = {SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};

void signals_reset(void)
{
    for (size_t i = 0; i < sizeof(heeded) / sizeof(*heeded); i++)
        signal(heeded[i], SIG_DFL);
}
