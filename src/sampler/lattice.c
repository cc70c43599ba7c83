/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices in a run: when they are chosen, and what is told of them. Chosen by model and options
 * alone, never by the machine. */
#include <math.h>

#include "sampler/run.h"

/* With fewer of its bits in use a lattice is hardly faster than sixteen chains side by side. */
#define LEAST_SHARE 0.25

/* Why the options leave no room for one, or NULL. */
static const char *other_options(const gbs_run_options *o)
{
    if (o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL) {
        return "bits have no probabilities to average: --estimator count or traces";
    }
    if (o->scan != GBS_SCAN_CHROMATIC) {
        return "lattices are updated colour by colour: --scan chromatic";
    }
    if (o->draw != GBS_DRAW_RANDOM) {
        return "lattices are drawn at random: --draw random";
    }
    return NULL;
}

gbs_status gbsi_run_choose_lattice(gbs_run *run, const gbsi_conditioned *model, gbs_error *err)
{
    const gbs_run_options *o = &run->options;
    const bool traces = o->estimator == GBS_ESTIMATOR_TRACES;
    const char *reason = NULL;
    if (model->n_variables == 0) {
        return GBS_OK;
    }
    if (o->lattice == GBS_LATTICE_NEVER) {
        reason = "--lattice never";
    } else {
        reason = other_options(o);
    }
    if (reason == NULL) {
        const gbs_status status = gbsi_lattice_new(model, &run->lattice, &reason, err);
        if (status < 0) {
            return status;
        }
    }
    if (run->lattice != NULL && o->lattice == GBS_LATTICE_AUTO && !traces &&
        gbsi_lattice_share(run->lattice) < LEAST_SHARE) {
        gbsi_lattice_free(run->lattice);
        run->lattice = NULL;
    }
    if (run->lattice == NULL && (traces || o->lattice == GBS_LATTICE_ALWAYS)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "option %s: the model is not run bit by bit: %s",
                         traces ? "estimator traces" : "lattice always", reason);
    }
    return GBS_OK;
}

void gbsi_run_describe_lattice(gbs_run *run)
{
    gbs_report *r = &run->report;
    const uint32_t n_batches = 2 * (run->lattice->n_seams + 1);
    run->scan_traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE;
    run->schedule.n_places = run->lattice->spins.n_sites;
    run->schedule.n_batches = n_batches; /* and no pieces: the lattice finds its sites itself */
    r->n_colors = n_batches;
    r->n_levels = n_batches;
    r->n_batches = n_batches;
}

void gbsi_run_trace_pass(gbs_run *run)
{
    const double n = run->lattice->spins.n_sites;
    for (uint32_t chain = 0; chain < run->executor.n_chains; ++chain) {
        const gbsi_spin_sums *sums = &run->executor.lattice->sums[chain];
        const double spin = (double)gbsi_spins_total(&run->lattice->spins, sums) / n;
        double value[GBSI_N_TRACES];
        value[GBSI_TRACE_ENERGY] = -gbsi_spins_log_density(&run->lattice->spins, sums) / n;
        value[GBSI_TRACE_SPIN] = spin;
        value[GBSI_TRACE_ABS_SPIN] = fabs(spin);
        gbsi_trace_put(run->trace, chain, value);
    }
    gbsi_trace_end_pass(run->trace);
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : (a > b ? a : b);
}

/* With traces alone they are what converges; the spin itself may never change its sign. */
void gbsi_run_report_lattice(gbs_run *run)
{
    gbs_report *r = &run->report;
    const gbsi_trace_summary energy = gbsi_trace_summarise(run->trace, GBSI_TRACE_ENERGY);
    const gbsi_trace_summary spin = gbsi_trace_summarise(run->trace, GBSI_TRACE_SPIN);
    const gbsi_trace_summary size = gbsi_trace_summarise(run->trace, GBSI_TRACE_ABS_SPIN);
    r->lattice = 1;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        r->lattice_side[d] = run->lattice->side[d];
    }
    r->energy = energy.mean;
    r->energy_mcse = energy.mcse;
    r->magnetisation = spin.mean;
    r->magnetisation_mcse = spin.mcse;
    r->abs_magnetisation = size.mean;
    r->abs_magnetisation_mcse = size.mcse;
    if (run->estimate == NULL) {
        r->max_mcse = larger(energy.mcse, size.mcse);
        r->max_rhat = larger(energy.rhat, size.rhat);
    }
}
