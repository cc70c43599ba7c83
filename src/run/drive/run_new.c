/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a run: checks the options, prepares the model, and takes the memory. If memory is short,
 * the run has fewer chains. */
#include <string.h>

#include "base/clock.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/plural.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "drive/run_memory.h"
#include "drive/runners.h"

/* Number of variables above which the model is sampled, and no trees are searched. */
#define MOST_DRAWN (UINT32_C(1) << 20)

/* Sets options that the user left open and that depend on the drawing method. */
static gbs_status settle(gbs_run_options *options, gbsi_report *report, gbs_error *err)
{
    char warning[GBSI_WARNING_SIZE] = "";
    const gbsi_draw *draw = gbsi_draw_of(options, gbsi_simd_level());
    gbs_status status = GBS_OK;
    if (draw->settle != NULL && gbsi_options_sample(options)) {
        GBSI_TRY(draw->settle(options, warning, err));
    }
    if (warning[0] != '\0') {
        status = gbsi_report_warn(report, err, "%s", warning);
    }
cleanup:
    return status;
}

static void count_chains(const gbsi_task *task, gbsi_report *report)
{
    report->public.chains =
        gbsi_run_wants_temper(task) ? gbsi_run_ladders(task) : (uint32_t)task->options.chains;
}

gbs_status gbsi_run_begin(const gbs_model *model, const gbs_run_options *options, gbs_run **out,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = gbsi_alloc_zero(sizeof *run);
    GBSI_PASS(GBSI_HAVE(err, "run", run));
    run->task.problem.model = model;
    run->budget.fewer = "fewer --chains, --estimator count";
    gbsi_report_init(&run->report);
    GBSI_TRY(gbsi_options_take(options, &run->task.options, err));
    run->task.chains_asked = run->task.options.chains;
    run->checkpoints.asked = run->task.options;
    run->report.public.target_error = run->task.options.target_error;
    if (run->report.public.target_error == 0.0 && run->task.options.sweeps == 0) {
        run->report.public.target_error = GBSI_DEFAULT_TARGET;
    }
    GBSI_TRY(gbsi_options_check(&run->task.options, err));
    count_chains(&run->task, &run->report);
    if (run->task.options.max_updates == 0) {
        run->task.options.max_updates =
            run->task.options.sweeps > 0 ? UINT64_MAX : GBSI_MOST_UPDATES;
    }
    gbsi_budget_init(&run->budget.own, gbsi_options_memory_limit(&run->task.options),
                     gbsi_process_bytes() + gbs_model_bytes(model));
    gbsi_run_enter(&run->budget);
    GBSI_TRY(settle(&run->task.options, &run->report, err));
    if (run->task.options.start != NULL) {
        run->task.problem.start =
            gbsi_alloc_array(model->n_variables, sizeof *run->task.problem.start);
        GBSI_TRY(GBSI_HAVE(err, "run", run->task.problem.start));
        memcpy(run->task.problem.start, run->task.options.start,
               model->n_variables * sizeof *run->task.problem.start);
    }
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

/* Makes a run in one attempt. @param options already copied. */
static gbs_status open_once(const gbs_model *model, const gbs_evidence *evidence,
                            const gbs_run_options *options, const gbsi_run_purpose *purpose,
                            gbs_run **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    GBSI_TRY(gbsi_run_begin(model, options, &run, err));
    run->task.purpose = *purpose;
    if (purpose->lattice != NULL) {
        run->sampling.engine.lattice = *purpose->lattice;
        gbsi_engine_take_spins(&run->sampling.engine, GBSI_FORM_SITES,
                               &run->sampling.engine.lattice->spins);
        *purpose->lattice = NULL;
    }
    if (purpose->levels != NULL) {
        run->sampling.engine.levels = *purpose->levels;
        run->sampling.engine.form_kind = GBSI_FORM_LEVELS;
        run->sampling.engine.n_components = 1;
        run->budget.fewer = "fewer levels";
        *purpose->levels = NULL;
    }
    run->task.ranks = purpose->ranks;
    run->task.spread = run->task.ranks;
    run->sampling.engine.own =
        gbsi_chains_of_own(run->task.spread, gbsi_options_chains(&run->task.options));
    run->task.problem.penalty = purpose->penalty;
    if (purpose->draws && run->task.options.method == GBS_METHOD_AUTO &&
        (run->task.options.sweeps == 0 || model->n_variables > MOST_DRAWN)) {
        run->task.options.method = GBS_METHOD_SAMPLE;
    }
    if (purpose->observes) {
        GBSI_TRY(gbsi_observed_check(model, &run->task.options, err));
        run->task.options.method = GBS_METHOD_SAMPLE;
    }
    if (!purpose->anneals && gbsi_options_anneal(&run->task.options)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "--schedule and --tau0 apply to map only"));
    }
    GBSI_TRY(gbsi_run_prepare(run, evidence, err));
    GBSI_TRY(gbsi_ranks_check(&run->task, &run->sampling.engine, err));
    GBSI_TRY(gbsi_run_take_known_memory(run, err));
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

/* The number of chains for the next attempt: half of the present number, but no fewer than allowed.
 * The result is 0 if fewer chains are not allowed or would not help. */
static uint64_t fewer_chains(const gbs_run_options *o)
{
    if (!gbsi_options_sample(o) || o->least_chains == 0 || o->chains <= o->least_chains) {
        return 0;
    }
    return o->chains / 2 > o->least_chains ? o->chains / 2 : o->least_chains;
}

