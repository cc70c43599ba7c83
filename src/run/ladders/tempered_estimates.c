/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a tempered run: the cold states that violate no hard zero, and the conditional
 * probabilities of variables that were summed out. */
#include <math.h>
#include <string.h>

#include "condition/soften.h"
#include "estimate/estimate.h"
#include "ladders/tempered_inside.h"
#include "simd/math.h"

enum { LANES = GBSI_COLLAPSE_LANES };

gbs_status gbsi_tempered_take_means(gbsi_tempered *t, gbs_error *err)
{
    const gbsi_exchange *e = t->exchange;
    if (t->ratios != NULL) {
        GBSI_PASS(gbsi_ratios_fix(t->ratios, e, err));
        return gbsi_means_new(e->n_ladders, gbsi_ratios_cells(e), &t->means, err);
    }
    GBSI_PASS(
        gbsi_means_new(e->n_ladders, t->part->state_offset[t->part->n_variables], &t->means, err));
    t->means->n_draws = t->blocks.used ? GBSI_BLOCK_LANES : e->n_ladders;
    return GBS_OK;
}

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

/* Copies the state t->one of the core to the corresponding variables of the part. */
static void spread(gbsi_tempered *t, uint32_t lane)
{
    for (uint32_t v = 0; v < t->part->n_variables; ++v) {
        const uint32_t c = t->collapse->core_variable[v];
        if (c != GBSI_NONE) {
            t->state[(size_t)v * LANES + lane] = t->one[c];
        }
    }
}

/* Copies the states that were redrawn at the cold level. Lane i holds a state of ladder i mod
 * n_ladders.
 * @param weight [LANES] out: 1 if the state is included in the means, else 0. */
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

/* Copies the cold states of ladders [first, first + n) to the variables of the part; lanes of the
 * cold level come first. @param weight [LANES] out: 1 if the state is included in the means, else
 * 0. */
static void take_states(gbsi_tempered *t, uint32_t first, uint32_t n, double *weight)
{
    for (uint32_t i = 0; i < LANES; ++i) {
        gbsi_executor_get(&t->executor, first + (i < n ? i : 0), t->one);
        weight[i] = i < n && !violates(t, t->one) ? 1.0 : 0.0;
        spread(t, i);
    }
}

/* Draws the states of variables that were summed out. @param p NULL, or room for p(v | n) as in
 * gbsi_recovery. */
static void recover(gbsi_tempered *t, uint64_t iteration, uint32_t first, const double *weight,
                    double *p)
{
    const gbsi_collapse *c = t->collapse;
    for (uint32_t i = 0; p != NULL && i < c->n_eliminated; ++i) {
        const uint32_t v = c->variable[i];
        memset(p + t->part->state_offset[v] * LANES, 0,
               (size_t)t->part->arity[v] * LANES * sizeof *p);
    }
    const gbsi_recovery recovery = {.level = gbsi_simd_level(),
                                    .seed = t->options.seed,
                                    .pass = iteration,
                                    .chain = first,
                                    .weight = weight,
                                    .x = t->state,
                                    .p = p,
                                    .word = t->word};
    gbsi_collapse_recover(c, &recovery);
}

/* Adds the state of one ladder to the means. @param lane lane that holds the state. */
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

