/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_SITE_CHECK_H
#define EVIXD_DAEMON_SITE_CHECK_H

#include "daemon/privileges.h"

/*
 * Looks for what workers will want to read, as the user that they run as, in a process of its own,
 * and logs a warning for what is amiss: files of users and lines in them that are left out, error
 * pages, fallbacks, roots, media types. None of that is an error: it may come later.
 */
void site_check(const struct config *config, const struct privileges *privileges);

#endif
