/* SPDX-License-Identifier: Apache-2.0 */
/* Chains in a form of their own, as ways of running: the sites of a lattice as bits, chains as
 * bits, and pictures of levels. */
#include <math.h>

#include "base/memory.h"
#include "drive/marginals.h"
#include "drive/run_memory.h"
#include "drive/runners.h"
#include "levels/levels_pass.h"

/* ---- spins, by their traces alone ------------------------------------------------------------ */

static gbs_status digest_traces(const gbs_report *r, char *text, gbs_error *err)
{
    const double value[] = {r->energy,
                            r->magnetisation,
                            r->abs_magnetisation,
                            gbsi_one_nan(r->energy_mcse),
                            gbsi_one_nan(r->magnetisation_mcse),
                            gbsi_one_nan(r->abs_magnetisation_mcse)};
    gbsi_digest *digest = NULL;
    const gbs_status status = gbsi_digest_new(&digest, err);
    if (status >= 0) {
        gbsi_digest_f64(digest, value, sizeof value / sizeof value[0]);
        gbsi_digest_text(digest, text);
    }
    gbsi_digest_free(digest);
    return status;
}

static gbs_status digest_spins(gbs_run *run, char *text, gbs_error *err)
{
    return run->estimates.estimate == NULL ? digest_traces(&run->report.public, text, err)
                                           : gbsi_marginals_digest(run, text, err);
}

/* ---- sites as bits --------------------------------------------------------------------------- */

/* Rows of slots whose sums chains hold, see gbsi_held: their probabilities, then their errors. */
enum { ROWS = 128 };

typedef struct row_job {
    const gbsi_estimate *estimate;
    uint32_t first, n_rows; /* slot, rows */
    uint32_t n_members;
    double *value; /* [n_rows][2][GBSI_SLOTS_HELD] */
} row_job;

static void tell_rows(void *context, uint32_t member)
{
    const row_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->n_rows, 1, member, job->n_members, &first, &end);
    for (uint64_t r = first; r < end; ++r) {
        gbsi_held_row row;
        double *p = job->value + 2 * r * GBSI_SLOTS_HELD;
        gbsi_estimate_held_row(job->estimate, job->first + (uint32_t)r * GBSI_SLOTS_HELD, &row);
        for (uint32_t i = 0; i < GBSI_SLOTS_HELD; ++i) {
            p[i] = gbsi_one_nan(row.p[i]);
            p[GBSI_SLOTS_HELD + i] = row.constant[i] ? NAN : gbsi_one_nan(row.mcse[i]);
        }
    }
}

/* Adds the slots in their own order, where all variables are sampled. */
static gbs_status add_rows(const gbsi_estimate *estimate, uint32_t n_slots, gbsi_pool *pool,
                           gbsi_digest *digest, gbs_error *err)
{
    const size_t n = (size_t)2 * ROWS * GBSI_SLOTS_HELD;
    row_job job = {.estimate = estimate,
                   .n_members = gbsi_pool_size(pool),
                   .value = gbsi_alloc_array(n, sizeof *job.value)};
    if (job.value == NULL) {
        return gbsi_no_memory(err, "digest", n * sizeof *job.value);
    }
    for (; job.first < n_slots; job.first += job.n_rows * GBSI_SLOTS_HELD) {
        const uint32_t left = (n_slots - job.first) / GBSI_SLOTS_HELD;
        job.n_rows = left < ROWS ? left : ROWS;
        gbsi_pool_run(pool, tell_rows, &job);
        gbsi_digest_f64(digest, job.value, (size_t)2 * job.n_rows * GBSI_SLOTS_HELD);
    }
    gbsi_free(job.value);
    return GBS_OK;
}

static gbs_status digest_sites(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    if (!gbsi_engine_holds(&run->engine, &run->options) ||
        run->problem.part->n_variables < run->problem.model->n_variables) {
        return digest_spins(run, text, err);
    }
    GBSI_TRY(run->runner->check(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(add_rows(run->estimates.estimate, gbsi_run_shape(run).n_slots, run->engine.pool,
                      digest, err));
    gbsi_digest_text(digest, text);
cleanup:
    gbsi_digest_free(digest);
    return status;
}

static bool suits_sites(const gbs_run *run)
{
    return run->engine.lattice != NULL;
}

const gbsi_runner gbsi_runner_sites = {
    .name = "sites as bits",
    .suits = suits_sites,
    .check = gbsi_chains_check,
    .marginal = gbsi_chains_marginal,
    .digest = digest_sites,
};

static bool suits_packed(const gbs_run *run)
{
    return run->engine.packed != NULL;
}

const gbsi_runner gbsi_runner_packed = {
    .name = "chains as bits",
    .suits = suits_packed,
    .check = gbsi_chains_check,
    .marginal = gbsi_chains_marginal,
    .digest = digest_spins,
};

/* ---- pictures of levels ---------------------------------------------------------------------- */

static bool suits_levels(const gbs_run *run)
{
    return run->engine.levels != NULL;
}

/* Only sites that are watched have errors. */
static void levels_marginal(const gbs_run *run, uint32_t v, double *const row[GBSI_N_ROWS])
{
    const uint32_t slot = gbsi_levels_slot_of(run->engine.levels, v);
    gbsi_levels_marginal(run->engine.executor.pass_state, v, row[GBSI_P]);
    for (unsigned r = GBSI_MCSE; r < GBSI_N_ROWS; ++r) {
        for (uint32_t a = 0; a < run->engine.levels->n_levels && row[r] != NULL; ++a) {
            row[r][a] = NAN;
        }
    }
    if (slot != UINT32_MAX) {
        gbsi_estimate_slot(run->estimates.estimate, slot, NULL, row[GBSI_MCSE], row[GBSI_ESS],
                           row[GBSI_RHAT]);
    }
}

/* The probabilities of all sites, then the errors of those that are watched. */
static gbs_status digest_levels(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_levels *levels = run->engine.levels;
    gbsi_digest *digest = NULL;
    double *value = gbsi_alloc_array(levels->n_levels, sizeof *value);
    if (value == NULL) {
        return gbsi_no_memory(err, "digest", levels->n_levels * sizeof *value);
    }
    GBSI_TRY(run->runner->check(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(gbsi_marginals_add(run, false, digest, err));
    for (uint32_t slot = 0; slot < gbsi_levels_n_slots(levels); ++slot) {
        gbsi_estimate_slot(run->estimates.estimate, slot, NULL, value, NULL, NULL);
        for (uint32_t a = 0; a < levels->n_levels; ++a) {
            value[a] = gbsi_one_nan(value[a]);
        }
        gbsi_digest_f64(digest, value, levels->n_levels);
    }
    gbsi_digest_text(digest, text);
cleanup:
    gbsi_digest_free(digest);
    gbsi_free(value);
    return status;
}

const gbsi_runner gbsi_runner_levels = {
    .name = "levels",
    .suits = suits_levels,
    .check = gbsi_chains_check,
    .marginal = levels_marginal,
    .digest = digest_levels,
};
