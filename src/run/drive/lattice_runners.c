/* SPDX-License-Identifier: Apache-2.0 */
/* The runners of chains without a plan: sites of a lattice as bits, chains as bits, and pictures of
 * levels. */
#include <math.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "drive/runners.h"
#include "lattice/averages.h"
#include "lattice/bits.h"
#include "levels/levels_chains.h"

/* Least number of sites in bits of a lattice whose first batches have LONG_BATCHES passes. */
#define MANY_SITES   (UINT32_C(1) << 20)
#define LONG_BATCHES 16u
/* Number of batches of passes per block and chain, for pictures. With this small number, standard
 * errors exist after few passes. */
#define BATCHES_OF_LEVELS 8u

/* ---- all forms ------------------------------------------------------------------------------- */

static void take_form(const gbs_run_options *options, gbsi_engine *engine, gbsi_report *report,
                      const gbsi_form *form)
{
    gbs_report *r = &report->public;
    engine->form = *form;
    engine->pass = form->pass;
    engine->scan_traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE;
    engine->schedule.n_places = form->n_places;
    engine->schedule.n_batches = form->n_colors; /* the schedule has no pieces, because bits are not
                                                    updated place by place */
    r->scan = gbsi_scan_of(options->scan)->name;
    r->n_colors = form->n_colors;
    r->n_levels = r->n_batches = form->n_colors;
}

/* ---- spins ----------------------------------------------------------------------------------- */

static gbs_status bytes_of_spins(gbs_run *run, gbsi_run_memory *m, gbs_error *err)
{
    return gbsi_form_bytes(&run->task, &run->sampling, m,
                           gbsi_result_bytes(run->task.problem.model), err);
}

static gbs_status prepare_spins(gbs_run *run, gbs_error *err)
{
    const gbs_status status = gbsi_chains_prepare(run, err);
    return status < 0 ? status
                      : gbsi_traces_take(&run->sampling.estimates, run->sampling.engine.spins,
                                         (uint32_t)run->task.options.chains, err);
}

static gbs_status report_spins(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    gbsi_executor_fetch(&run->sampling.engine.executor, run->sampling.estimates.estimate);
    gbsi_traces_report(&run->sampling.estimates, run->sampling.engine.spins, r);
    r->lattice = run->task.runner->bits;
    return gbsi_chains_errors(run, err);
}

/* The estimates of a spin; its variable and its slot have equal numbers. */
static void marginal_of_spin(const gbsi_sampling *sampling, uint32_t v,
                             double *const row[GBSI_N_ROWS])
{
    gbsi_estimate_slot(sampling->estimates.estimate, v, row[GBSI_P], row[GBSI_MCSE], row[GBSI_ESS],
                       row[GBSI_RHAT]);
}

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
    return run->sampling.estimates.estimate == NULL ? digest_traces(&run->report.public, text, err)
                                                    : gbsi_marginals_digest(run, text, err);
}

/* ---- sites as bits --------------------------------------------------------------------------- */

/* Number of rows of slots that are read at once. The sums of slots are stored with the chains in
 * rows, see gbsi_held. */
enum { ROWS = 128 };

