/* SPDX-License-Identifier: MIT */
/*
 * Decides how soon a worker that died is started again.
 * It starts nothing and keeps no time.
 * children.c calls it.
 */

#include "daemon/respawn.h"

uint32_t respawn_delay_ms(uint32_t previous_ms, uint64_t lived_ms)
{
    if (lived_ms >= RESPAWN_LIVED_MS || previous_ms < RESPAWN_FIRST_MS)
        return RESPAWN_FIRST_MS;
    if (previous_ms >= RESPAWN_LONGEST_MS / 2)
        return RESPAWN_LONGEST_MS;
    return previous_ms * 2;
}
