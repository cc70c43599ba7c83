/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a run that are answered exactly: marginals, ln Z, a most probable state,
 * samples. */
#include "choose/exact_part.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/run_options.h"
#include "reference/enumerate.h"
#include "satisfy/satisfy.h"
#include "solve/solve.h"

#define DRAWS_A_LOOK 256u /* number of draws between two looks at the clock */
#define VISITING     "visiting the states that hard parities allow"

/* ---- marginals ----------------------------------------------------------------------------- */

static gbs_status take_pool(gbsi_engine *engine, const gbs_run_options *options, size_t n_entries,
                            gbs_error *err)
{
    if (engine->pool != NULL || n_entries < GBSI_SHARED_ENTRIES) {
        return GBS_OK;
    }
    return gbsi_pool_new(gbsi_options_threads(options), &engine->pool, err);
}

/* Announces the work on the tables of all trees, and how long it is. The length of the work on
 * codewords, sparse tables and cutsets is not announced: the search for them takes longer than this
 * work, so that the limit on the search decides. */
static void expect(gbsi_drive *drive, const gbsi_engine *engine, const gbsi_tables *tables,
                   bool down)
{
    gbsi_drive_expect(drive, "junction tree",
                      gbsi_tree_operations(tables->tree, tables->keep, down),
                      gbsi_pool_size(engine->pool));
}

/* Sends messages up one tree, under the watch. @return GBS_ERR_IMPOSSIBLE if no state has positive
 * weight. */
static gbs_status tree_up(gbsi_drive *drive, const gbsi_conditioned *whole, gbsi_tables *tables,
                          uint32_t t, double *log_z, gbs_error *err)
{
    tables->watch = &drive->watch;
    gbsi_tree_up(tables, t, log_z);
    if (gbsi_watch_stopped(tables->watch)) {
        return gbsi_stopped_early(drive, "calibrating junction trees", err);
    }
    return *log_z == -INFINITY ? gbsi_impossible(whole, err) : GBS_OK;
}

/* Computes the marginals of the trees. @param log_z in and out: the function adds ln Z of the
 * components with trees.
 */
static gbs_status calibrate(const gbsi_task *task, gbsi_engine *engine,
                            const gbsi_estimates *estimates, gbsi_drive *drive, double *log_z,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    const gbsi_tree *tree = task->problem.tree;
    const uint32_t n = tree->model->n_variables;
    uint32_t *home = gbsi_alloc_array(n, sizeof *home);
    GBSI_PASS(GBSI_HAVE(err, "junction tree", home));
    gbsi_tree_homes(tree, home);
    for (uint32_t v = task->problem.whole->n_variables; v < n; ++v) {
        home[v] = GBSI_NONE; /* variables that the model with chains of short factors has in
                                addition; no caller asks for them */
    }
    GBSI_TRY(take_pool(engine, &task->options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, task->problem.keep, engine->pool, &tables, err));
    expect(drive, engine, tables, true);
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double part = 0.0;
        GBSI_TRY(tree_up(drive, task->problem.whole, tables, t, &part, err));
        *log_z += part;
        gbsi_tree_down(tables, t, home, estimates->exact_p);
        if (gbsi_watch_stopped(tables->watch)) {
            GBSI_TRY(gbsi_stopped_early(drive, "calibrating junction trees", err));
        }
    }

cleanup:
    gbsi_tables_free(tables);
    gbsi_free(home);
    return status;
}

/* Checks that a component was answered. @param doing name of the work, for the message in case the
 * work was stopped. @return GBS_ERR_IMPOSSIBLE if no state has positive weight. */
static gbs_status check_other(const gbsi_drive *drive, const gbsi_conditioned *whole,
                              const char *doing, double log_z, gbs_error *err)
{
    if (gbsi_watch_stopped(&drive->watch)) {
        return gbsi_stopped_early(drive, doing, err);
    }
    return log_z == -INFINITY ? gbsi_impossible(whole, err) : GBS_OK;
}

/* Answers the components with codewords, sparse tables or cutsets. @param p NULL: only ln Z is
 * computed.
 * @param log_z in and out: the function adds ln Z of these components. */
