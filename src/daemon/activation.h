/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_ACTIVATION_H
#define EVIXD_DAEMON_ACTIVATION_H

/*
 * Listening sockets that a service manager opened for us, as in sd_listen_fds(3). They stay open
 * there when we are gone: whoever connects in the meantime waits for the next evixd. All workers
 * share each of them.
 */

#include "config/config.h"

struct activated {
    int fd;
    char *name; /* FileDescriptorName= of the socket unit */
    struct sockaddr_storage address;
    socklen_t length;
};

struct activation {
    struct activated *table; /* private */
    size_t count;
};

/*
 * Takes over what the environment names, and takes it out of the environment. What cannot be
 * served is closed, with a warning. 0 or a negative errno, logged.
 */
CONFIG_MUST_CHECK int activation_take(struct activation *activation);

/*
 * The socket for a listener of the configuration, or NULL. One with a `name` gets that of this
 * name; the second listener with it the second one, and so on. Else the addresses decide, where a
 * listener on every address is content with every IPv4 address.
 */
const struct activated *activation_find(const struct activation *activation,
                                        const struct config *config, size_t listener);

/* Its address, as the configuration writes it. */
void activation_describe(const struct activated *socket, char *out, size_t size);

/* Warns of those that no listener gets: clients would wait there for ever. */
void activation_warn_of_unused(const struct activation *activation, const struct config *config);

/*
 * In a process that is about to execute the next program: leaves them to it as the manager did, so
 * that a later configuration of its finds them.
 */
void activation_before_exec(const struct activation *activation);

/* Closes our descriptors. */
void activation_fini(struct activation *activation);

#endif
