/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_ANNOUNCE_H
#define EVIXD_DAEMON_ANNOUNCE_H

#include "daemon/sockets.h"

/* "Serving DIRECTORY on http://127.0.0.1:8080/", a line for each listener, for whoever ran us. */
void announce_on_stdout(const struct sockets *sockets, const char *directory);

/* "listening on http://127.0.0.1:8080/", at level notice, for those that are not known yet. */
void announce_in_log(const struct sockets *sockets);

#endif