static gbs_status sum_others(const gbsi_task *task, gbsi_engine *engine, gbsi_drive *drive,
                             double *p, double *log_z, gbs_error *err)
{
    for (const gbsi_codewords *c = task->problem.codewords; c != NULL; c = c->next) {
        double part = 0.0;
        gbsi_drive_expect(drive, "states of parities", 0.0, 1);
        GBSI_PASS(gbsi_codewords_sum(c, &drive->watch, p, &part, err));
        GBSI_PASS(check_other(drive, task->problem.whole, VISITING, part, err));
        *log_z += part;
    }
    for (const gbsi_sparse *c = task->problem.sparse; c != NULL; c = c->next) {
        double part = 0.0;
        gbsi_drive_expect(drive, "sparse tables", 0.0, 1);
        GBSI_PASS(gbsi_sparse_sum(c, &drive->watch, p, &part, err));
        GBSI_PASS(check_other(drive, task->problem.whole, "calibrating sparse tables", part, err));
        *log_z += part;
    }
    for (const gbsi_cutset *c = task->problem.cutset; c != NULL; c = c->next) {
        double part = 0.0;
        gbsi_drive_expect(drive, "cases of a cutset", 0.0, 1);
        GBSI_PASS(take_pool(engine, &task->options, c->tree->n_tables, err));
        GBSI_PASS(gbsi_cutset_sum(c, engine->pool, &drive->watch, p, &part, err));
        GBSI_PASS(
            check_other(drive, task->problem.whole, "answering the cases of a cutset", part, err));
        *log_z += part;
    }
    return GBS_OK;
}

/* Enumerates the components with few states, under the watch. @param log_z see
 * gbsi_components_enumerate(). */
static gbs_status enumerate(gbsi_problem *problem, gbsi_estimates *estimates, gbsi_drive *drive,
                            double *log_z, gbs_error *err)
{
    const gbs_status status = gbsi_components_enumerate(
        problem->components, problem->enumerated, &drive->watch, estimates->exact_p, log_z, err);
    return gbsi_watch_stopped(&drive->watch)
               ? gbsi_stopped_early(drive, "enumerating the states of small components", err)
               : status;
}

gbs_status gbsi_run_exactly(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err)
{
    double log_z = 0.0;
    if (sampling->estimates.exact_p == NULL) {
        return GBS_OK;
    }
    drive->share = drive->exact_share;
    GBSI_PASS(enumerate(&task->problem, &sampling->estimates, drive, &log_z, err));
    if (task->problem.tree != NULL) {
        GBSI_PASS(calibrate(task, &sampling->engine, &sampling->estimates, drive, &log_z, err));
    }
    GBSI_PASS(sum_others(task, &sampling->engine, drive, sampling->estimates.exact_p, &log_z, err));
    drive->share = 1.0;
    if (task->problem.part == NULL) {
        report->public.log_z =
            task->problem.n_skipped > 0 ? NAN : task->problem.whole->log_constant + log_z;
    } else { /* drawing samples needs the memory of the tables */
        gbsi_problem_forget_tables(&task->problem);
    }
    return GBS_OK;
}

/* ---- ln Z ---------------------------------------------------------------------------------- */