typedef struct row_job {
    const gbsi_estimate *estimate;
    uint32_t first, n_rows; /* number of the first slot; number of rows */
    uint32_t n_members;
    double *value; /* [n_rows][2][GBSI_SLOTS_HELD] for each row of slots, its probabilities, then
                      their errors */
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

/* If all variables are sampled, adds the estimates of all slots to the digest, in slot order. */
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

/* Whether the pass stores the sums of conditionals with the chains, see gbsi_held. */
static bool holds(const gbs_run_options *options)
{
    return options->estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
}

static gbs_status compile_sites(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                gbsi_watch *watch, gbs_error *err)
{
    const gbsi_lattice *l = engine->lattice;
    (void)watch;
    (void)err;
    take_form(&task->options, engine, report,
              &(gbsi_form){.pass = &gbsi_pass_sites,
                           .compiled = l,
                           .n_places = l->spins.n_sites,
                           .n_colors = 2 * (l->n_seams + 1),
                           .bytes = l->bytes,
                           .scratch = gbsi_grid_bytes(l->spins.n_sites),
                           .share = gbsi_lattice_share(l)});
    return GBS_OK;
}

static gbsi_estimate_shape shape_of_sites(const gbsi_task *task, const gbsi_engine *engine)
{
    gbsi_estimate_shape shape = gbsi_plain_shape(task, engine);
    if (!holds(&task->options)) {
        shape.first_length = shape.n_slots >= MANY_SITES ? LONG_BATCHES : 0;
        return shape;
    }
    const uint32_t n_slots = gbsi_lattice_n_slots(engine->lattice);
    return (gbsi_estimate_shape){.n_slots = n_slots,
                                 .same_arity = 2,
                                 .n_chains = shape.n_chains,
                                 .lanes = 1,
                                 .n_groups = shape.n_chains,
                                 .value_bytes = 1,
                                 .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                 .each_once = true,
                                 .held = true,
                                 .n_padding = n_slots - engine->spins->n_sites};
}

static void marginal_of_site(const gbsi_sampling *sampling, uint32_t v,
                             double *const row[GBSI_N_ROWS])
{
    marginal_of_spin(
        sampling,
        sampling->estimates.rao_blackwell ? gbsi_lattice_slot_of(sampling->engine.lattice, v) : v,
        row);
}

static gbs_status report_sites(gbs_run *run, gbs_error *err)
{
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; ++d) {
        run->report.public.lattice_side[d] = run->sampling.engine.lattice->side[d];
    }
    return report_spins(run, err);
}

