/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of long factors, which are updated with every change of a variable [M5]. A logical
 * factor or spin product counts its true literals, and a noisy factor adds up its costs. An update
 * of a variable then takes O(1) for each factor, of any length. */
#include <math.h>
#include <string.h>

#include "plan/kernel.h"
#include "store/factors.h"

double gbsi_noisy_sum_log(const gbsi_noisy_sum *noisy, int64_t sum, gbsi_noisy_part part)
{
    const double log_none = sum < noisy->never ? -(double)sum * noisy->unit : -INFINITY;
    return gbsi_noisy_value(log_none, part);
}

static gbsi_noisy_part part_of(const gbsi_noisy_sum *noisy, uint32_t state)
{
    return gbsi_noisy_part_of(noisy->effect, noisy->falling, state);
}

double gbsi_noisy_term_log(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                           uint32_t slot, uint32_t lanes, uint32_t lane, uint32_t a)
{
    const gbsi_noisy_sum *noisy = &plan->noisy[term->counter];
    const int64_t sum = gbsi_noisy_sum_at(group, noisy, lanes, lane);
    if (!term->own_body) {
        return gbsi_noisy_sum_log(noisy, sum, part_of(noisy, a));
    }
    const int64_t *cost = plan->cost + term->base;
    const uint32_t own =
        gbsi_state_at(group->state, (size_t)slot * lanes + lane, plan->value_bytes);
    gbsi_noisy_part part = GBSI_NOISY_EFFECT;
    if (term->head) {
        const size_t child = (size_t)plan->link[term->first].slot * lanes + lane;
        part = part_of(noisy, gbsi_state_at(group->state, child, plan->value_bytes));
    }
    return gbsi_noisy_sum_log(noisy, sum - cost[own] + cost[a], part);
}

static void add_cost(const gbsi_noisy_sum *noisy, uint32_t lanes, uint32_t lane, int64_t cost,
                     gbsi_group *group)
{
    uint32_t *low = group->counter + (size_t)noisy->counter * lanes + lane;
    const uint64_t sum = (uint64_t)gbsi_noisy_sum_at(group, noisy, lanes, lane) + (uint64_t)cost;
    low[0] = (uint32_t)sum;
    low[lanes] = (uint32_t)(sum >> 32);
}

static void init_sums(const gbsi_plan *plan, uint32_t lanes, gbsi_group *group)
{
    for (uint32_t i = 0; i < plan->n_noisy; ++i) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            add_cost(&plan->noisy[i], lanes, lane, plan->noisy[i].leak, group);
        }
    }
    for (uint32_t slot = 0; plan->n_noisy > 0 && slot < plan->n_slots; ++slot) {
        for (size_t i = plan->cost_start[slot]; i < plan->cost_start[slot + 1]; ++i) {
            const gbsi_cost_link *link = &plan->cost_link[i];
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                const uint32_t x =
                    gbsi_state_at(group->state, (size_t)slot * lanes + lane, plan->value_bytes);
                add_cost(&plan->noisy[link->noisy], lanes, lane, plan->cost[link->base + x], group);
            }
        }
    }
}

void gbsi_counters_init(const gbsi_plan *plan, uint32_t lanes, gbsi_group *group)
{
    memset(group->counter, 0, (size_t)plan->n_counters * lanes * sizeof *group->counter);
    init_sums(plan, lanes, group);
    for (uint32_t slot = 0; plan->counter_start != NULL && slot < plan->n_slots; ++slot) {
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

static void commit_sums(const gbsi_plan *plan, gbsi_group *group, const gbsi_tile *tile)
{
    const uint32_t lanes = tile->lanes;
    for (uint32_t place = 0; place < tile->n_places; ++place) {
        const uint32_t slot = gbsi_tile_slot(tile, place);
        for (size_t i = plan->cost_start[slot]; i < plan->cost_start[slot + 1]; ++i) {
            const gbsi_cost_link *link = &plan->cost_link[i];
            const int64_t *cost = plan->cost + link->base;
            for (uint32_t lane = 0; lane < lanes; ++lane) {
                const uint32_t before =
                    gbsi_state_at(group->state, (size_t)slot * lanes + lane, plan->value_bytes);
                const uint32_t after =
                    gbsi_state_at(tile->value, (size_t)place * lanes + lane, plan->value_bytes);
                if (after != before) {
                    add_cost(&plan->noisy[link->noisy], lanes, lane, cost[after] - cost[before],
                             group);
                }
            }
        }
    }
}

void gbsi_counters_commit(const gbsi_plan *plan, gbsi_group *group, const gbsi_tile *tile)
{
    const uint32_t lanes = tile->lanes;
    if (plan->n_noisy > 0) {
        commit_sums(plan, group, tile);
    }
    for (uint32_t place = 0; plan->counter_start != NULL && place < tile->n_places; ++place) {
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