gbs_status gbsi_run_open(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, const gbsi_run_purpose *purpose,
                         gbs_run **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options taken;
    GBSI_TRY(gbsi_options_take(options, &taken, err));
    const uint64_t asked = taken.chains;
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, gbsi_clock_s(), taken.time_s);
    gbsi_watch *before = gbsi_watch_enter(&watch); /* all attempts together have one time limit */
    status = open_once(model, evidence, &taken, purpose, out, err);
    const bool may_repeat = purpose->ranks == NULL && !purpose->bare;
    while (status == GBS_ERR_LIMIT && may_repeat && fewer_chains(&taken) > 0 &&
           !gbsi_watch_ask(&watch)) {
        taken.chains = fewer_chains(&taken);
        status = open_once(model, evidence, &taken, purpose, out, err);
    }
    gbsi_watch_leave(before);
    if (status >= 0 && taken.chains < asked) {
        (*out)->task.chains_asked = asked;
        count_chains(&(*out)->task, &(*out)->report);
        const gbs_status warned = gbsi_report_warn(
            &(*out)->report, err,
            "%llu chain%s instead of %llu, as many as the memory limit allows",
            (unsigned long long)taken.chains, gbsi_plural(taken.chains), (unsigned long long)asked);
        if (warned < 0) {
            gbs_run_free(*out);
            *out = NULL;
            return warned;
        }
    }
cleanup:
    return status;
}

/* @param options options used instead of setup->options. @param purpose the purpose of the run; the
 * function sets those members that follow from the setup. */
static gbs_status new_run(const gbs_run_setup *setup, const gbs_run_options *options,
                          gbsi_run_purpose purpose, gbs_run **out, gbs_error *err)
{
    const gbs_ranks *ranks = setup->ranks;
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    purpose.limited = true;
    purpose.ranks = ranks != NULL && ranks->n_ranks > 1 ? ranks : NULL;
    status = gbsi_run_open(setup->model, setup->evidence, options, &purpose, &run, err);
    if (status >= 0) {
        status = gbsi_run_note_inputs(&run->task.problem, &run->checkpoints, setup->evidence,
                                      &run->task.options, err);
    }
    if (status >= 0 && run->report.public.n_pruned > 0) {
        status = gbsi_run_note_variables(&run->checkpoints, GBSI_INPUT_QUERY, purpose.asked,
                                         purpose.n_asked, err);
    }
    if (status >= 0 && purpose.observes) {
        status = gbsi_run_note_variables(&run->checkpoints, GBSI_INPUT_OBSERVABLES, NULL, 0, err);
    }
    GBSI_TRY(gbsi_ranks_meet(purpose.ranks, status, err));
    GBSI_TRY(gbsi_ranks_compare(run, err));
    run->task.options.sequence = NULL; /* options.sequence is borrowed only up to this point */
    run->task.options.start = NULL;
    run->task.options.dummy_edges = NULL;
    run->task.options.target = NULL;
    run->task.purpose.asked = NULL;
    gbsi_run_leave(&run->budget);
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

/* @param purpose purpose of the run, with the lattice or levels; the run becomes their owner. */
static gbs_status new_bare_run(const gbs_model *variables, const gbsi_run_purpose *purpose,
                               const gbs_run_options *options, gbs_run **out, gbs_error *err)
{
    const gbs_status status = gbsi_run_open(variables, NULL, options, purpose, out, err);
    if (status >= 0) {
        (*out)->task.purpose.lattice = NULL;
        (*out)->task.purpose.levels = NULL;
        (*out)->report.bare = true;
        gbsi_run_leave(&(*out)->budget);
    }
    return status;
}

gbs_status gbsi_run_new_of_sites(const gbs_model *variables, gbsi_lattice *lattice,
                                 const gbs_run_options *options, gbs_run **out, gbs_error *err)
{
    const gbsi_run_purpose purpose = {.limited = true, .lattice = &lattice, .bare = true};
    const gbs_status status = new_bare_run(variables, &purpose, options, out, err);
    gbsi_lattice_free(lattice);
    return status;
}

gbs_status gbsi_run_new_of_levels(const gbs_model *variables, gbsi_levels *levels,
                                  const gbs_run_options *options, gbs_run **out, gbs_error *err)
{
    const gbsi_run_purpose purpose = {.limited = true, .levels = &levels, .bare = true};
    const gbs_status status = new_bare_run(variables, &purpose, options, out, err);
    gbsi_levels_free(levels);
    return status;
}

gbs_status gbsi_run_new_of_model(const gbs_run_setup *setup, gbs_run **out, gbs_error *err)
{
    const gbsi_run_purpose purpose = {.draws = setup->task == GBS_RUN_DRAWS,
                                      .observes = setup->observables != 0,
                                      .asks = setup->query != NULL,
                                      .asked = setup->query,
                                      .n_asked = setup->n_query};
    gbs_run_options chains;
    const double begun_s = gbsi_clock_s();
    const gbs_status status = new_run(setup, setup->options, purpose, out, err);
    if (status != GBS_ERR_LIMIT || !purpose.draws || setup->ranks != NULL ||
        gbsi_options_take(setup->options, &chains, NULL) < 0 || chains.method != GBS_METHOD_AUTO) {
        return status;
    }
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, begun_s, chains.time_s);
    if (gbsi_watch_ask(&watch)) {
        return status;
    }
    chains.method = GBS_METHOD_SAMPLE; /* sampling needs less memory than the search for trees */
    gbsi_watch *before = gbsi_watch_enter(&watch);
    const gbs_status again = new_run(setup, &chains, purpose, out, err);
    gbsi_watch_leave(before);
    return again;
}