gbs_status gbsi_run_exact_log_z(gbsi_task *task, gbsi_engine *engine, gbsi_estimates *estimates,
                                gbsi_drive *drive, double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    *log_z = 0.0;
    GBSI_TRY(enumerate(&task->problem, estimates, drive, log_z, err));
    GBSI_TRY(sum_others(task, engine, drive, NULL, log_z, err));
    if (task->problem.tree == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(take_pool(engine, &task->options, task->problem.tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(task->problem.tree, task->problem.keep, engine->pool, &tables, err));
    expect(drive, engine, tables, false);
    for (uint32_t t = 0; t < task->problem.tree->n_trees; ++t) {
        double part = 0.0;
        GBSI_TRY(tree_up(drive, task->problem.whole, tables, t, &part, err));
        *log_z += part;
    }

cleanup:
    gbsi_tables_free(tables);
    return status;
}

/* ---- the most probable state --------------------------------------------------------------- */

/* Finds the most probable states of the components with trees. @param x [variables of the trees'
 * model] out. */
static gbs_status maximise_trees(const gbs_run_options *options, const gbsi_problem *problem,
                                 gbsi_engine *engine, gbsi_drive *drive, uint32_t *x,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_tree *tree = problem->tree;
    gbsi_tables *tables = NULL;
    GBSI_TRY(take_pool(engine, options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, problem->keep, engine->pool, &tables, err));
    expect(drive, engine, tables, false);
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double most = 0.0;
        GBSI_TRY(tree_up(drive, problem->whole, tables, t, &most, err));
        gbsi_tree_trace(tables, t, x);
    }

cleanup:
    gbsi_tables_free(tables);
    return status;
}

gbs_status gbsi_run_exact_map(const gbs_run_options *options, const gbsi_problem *problem,
                              gbsi_engine *engine, gbsi_drive *drive, uint32_t *state,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *whole = problem->whole;
    const gbsi_tree *tree = problem->tree;
    const size_t n = tree != NULL ? tree->model->n_variables : whole->n_variables;
    uint32_t *x = gbsi_alloc_array_zero(n, sizeof *x);
    GBSI_PASS(GBSI_HAVE(err, "map", x));
    if (tree != NULL) {
        GBSI_TRY(maximise_trees(options, problem, engine, drive, x, err));
    }
    for (const gbsi_codewords *c = problem->codewords; c != NULL; c = c->next) {
        double most = 0.0;
        gbsi_drive_expect(drive, "states of parities", 0.0, 1);
        GBSI_TRY(gbsi_codewords_maximise(c, &drive->watch, x, &most, err));
        GBSI_TRY(check_other(drive, whole, VISITING, most, err));
    }
    for (const gbsi_sparse *c = problem->sparse; c != NULL; c = c->next) {
        double most = 0.0;
        gbsi_drive_expect(drive, "sparse tables", 0.0, 1);
        GBSI_TRY(gbsi_sparse_maximise(c, &drive->watch, x, &most, err));
        GBSI_TRY(check_other(drive, whole, "calibrating sparse tables", most, err));
    }
    for (const gbsi_cutset *c = problem->cutset; c != NULL; c = c->next) {
        double most = 0.0;
        gbsi_drive_expect(drive, "cases of a cutset", 0.0, 1);
        GBSI_TRY(take_pool(engine, options, c->tree->n_tables, err));
        GBSI_TRY(gbsi_cutset_maximise(c, engine->pool, &drive->watch, x, &most, err));
        GBSI_TRY(check_other(drive, whole, "answering the cases of a cutset", most, err));
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        if (problem->exact[problem->components->of[v]] != 0) {
            state[whole->user_variable[v]] = gbsi_conditioned_states(whole, v)[x[v]];
        }
    }

cleanup:
    gbsi_free(x);
    return status;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* The trees and sparse tables from which independent samples are drawn. */
typedef struct drawing {
    gbsi_tables *tables;       /* trees; NULL if no component has dense tables */
    gbsi_sparse_draws *sparse; /* NULL if no component has sparse tables */
    uint32_t *x;               /* [variables of the trees' model] scratch */
    uint32_t *user;            /* [model variables] scratch */
} drawing;

static void drawing_free(drawing *d)
{
    gbsi_tables_free(d->tables);
    gbsi_sparse_draws_free(d->sparse);
    GBSI_FREE(d->x, d->user);
}

/* Prepares all trees for drawing states. */
static gbs_status take_tables(const gbsi_task *task, gbsi_engine *engine, gbsi_drive *drive,
                              gbsi_tables **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    const gbsi_tree *tree = task->problem.tree;
    const uint64_t bytes = gbsi_run_exact_limits(task).bytes;
    const gbsi_keep keep = gbsi_run_draw_keep(task);
    GBSI_TRY(gbsi_exact_check_bytes(tree, keep, bytes, err));
    GBSI_TRY(take_pool(engine, &task->options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, keep, engine->pool, &tables, err));
    expect(drive, engine, tables, false);
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double log_z = 0.0;
        GBSI_TRY(tree_up(drive, task->problem.whole, tables, t, &log_z, err));
        gbsi_tables_next(tables, t);
    }
    gbsi_tree_accumulate(tables);
    *out = tables;
    tables = NULL;

cleanup:
    gbsi_tables_free(tables);
    return status;
}

static gbs_status take_drawing(const gbsi_task *task, gbsi_engine *engine, gbsi_drive *drive,
                               drawing *d, gbs_error *err)
{
    const gbsi_problem *p = &task->problem;
    const size_t n = p->model->n_variables;
    const size_t n_drawn =
        p->tree != NULL ? p->tree->model->n_variables
        : p->sparse != NULL
            ? p->sparse->n_variables /* trees and sparse tables have the same variables */
            : p->whole->n_variables;
    drive->share = drive->exact_share;
    if (p->tree != NULL) {
        GBSI_PASS(take_tables(task, engine, drive, &d->tables, err));
    }
    GBSI_PASS(gbsi_sparse_draws_new(p->sparse, &drive->watch, &d->sparse, err));
    drive->share = 1.0;
    if (gbsi_watch_stopped(&drive->watch)) {
        GBSI_PASS(gbsi_stopped_early(drive, "calibrating sparse tables", err));
    }
    d->x = gbsi_alloc_array(n_drawn, sizeof *d->x);
    d->user = gbsi_alloc_array(n, sizeof *d->user);
    GBSI_PASS(GBSI_HAVE(err, "run", d->x, d->user));
    memcpy(d->user, p->whole->fixed_state, n * sizeof *d->user);
    return GBS_OK;
}

static void tell(const gbs_run_options *options, const gbsi_report *report, gbsi_drive *drive)
{
    const double now_s = gbsi_clock_s();
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = report->public.sweeps,
                                   .passes = options->sweeps,
                                   .elapsed_s = now_s - drive->started_s,
                                   .worst_error = NAN,
                                   .target_error = report->public.target_error};
    if (drive->callbacks->progress != NULL &&
        drive->callbacks->progress(drive->callbacks->context, &progress) != 0) {
        drive->stop = GBSI_STOP_SIGNAL;
    } else {
        gbsi_drive_end_in_time(options, drive, now_s);
    }
}

