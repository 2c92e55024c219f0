/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SIGNALS_H
#define EVIXD_DAEMON_SIGNALS_H

/* The dispositions that a process starts with, which are its parent's where that one ignored. */

/*
 * Gives every signal that the master heeds its default effect. A shell that starts a program in
 * the background has INT and QUIT ignored, nohup(1) has HUP ignored, and others CHLD or TERM.
 * Called before anything watches or forks: watchers put back what was there before them, in a new
 * worker too, and the kernel drops a signal that waits there when it comes to be ignored.
 */
void signals_reset(void);

#endif
