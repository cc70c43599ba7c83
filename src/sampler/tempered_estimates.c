/* SPDX-License-Identifier: Apache-2.0 */
/* What a tempered run counts: cold states that violate no hard zero, and the conditional
 * probabilities of variables that were summed out. */
#include <math.h>
#include <string.h>

#include "sampler/tempered_inside.h"

enum { LANES = GBSI_COLLAPSE_LANES };

/* ---- counting -------------------------------------------------------------------------------- */

static bool violates(const gbsi_tempered *t, const uint32_t *x)
{
    for (size_t i = 0; i < t->n_hard; ++i) {
        if (gbsi_factor_value(&t->core->factors, t->core->arity, t->hard[i], x) == -INFINITY) {
            return true;
        }
    }
    return false;
}

/* The state of the core in t->one, at the part's variables. */
static void spread(gbsi_tempered *t, uint32_t lane)
{
    for (uint32_t v = 0; v < t->part->n_variables; ++v) {
        const uint32_t c = t->collapse->core_variable[v];
        if (c != GBSI_NONE) {
            t->state[(size_t)v * LANES + lane] = t->one[c];
        }
    }
}

/* What was redrawn at the cold level: lane i of ladder i mod n_ladders.
 * @param weight [LANES] out: 1 for a state that counts. */
static void take_redrawn(gbsi_tempered *t, double *weight)
{
    for (uint32_t i = 0; i < LANES; ++i) {
        for (uint32_t c = 0; c < t->core->n_variables; ++c) {
            t->one[c] = t->blocks.redrawn[(size_t)c * LANES + i];
        }
        weight[i] = violates(t, t->one) ? 0.0 : 1.0;
        spread(t, i);
    }
}

/* Cold states of ladders [first, first + n) at the part's variables; cold lanes come first.
 * @param weight [LANES] out: 1 for a state that counts. */
static void take_states(gbsi_tempered *t, uint32_t first, uint32_t n, double *weight)
{
    for (uint32_t i = 0; i < LANES; ++i) {
        gbsi_executor_get(&t->executor, first + (i < n ? i : 0), t->one);
        weight[i] = i < n && !violates(t, t->one) ? 1.0 : 0.0;
        spread(t, i);
    }
}

/* p(v | n) of variables that were summed out, and states of them. */
static void recover(gbsi_tempered *t, uint32_t first, const double *weight)
{
    const gbsi_collapse *c = t->collapse;
    for (uint32_t i = 0; i < c->n_eliminated; ++i) {
        const uint32_t v = c->variable[i];
        memset(t->p + t->part->state_offset[v] * LANES, 0,
               (size_t)t->part->arity[v] * LANES * sizeof *t->p);
    }
    const gbsi_recovery recovery = {.level = gbsi_simd_level(),
                                    .seed = t->options.seed,
                                    .pass = t->iteration,
                                    .chain = first,
                                    .weight = weight,
                                    .x = t->state,
                                    .p = t->p,
                                    .word = t->word};
    gbsi_collapse_recover(c, &recovery);
}

/* One of the ladders into the means. @param lane of its state. */
static void add_state(gbsi_tempered *t, uint32_t ladder, uint32_t lane)
{
    const gbsi_conditioned *part = t->part;
    uint64_t *sum = gbsi_means_row(t->means, ladder);
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        const size_t at = part->state_offset[v];
        if (t->collapse->core_variable[v] != GBSI_NONE) {
            sum[at + t->state[(size_t)v * LANES + lane]] += GBSI_MEANS_ONE;
            continue;
        }
        for (uint32_t a = 0; a < part->arity[v]; ++a) {
            sum[at + a] += (uint64_t)(t->p[(at + a) * LANES + lane] * (double)GBSI_MEANS_ONE + 0.5);
        }
    }
}

/* Sixteen states into the means: state i of ladder first + i mod n. */
static void add_states(gbsi_tempered *t, uint32_t first, uint32_t n, uint32_t n_states,
                       const double *weight)
{
    if (t->means != NULL && t->collapse->n_eliminated > 0) {
        recover(t, first, weight);
    }
    for (uint32_t i = 0; i < n_states; ++i) {
        const uint32_t ladder = first + i % n;
        if (weight[i] > 0.0) {
            ++t->counted[ladder];
            ++t->n_valid;
            if (t->means != NULL) {
                add_state(t, ladder, i);
            }
        }
    }
    t->n_cold += n_states;
}

void gbsi_tempered_count(gbsi_tempered *t)
{
    const uint32_t n_ladders = t->exchange->n_ladders;
    double weight[LANES];
    memset(t->counted, 0, n_ladders * sizeof *t->counted);
    if (t->means != NULL && t->blocks.used) {
        take_redrawn(t, weight);
        add_states(t, 0, n_ladders, LANES, weight);
        return;
    }
    for (uint32_t first = 0; first < n_ladders; first += LANES) {
        const uint32_t n = n_ladders - first < LANES ? n_ladders - first : LANES;
        take_states(t, first, n, weight);
        add_states(t, first, n, n, weight);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

bool gbsi_tempered_has_draws(const gbsi_tempered *t)
{
    return t->means != NULL && gbsi_means_share(t->means) > 0.0;
}

void gbsi_tempered_marginal(const gbsi_tempered *t, uint32_t variable, double *p, double *mcse,
                            double *ess, double *rhat)
{
    for (uint32_t a = 0; a < t->part->arity[variable]; ++a) {
        const gbsi_mean mean = gbsi_means_cell(t->means, t->part->state_offset[variable] + a);
        p[a] = mean.p;
        mcse[a] = mean.mcse;
        ess[a] = mean.mcse > 0.0 ? mean.p * (1.0 - mean.p) / (mean.mcse * mean.mcse) : NAN;
        rhat[a] = mean.rhat;
    }
}

void gbsi_tempered_report(const gbsi_tempered *t, gbs_run *run)
{
    gbs_report *r = &run->report.public;
    const size_t n_cells = t->part->state_offset[t->part->n_variables];
    r->max_mcse = r->max_rhat = r->min_ess = NAN;
    for (size_t c = 0; c < n_cells; ++c) {
        const gbsi_mean mean = gbsi_means_cell(t->means, c);
        const double ess =
            mean.mcse > 0.0 ? mean.p * (1.0 - mean.p) / (mean.mcse * mean.mcse) : NAN;
        r->max_mcse = mean.mcse <= r->max_mcse ? r->max_mcse : mean.mcse;
        r->max_rhat = mean.rhat <= r->max_rhat || isnan(mean.rhat) ? r->max_rhat : mean.rhat;
        r->min_ess = ess >= r->min_ess || isnan(ess) ? r->min_ess : ess;
    }
    r->n_constant = 0;
    r->round_trips = gbsi_means_least_trips(t->means);
    r->valid_share = gbsi_means_share(t->means);
    r->temperatures = t->exchange->n_levels;
    r->block_variables = gbsi_tempered_block_variables(t);
    r->hottest = t->exchange->beta[0];
    r->barrier = gbsi_exchange_barrier(t->exchange, 0, t->exchange->n_levels - 1);
}
