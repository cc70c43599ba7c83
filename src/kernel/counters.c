/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the true literals of long logical factors and spin products, kept up to date [M5]: an
 * update then costs O(1) for each factor, whatever its length. */
#include <string.h>

#include "plan/kernel.h"

void gbsi_counters_init(const gbsi_plan *plan, uint32_t lanes, gbsi_group *group)
{
    memset(group->counter, 0, (size_t)plan->n_counters * lanes * sizeof *group->counter);
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        for (size_t i = plan->counter_start[slot]; i < plan->counter_start[slot + 1]; ++i) {
            const gbsi_counter_link *link = &plan->counter_link[i];
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                group->counter[(size_t)link->counter * lanes + lane] +=
                    gbsi_state_at(group->state, (size_t)slot * lanes + lane, plan->value_bytes) ==
                    link->literal;
            }
        }
    }
}

void gbsi_counters_commit(const gbsi_plan *plan, gbsi_group *group, const gbsi_tile *tile)
{
    const uint32_t lanes = tile->lanes;
    for (uint32_t place = 0; place < tile->n_places; ++place) {
        const uint32_t slot = gbsi_tile_slot(tile, place);
        for (size_t i = plan->counter_start[slot]; i < plan->counter_start[slot + 1]; ++i) {
            const gbsi_counter_link *link = &plan->counter_link[i];
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                uint32_t before =
                    gbsi_state_at(group->state, (size_t)slot * lanes + lane, plan->value_bytes);
                uint32_t after =
                    gbsi_state_at(tile->value, (size_t)place * lanes + lane, plan->value_bytes);
                uint32_t *count = &group->counter[(size_t)link->counter * lanes + lane];
                *count += (after == link->literal);
                *count -= (before == link->literal);
            }
        }
    }
}
