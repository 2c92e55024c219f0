/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_PID_FILE_H
#define EVIXD_DAEMON_PID_FILE_H

#include <sys/types.h>

/* Writes our process id to a file, which at no time is seen half-written. 0 or a negative errno. */
__attribute__((warn_unused_result)) int pid_file_write(const char *path);

/* Removes the file if the id of this process stands in it, and not somebody else's by now. */
void pid_file_remove(const char *path, pid_t pid);

#endif
