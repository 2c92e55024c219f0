/* SPDX-License-Identifier: MIT */
#ifndef EVIX_WORK_POOL_H
#define EVIX_WORK_POOL_H

/* The pool from inside; made at the first evix_work_start(), freed with the loop. */

#include "loop_private.h"

/*
 * Ends the loop's pool, if there is one: what is queued never runs, what runs is waited for, and no
 * `done` is called. Then nothing may be started any more. Called twice, it does nothing.
 */
void evix__work_pool_stop(struct evix_loop *loop);

#endif