static gbs_status digest_sites(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    if (!holds(&run->task.options) ||
        run->task.problem.part->n_variables < run->task.problem.model->n_variables) {
        return digest_spins(run, text, err);
    }
    GBSI_TRY(run->task.runner->check(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(add_rows(run->sampling.estimates.estimate,
                      gbsi_lattice_n_slots(run->sampling.engine.lattice), run->sampling.engine.pool,
                      digest, err));
    gbsi_digest_text(digest, text);
cleanup:
    gbsi_digest_free(digest);
    return status;
}

const gbsi_runner gbsi_runner_sites = {
    .name = "sites",
    .bits = GBS_BITS_SITES,
    .form = GBSI_FORM_SITES,
    .compile = compile_sites,
    .shape = shape_of_sites,
    .bytes = bytes_of_spins,
    .prepare = prepare_spins,
    .begin = gbsi_run_exactly,
    .start = gbsi_chains_start,
    .advance = gbsi_chains_advance,
    .parts = gbsi_chains_parts,
    .errors = report_sites,
    .judge = gbsi_judge_sampled,
    .remark = gbsi_chains_remark,
    .check = gbsi_chains_check,
    .marginal = marginal_of_site,
    .digest = digest_sites,
};

/* ---- chains as bits -------------------------------------------------------------------------- */

static gbs_status compile_packed(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                 gbsi_watch *watch, gbs_error *err)
{
    const gbsi_packed *p = engine->packed;
    (void)watch;
    (void)err;
    take_form(&task->options, engine, report,
              &(gbsi_form){.pass = &gbsi_pass_packed,
                           .compiled = p,
                           .n_places = p->spins.n_sites,
                           .n_colors = p->n_colors,
                           .bytes = p->bytes,
                           .scratch = gbsi_packed_compile_bytes(p->spins.n_sites),
                           .share = gbsi_share_of_chains(&task->options)});
    return GBS_OK;
}

const gbsi_runner gbsi_runner_packed = {
    .name = "packed",
    .bits = GBS_BITS_CHAINS,
    .form = GBSI_FORM_CHAINS,
    .compile = compile_packed,
    .shape = gbsi_plain_shape,
    .bytes = bytes_of_spins,
    .prepare = prepare_spins,
    .begin = gbsi_run_exactly,
    .start = gbsi_chains_start,
    .advance = gbsi_chains_advance,
    .parts = gbsi_chains_parts,
    .errors = report_spins,
    .judge = gbsi_judge_sampled,
    .remark = gbsi_chains_remark,
    .check = gbsi_chains_check,
    .marginal = marginal_of_spin,
    .digest = digest_spins,
};

/* ---- pictures of levels ---------------------------------------------------------------------- */

static gbs_status compile_levels(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                 gbsi_watch *watch, gbs_error *err)
{
    const gbsi_levels *l = engine->levels;
    const uint32_t n_sites = l->width * l->height;
    (void)watch;
    (void)err;
    take_form(&task->options, engine, report,
              &(gbsi_form){.pass = &gbsi_pass_levels,
                           .compiled = l,
                           .n_places = n_sites,
                           .n_colors = l->n_colors,
                           .bytes = l->bytes});
    if (gbsi_levels_n_slots(l) < n_sites) {
        report->public.n_watched = gbsi_levels_n_slots(l);
    }
    return GBS_OK;
}

/* The shape of the estimates; their slots are the watched sites. */
static gbsi_estimate_shape shape_of_levels(const gbsi_task *task, const gbsi_engine *engine)
{
    const uint32_t n_chains = gbsi_options_chains(&task->options);
    return (gbsi_estimate_shape){.n_slots = gbsi_levels_n_slots(engine->levels),
                                 .same_arity = engine->levels->n_levels,
                                 .n_chains = n_chains,
                                 .lanes = 1,
                                 .n_groups = n_chains,
                                 .value_bytes = 1,
                                 .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                 .n_batches = BATCHES_OF_LEVELS,
                                 .each_once = true};
}

/* Predicts the memory of a picture, whose estimates are read some rows at a time. */
static gbs_status bytes_of_levels(gbs_run *run, gbsi_run_memory *m, gbs_error *err)
{
    return gbsi_form_bytes(&run->task, &run->sampling, m, 0, err);
}

/* Writes the estimates of a site; they include standard errors only if the site is watched. */
static void levels_marginal(const gbsi_sampling *sampling, uint32_t v,
                            double *const row[GBSI_N_ROWS])
{
    const uint32_t slot = gbsi_levels_slot_of(sampling->engine.levels, v);
    gbsi_levels_marginal(sampling->engine.executor.pass_state, v, row[GBSI_P]);
    for (unsigned r = GBSI_MCSE; r < GBSI_N_ROWS; ++r) {
        for (uint32_t a = 0; a < sampling->engine.levels->n_levels && row[r] != NULL; ++a) {
            row[r][a] = NAN;
        }
    }
    if (slot != UINT32_MAX) {
        gbsi_estimate_slot(sampling->estimates.estimate, slot, NULL, row[GBSI_MCSE], row[GBSI_ESS],
                           row[GBSI_RHAT]);
    }
}

/* Makes a digest of the probabilities of all sites, then of the errors of the watched sites. */
static gbs_status digest_levels(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_levels *levels = run->sampling.engine.levels;
    gbsi_digest *digest = NULL;
    double *value = gbsi_alloc_array(levels->n_levels, sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "digest", value));
    GBSI_TRY(run->task.runner->check(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(gbsi_marginals_add(run, false, digest, err));
    for (uint32_t slot = 0; slot < gbsi_levels_n_slots(levels); ++slot) {
        gbsi_estimate_slot(run->sampling.estimates.estimate, slot, NULL, value, NULL, NULL);
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
    .form = GBSI_FORM_LEVELS,
    .compile = compile_levels,
    .shape = shape_of_levels,
    .bytes = bytes_of_levels,
    .prepare = gbsi_chains_prepare,
    .begin = gbsi_run_exactly,
    .start = gbsi_chains_start,
    .advance = gbsi_chains_advance,
    .parts = gbsi_chains_parts,
    .errors = gbsi_chains_errors,
    .judge = gbsi_judge_sampled,
    .remark = gbsi_chains_remark,
    .check = gbsi_chains_check,
    .marginal = levels_marginal,
    .digest = digest_levels,
};
