/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_NOTIFY_H
#define EVIXD_DAEMON_NOTIFY_H

/*
 * What the service manager is told, in the words of sd_notify(3). Nothing is sent where nobody
 * listens (NOTIFY_SOCKET is not set), or where libsystemd is not built in. Only the main process
 * is heard: workers send nothing.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether anybody listens. */
bool notify_is_wanted(void);

/* Serving, for the first time or after a reload. */
void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);

/* One line for people. */
void notify_status(const char *text);

/* Another process is the main one from now on: to be told by the one that was. */
void notify_main_pid(pid_t pid);

/* A sign of life; the manager ends a service that gives none for notify_watchdog_ms(). */
void notify_alive(void);

/* 0: none is expected. */
uint64_t notify_watchdog_ms(void);

/* In a process that is about to execute what will be the main one: signs of life are its task. */
void notify_before_exec(void);

#endif
