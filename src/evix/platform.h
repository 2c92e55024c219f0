/* SPDX-License-Identifier: MIT */
#ifndef EVIX_PLATFORM_H
#define EVIX_PLATFORM_H

/* The few system calls that differ between systems. As the calls do: -1 and errno. */

#include "loop_private.h"

#include <sys/socket.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS: see evix__platform_quiet_socket() */
#endif
#ifndef MSG_MORE
#define MSG_MORE 0
#endif

/* accept(2) of a descriptor that does not block and is not inherited. */
int evix__platform_accept(int fd);

/* How many connections wait to be accepted, or -1 where that is not told. */
int evix__platform_backlog(int fd);

/* sendfile(2): up to `bytes` from `offset` of a file to a socket; 0 at the end of the file. */
ssize_t evix__platform_send_file(int socket, int file, int64_t offset, size_t bytes);

/* Where MSG_NOSIGNAL is missing: writing to a closed connection must not raise SIGPIPE. */
void evix__platform_quiet_socket(int fd);

/* A pipe of which neither end blocks or is inherited. */
int evix__platform_pipe(int fds[2]);

#endif
