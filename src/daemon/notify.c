/* SPDX-License-Identifier: MIT */
/*
 * Sends messages to the service manager.
 * It does not decide when: master.c and service.c do.
 * They call it.
 */

#include "daemon/notify.h"

#ifdef HAVE_LIBSYSTEMD

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

/* A manager that cannot be told will find out by itself; there is nothing better to do. */
static void send_state(const char *state)
{
    (void)sd_notify(false, state);
}

bool notify_is_wanted(void)
{
    return getenv("NOTIFY_SOCKET") != NULL;
}

void notify_ready(void)
{
    send_state("READY=1");
}

/* With the time, by which Type=notify-reload knows that this is the answer to its signal. */
void notify_reloading(void)
{
    char state[64];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_us);
    send_state(state);
}

void notify_stopping(void)
{
    send_state("STOPPING=1");
}

void notify_status(const char *text)
{
    char state[512];
    snprintf(state, sizeof(state), "STATUS=%s", text);
    send_state(state);
}

void notify_main_pid(pid_t pid)
{
    char state[32];
    snprintf(state, sizeof(state), "MAINPID=%ld", (long)pid);
    send_state(state);
}

void notify_alive(void)
{
    send_state("WATCHDOG=1");
}

uint64_t notify_watchdog_ms(void)
{
    uint64_t interval_us;
    return sd_watchdog_enabled(false, &interval_us) > 0 ? interval_us / 1000 : 0;
}

void notify_before_exec(void)
{
    char pid[24];
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    if (getenv("WATCHDOG_PID") != NULL)
        setenv("WATCHDOG_PID", pid,
               true); /* without memory the new one gives no signs: restarted */
}

#else

bool notify_is_wanted(void)
{
    return false;
}

void notify_ready(void)
{
}

void notify_reloading(void)
{
}

void notify_stopping(void)
{
}

void notify_status(const char *text)
{
    (void)text;
}

void notify_main_pid(pid_t pid)
{
    (void)pid;
}

void notify_alive(void)
{
}

uint64_t notify_watchdog_ms(void)
{
    return 0;
}

void notify_before_exec(void)
{
}

#endif