/* Adds sixteen states to the means; state i is of ladder first + i mod n. */
static void add_states(gbsi_tempered *t, uint32_t first, uint32_t n, uint32_t n_states,
                       const double *weight)
{
    if (t->means != NULL && t->collapse->n_eliminated > 0) {
        recover(t, t->iteration, first, weight, t->p);
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

/* Adds an iteration of all ladders to the means, for runs that estimate only ln Z. The states of
 * all ladders are included, valid or not. One of these means is the share of cold states that
 * violate a hard zero. */
static void count_ratios(gbsi_tempered *t)
{
    for (uint32_t ladder = 0; ladder < t->exchange->n_ladders; ++ladder) {
        gbsi_executor_get(&t->executor, ladder, t->one);
        gbsi_ratios_add(t->ratios, t->exchange, ladder, t->density, !violates(t, t->one), t->means);
        t->counted[ladder] = 1;
    }
}

void gbsi_tempered_count(gbsi_tempered *t)
{
    const uint32_t n_ladders = t->exchange->n_ladders;
    double weight[LANES];
    memset(t->counted, 0, n_ladders * sizeof *t->counted);
    if (t->means != NULL && t->ratios != NULL) {
        count_ratios(t);
        return;
    }
    if (gbsi_tempered_redraws(t)) {
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

/* ---- draws ----------------------------------------------------------------------------------- */

static bool one_violates(gbsi_tempered *t)
{
    bool found = false;
    for (uint32_t ladder = 0; ladder < t->exchange->n_ladders && !found; ++ladder) {
        gbsi_executor_get(&t->executor, ladder, t->one);
        found = violates(t, t->one);
    }
    return found;
}

bool gbsi_tempered_has_cold(gbsi_tempered *t)
{
    return !one_violates(t);
}

double gbsi_tempered_draw(gbsi_tempered *t, uint32_t ladder)
{
    const uint32_t lane = ladder % LANES;
    double weight[LANES];
    if (lane == 0) {
        const uint32_t n = t->exchange->n_ladders - ladder;
        take_states(t, ladder, n < LANES ? n : LANES, weight);
        recover(t, t->iteration - 1, ladder, weight, NULL);
    }
    for (uint32_t v = 0; v < t->part->n_variables; ++v) {
        t->drawn[v] = t->state[(size_t)v * LANES + lane];
    }
    gbsi_part_user_state(t->part, t->drawn, t->user);
    return gbsi_conditioned_log_density(t->part, t->drawn);
}

/* ---- results --------------------------------------------------------------------------------- */

bool gbsi_tempered_has_draws(const gbsi_tempered *t)
{
    return t != NULL && t->means != NULL && gbsi_means_share(t->means) > 0.0;
}

/* The mean of one cell over cold states, and its error. The error is at least the error of a rare
 * event, because a state that few ladders met, or none, may be rare. */
static gbsi_mean cell_of(const gbsi_tempered *t, size_t cell)
{
    gbsi_mean mean = gbsi_means_cell(t->means, cell);
    const double n = (double)t->means->n * (double)t->means->n_draws;
    const double floor = gbsi_rare_error(mean.p * n, n);
    mean.mcse = mean.mcse < floor ? floor : mean.mcse; /* a NAN is kept */
    return mean;
}

static double ess_of(const gbsi_mean *mean)
{
    return mean->mcse > 0.0 && mean->p > 0.0 && mean->p < 1.0
               ? mean->p * (1.0 - mean->p) / (mean->mcse * mean->mcse)
               : NAN;
}

void gbsi_tempered_marginal(const gbsi_tempered *t, uint32_t variable,
                            double *const row[GBSI_N_ROWS])
{
    for (uint32_t a = 0; a < t->part->arity[variable]; ++a) {
        const gbsi_mean mean = cell_of(t, t->part->state_offset[variable] + a);
        const double value[GBSI_N_ROWS] = {mean.p, mean.mcse, ess_of(&mean), mean.rhat};
        for (unsigned r = 0; r < GBSI_N_ROWS; ++r) {
            if (row[r] != NULL) {
                row[r][a] = value[r];
            }
        }
    }
}

/* Returns the degrees of freedom of the error: n - 1, where n is the number of round trips or the
 * number of full batches, whichever is smaller. Each round trip brings at most one independent
 * state to the cold end. */
static double freedom_of(const gbsi_means *m)
{
    const double trips = (double)gbsi_means_least_trips(m) * m->n_ladders;
    const double batches = (double)m->n_full * m->n_ladders;
    const double least = trips < batches ? trips : batches;
    return least > 2.0 ? least - 1.0 : 1.0;
}

gbsi_tempered_log_z gbsi_tempered_ask_log_z(const gbsi_tempered *t)
{
    gbsi_tempered_log_z found = {.log_z = NAN, .error = NAN, .freedom = 1.0};
    if (t == NULL || t->means == NULL || t->means->n == 0) {
        return found;
    }
    const gbsi_log_ratio total = gbsi_ratios_total(t->ratios, t->means);
    found.log_z = total.value - gbsi_soften_shift(t->core, t->penalty);
    found.error = total.error;
    found.freedom = freedom_of(t->means);
    for (uint32_t v = 0; v < t->core->n_variables; ++v) {
        found.log_z += gbsi_log((double)t->core->arity[v]); /* ln Z at b = 0 */
    }
    return found;
}

/* Reports the largest error of a probability, the largest R-hat, and the smallest effective sample
 * size. */
static void report_marginals(const gbsi_tempered *t, gbs_report *r)
{
    const size_t n_cells = t->part->state_offset[t->part->n_variables];
    r->max_mcse = r->max_rhat = r->min_ess = NAN;
    for (size_t c = 0; c < n_cells; ++c) {
        const gbsi_mean mean = cell_of(t, c);
        const double ess = ess_of(&mean);
        r->max_mcse = mean.mcse <= r->max_mcse ? r->max_mcse : mean.mcse;
        r->max_rhat = mean.rhat <= r->max_rhat || isnan(mean.rhat) ? r->max_rhat : mean.rhat;
        r->min_ess = ess >= r->min_ess || isnan(ess) ? r->min_ess : ess;
    }
    r->valid_share = gbsi_means_share(t->means);
}

void gbsi_tempered_report(const gbsi_tempered *t, gbsi_report *report,
                          gbsi_checkpoints *checkpoints)
{
    gbs_report *r = &report->public;
    if (t->ratios != NULL) {
        const gbsi_tempered_log_z found = gbsi_tempered_ask_log_z(t);
        checkpoints->best = found.log_z + checkpoints->log_exact;
        r->max_mcse = found.error;
        r->valid_share = gbsi_means_cell(t->means, gbsi_ratios_cells(t->exchange) - 1).p;
    } else {
        report_marginals(t, r);
    }
    r->n_constant = 0;
    r->n_hardly_moved = 0;
    r->round_trips = gbsi_means_least_trips(t->means);
    r->temperatures = t->exchange->n_levels;
    r->block_variables = gbsi_tempered_block_variables(t);
    r->hottest = t->exchange->beta[0];
    r->barrier = gbsi_exchange_barrier(t->exchange, 0, t->exchange->n_levels - 1);
}
