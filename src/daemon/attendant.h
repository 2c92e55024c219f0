/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_ATTENDANT_H
#define EVIXD_DAEMON_ATTENDANT_H

/*
 * A program of ours that is to outlive us, with a process between the two that waits for it. While
 * that one is there we learn how the program ended, as a parent does. Once it is dismissed, the
 * program is the child of whoever adopts orphans here: a service manager takes it for its own.
 */

#include <stdbool.h>
#include <sys/types.h>

struct attendant {
    pid_t program;
    bool has_ended; /* the program, before it was let go */
    pid_t pid;      /* private: of the process between; 0: it is gone, or never was */
    int stream_fd;  /* private: by which it tells what it sees; -1: closed */
};

void attendant_init(struct attendant *attendant);

/*
 * Starts a process that becomes the program in `become`, which does not return; all signals are
 * blocked there. 0, or a negative errno: then there is none.
 */
int attendant_start(struct attendant *attendant, void (*become)(const void *data),
                    const void *data);

/* The program is let go; attendant_note_end() tells when it is nobody's child any more. */
void attendant_dismiss(const struct attendant *attendant);

/*
 * Takes note of the end of a process; false if it is not the attendant. Where the program has ended
 * before it was let go, `status` becomes the program's; else somebody has killed the attendant.
 */
bool attendant_note_end(struct attendant *attendant, pid_t pid, int *status);

void attendant_fini(struct attendant *attendant);

#endif
