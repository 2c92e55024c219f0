/* SPDX-License-Identifier: MIT */
#ifndef EVIX_TIMER_PRIVATE_H
#define EVIX_TIMER_PRIVATE_H

/* Timers, for the files of this room that start them without a repeat. */

#include "loop_private.h"

#define TIMER_NEVER_NS (UINT64_MAX - 1)

/* Starts it (anew), and leaves what shares memory with its repeat alone. */
void evix__timer_arm(struct evix_timer *timer, uint64_t timeout_ms);

#endif
