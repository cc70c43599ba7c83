/* SPDX-License-Identifier: Apache-2.0 */
/* Discretised herding [M32]: a variable keeps a weight for each of B intervals of its conditional
 * probability (Yamashita & Suzuki 2019, 4.1). With B = 1 the variable keeps one weight. This file
 * computes the initial weights, which binned_lanes.c updates. */
#include "draw/binned.h"

#include "base/memory.h"

static uint64_t binary_slots(const gbsi_plan *plan)
{
    uint64_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        n += gbsi_plan_arity(plan, slot) == 2;
    }
    return n;
}

/* Number of weights of a variable of two states: one for each bin or, if p is rounded at random,
 * one for each edge between bins. */
static uint32_t n_weights(const gbsi_herding *how)
{
    return how->n_bins + (how->rounded ? 1 : 0);
}

gbs_status gbsi_binned_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err)
{
    (void)err;
    const gbsi_herding how = gbsi_herding_of(job->options, job->traits, job->plan->n_sampled);
    const uint64_t lanes = (uint64_t)job->lanes * job->n_groups;
    const uint64_t dense = binary_slots(job->plan) * n_weights(&how) * lanes * (how.post ? 4 : 8) +
                           job->plan->n_slots * (sizeof(size_t) + 8);
    const uint64_t left = job->room > dense ? job->room - dense : 0;
    const uint64_t grown = gbsi_binned_categorical_bytes(job);
    *n = dense + (grown < left ? grown : left);
    return GBS_OK;
}

/* Middle of a bin in units of 2^-32, rounded to nearest. */
static uint32_t middle_of(uint32_t bin, uint32_t n_bins)
{
    return (uint32_t)((((uint64_t)2 * bin + 1) * (UINT64_C(1) << 32) / n_bins + 1) / 2);
}

/* Edge b / B of a bin in units of 2^-32, rounded to nearest. 2^32 becomes 0, because no weight is
 * read at the edges 0 and 1. */
static uint32_t edge_of(uint32_t edge, uint32_t n_bins)
{
    return (uint32_t)(((uint64_t)edge * (UINT64_C(1) << 32) + n_bins / 2) / n_bins);
}

static void start_slot(gbsi_herd *herd, uint32_t slot, uint32_t g)
{
    const size_t lanes = herd->lanes;
    uint32_t phase[GBSI_LANES];
    for (uint32_t bin = 0; bin < n_weights(&herd->how); ++bin) {
        const uint32_t middle =
            herd->how.rounded ? edge_of(bin, herd->how.n_bins) : middle_of(bin, herd->how.n_bins);
        const size_t at = (herd->cell[slot] + bin) * lanes;
        gbsi_herd_start_phases(herd, slot, g, bin, middle, phase);
        for (size_t lane = 0; lane < lanes; ++lane) {
            if (herd->group[g].phase != NULL) {
                herd->group[g].phase[at + lane] = phase[lane];
            } else { /* w = p - v */
                herd->group[g].balance[at + lane] =
                    (int64_t)middle - (int64_t)(UINT32_MAX - phase[lane]);
            }
        }
    }
}

gbs_status gbsi_binned_init(const gbsi_draw_job *job, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_herd *herd = NULL;
    const gbsi_plan *plan = job->plan;
    GBSI_TRY(gbsi_herd_new(job, &herd, err));
    GBSI_TRY(gbsi_binned_check(plan, &herd->how, err));
    herd->cell = gbsi_alloc_array_zero(plan->n_slots, sizeof *herd->cell);
    GBSI_TRY(GBSI_HAVE(err, "herding weights", herd->cell));
    size_t n_cells = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const bool two = gbsi_plan_arity(plan, slot) == 2;
        herd->cell[slot] = two ? n_cells : herd->n_tables;
        n_cells += two ? n_weights(&herd->how) : 0;
        herd->n_tables += two ? 0 : 1;
    }
    const bool phases = herd->how.post || herd->how.rounded;
    herd->n_phases = phases ? n_cells : 0;
    herd->n_balances = phases ? 0 : n_cells;
    GBSI_TRY(gbsi_herd_take(herd, err));
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
            if (gbsi_plan_arity(plan, slot) == 2) {
                start_slot(herd, slot, g);
            }
        }
    }
    *state = herd;
    herd = NULL;
cleanup:
    gbsi_herd_free(herd);
    return status;
}
