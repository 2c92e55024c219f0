/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_PID_FILE_H
#define EVIXD_DAEMON_PID_FILE_H

/* Writes our process id to a file, which at no time is seen half-written. 0 or a negative errno. */
__attribute__((warn_unused_result)) int pid_file_write(const char *path);

/* Removes the file, unless somebody else's id stands in it by now. */
void pid_file_remove(const char *path);

#endif
