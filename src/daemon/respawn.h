/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_DAEMON_RESPAWN_H
#define EVIXD_DAEMON_RESPAWN_H

#include <stdint.h>

#define RESPAWN_FIRST_MS   100   /* after a worker that had lived */
#define RESPAWN_LONGEST_MS 30000 /* between two tries, when every try fails */
#define RESPAWN_LIVED_MS   10000 /* a worker that reached this age had started well */

/*
 * How long to wait before a worker is started again. `lived_ms` is the age at which it died,
 * `previous_ms` what was waited before that life (0: its first). It doubles from RESPAWN_FIRST_MS
 * to RESPAWN_LONGEST_MS, and begins anew after a life that lasted.
 */
uint32_t respawn_delay_ms(uint32_t previous_ms, uint64_t lived_ms);

#endif