/* Copies the last draw to the user's numbering. @return its log density. */
static double take_draw(const gbs_run_options *options, const gbsi_problem *problem,
                        const drawing *d, uint32_t chain, uint64_t draw)
{
    const gbsi_conditioned *whole = problem->whole;
    const uint32_t *x = d->x;
    if (problem->barren != NULL) {
        gbsi_barren_draw(problem->barren, x, options->seed, chain, draw);
        whole = problem->barren->full;
        x = problem->barren->x;
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        d->user[whole->user_variable[v]] = gbsi_conditioned_states(whole, v)[x[v]];
    }
    return gbsi_conditioned_log_density(whole, x);
}

/* Makes one draw for each chain. */
static gbs_status draw_chains(const gbsi_task *task, const gbsi_report *report,
                              const gbsi_drive *drive, drawing *d, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t draw = report->public.sweeps / task->options.thin - 1;
    for (uint32_t chain = 0; chain < task->options.chains && status >= 0; ++chain) {
        if (d->tables != NULL) {
            gbsi_tree_draw(d->tables, task->options.seed, chain, draw, d->x);
        }
        gbsi_sparse_draw(d->sparse, task->options.seed, chain, draw, d->x);
        const bool speaks = drive->callbacks->draw != NULL && gbsi_run_speaks(task->ranks);
        const double density = take_draw(&task->options, &task->problem, d, chain, draw);
        if (speaks) {
            status = drive->callbacks->draw(drive->callbacks->context, draw, chain, density,
                                            d->user, err);
        }
    }
    return status;
}

/* Number of draws of each chain. It is the user's number or, if barren variables are estimated, the
 * number of draws that a fair coin needs for the target error. */
static uint64_t barren_sweeps(const gbs_run_options *options, const gbsi_problem *problem,
                              const gbsi_report *report)
{
    const double target = report->public.target_error;
    const double chains = (double)options->chains;
    if (problem->barren == NULL || options->sweeps > 0 || target == 0.0) {
        return options->sweeps;
    }
    return (uint64_t)(0.25 / (target * target) / chains) + 1;
}

gbs_status gbsi_run_sample_exactly(const gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                   gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    drawing d = {0};
    const uint64_t sweeps = barren_sweeps(&task->options, &task->problem, report);
    if ((drive->callbacks->draw == NULL && task->problem.barren == NULL) || sweeps == 0) {
        return GBS_OK;
    }
    if (task->problem.cutset != NULL || task->problem.codewords != NULL) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                           "exact samples: tables of %.3g entries are too many to draw from: "
                           "sample with Markov chains",
                           report->public.exact.entries));
    }
    GBSI_TRY(take_drawing(task, engine, drive, &d, err));
    while (report->public.sweeps < sweeps && drive->stop == GBSI_GO_ON) {
        ++report->public.sweeps;
        if (report->public.sweeps % task->options.thin == 0) {
            GBSI_TRY(draw_chains(task, report, drive, &d, err));
        }
        if ((d.tables != NULL && d.tables->keep != GBSI_KEEP_ALL) ||
            report->public.sweeps % DRAWS_A_LOOK == 0) {
            tell(&task->options, report, drive);
        }
    }

cleanup:
    drawing_free(&d);
    return status;
}
