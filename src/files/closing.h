/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_CLOSING_H
#define EVIXD_FILES_CLOSING_H

#include <evix/loop.h>

/*
 * Closes a descriptor in the work pool: close(2) of a file on a network's file system, or one in
 * user space, tells the other side and waits for it to answer.
 */
void closing_start(struct evix_loop *loop, int fd);

#endif
