/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on the estimates from the draws of chains, and on the current errors of the
 * estimates. */
#include "chains/estimates.h"

#include <math.h>

#include "base/memory.h"
#include "chains/engine.h"
#include "lattice/bits.h"

void gbsi_estimates_free(gbsi_estimates *estimates)
{
    gbsi_estimate_free(estimates->estimate);
    gbsi_trace_free(estimates->trace);
    gbsi_moves_free(&estimates->moves);
    gbsi_stays_free(&estimates->stays);
    GBSI_FREE(estimates->exact_p, estimates->first_p);
}

/* Numbers of the series in estimates->trace; each series has one value for every pass and chain.
 * These series are followed by the series of couplings, and then by the series of fields. */
enum { ENERGY, SPIN, ABS_SPIN, FIRST_COUPLING };

static uint32_t n_series(const gbsi_spins *spins)
{
    return FIRST_COUPLING + spins->n_groups + spins->n_fields;
}

gbs_status gbsi_traces_take(gbsi_estimates *estimates, const gbsi_spins *spins, uint32_t n_chains,
                            gbs_error *err)
{
    return gbsi_trace_new(n_chains, n_series(spins), &estimates->trace, err);
}

/* Returns the mean of n terms, of which n_up are +1 and the others are -1. */
static double mean_of_terms(int64_t n_up, int64_t n)
{
    return n == 0 ? 0.0 : (double)(2 * n_up - n) / (double)n;
}

void gbsi_traces_put(const gbsi_estimates *estimates, const gbsi_engine *engine)
{
    const double n = engine->spins->n_sites;
    for (uint32_t chain = 0; chain < engine->executor.n_chains; ++chain) {
        const gbsi_spin_sums *sums = &gbsi_bits_chains(engine->executor.pass_state)->sums[chain];
        const double spin = (double)gbsi_spins_total(engine->spins, sums) / n;
        double value[FIRST_COUPLING + GBSI_SPIN_GROUPS + GBSI_SPIN_FIELDS];
        double *next = value + FIRST_COUPLING;
        value[ENERGY] = -gbsi_spins_log_density(engine->spins, sums) / n;
        value[SPIN] = spin;
        value[ABS_SPIN] = fabs(spin);
        for (uint32_t g = 0; g < engine->spins->n_groups; ++g) {
            *next++ = mean_of_terms(sums->agree[g], engine->spins->n_bonds[g]);
        }
        for (uint32_t f = 0; f < engine->spins->n_fields; ++f) {
            *next++ = mean_of_terms(sums->up[f], engine->spins->n_of_field[f]);
        }
        gbsi_trace_put(estimates->trace, chain, value);
    }
    gbsi_trace_end_pass(estimates->trace);
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : (a > b ? a : b);
}

static gbs_feature feature_of(const gbsi_trace *trace, uint32_t series, double weight, int64_t n)
{
    const gbsi_trace_summary summary = gbsi_trace_summarise(trace, series);
    return (gbs_feature){weight, (uint64_t)n, summary.mean, summary.mcse};
}

static void report_features(const gbsi_estimates *estimates, const gbsi_spins *spins, gbs_report *r)
{
    _Static_assert(GBS_MOST_COUPLINGS == GBSI_SPIN_GROUPS && GBS_MOST_FIELDS == GBSI_SPIN_FIELDS,
                   "the public arrays");
    uint32_t series = FIRST_COUPLING;
    r->n_couplings = spins->n_groups;
    r->n_fields = spins->n_fields;
    for (uint32_t g = 0; g < spins->n_groups; ++g) {
        r->coupling[g] =
            feature_of(estimates->trace, series++, spins->coupling[g], spins->n_bonds[g]);
    }
    for (uint32_t f = 0; f < spins->n_fields; ++f) {
        r->field[f] = feature_of(estimates->trace, series++, spins->field[f], spins->n_of_field[f]);
    }
}

void gbsi_traces_report(const gbsi_estimates *estimates, const gbsi_spins *spins, gbs_report *r)
{
    const gbsi_trace_summary energy = gbsi_trace_summarise(estimates->trace, ENERGY);
    const gbsi_trace_summary spin = gbsi_trace_summarise(estimates->trace, SPIN);
    const gbsi_trace_summary size = gbsi_trace_summarise(estimates->trace, ABS_SPIN);
    report_features(estimates, spins, r);
    r->energy = energy.mean;
    r->energy_mcse = energy.mcse;
    r->magnetisation = spin.mean;
    r->magnetisation_mcse = spin.mcse;
    r->abs_magnetisation = size.mean;
    r->abs_magnetisation_mcse = size.mcse;
    if (estimates->estimate == NULL) {
        r->max_mcse = larger(energy.mcse, size.mcse);
        r->max_rhat = larger(energy.rhat, size.rhat);
    }
}

gbs_status gbsi_estimates_report(const gbsi_estimates *estimates, gbsi_pool *pool, gbs_report *r,
                                 gbs_error *err)
{
    if (estimates->estimate == NULL) {
        return GBS_OK;
    }
    gbsi_estimate_worst worst;
    const gbs_status status = gbsi_estimate_find_worst(estimates->estimate, pool, &worst, err);
    if (status == GBS_OK) {
        r->max_mcse = worst.max_mcse;
        r->max_rhat = worst.max_rhat;
        r->min_ess = worst.min_ess;
        r->n_constant = worst.n_constant;
    }
    return status;
}
