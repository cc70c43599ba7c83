/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees inside a run: which components get one, their marginals, exact samples. */
#include "sampler/exact_part.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exact/enumerate.h"
#include "exact/solve.h"
#include "sampler/run_memory.h"
#include "sampler/run_options.h"

#define SHARED       ((size_t)1 << 18) /* table entries from which on threads are worth starting */
#define DRAWS_A_LOOK 256u              /* between looks at the clock */
#define DRAW_NS      100.0             /* of a clique and draw */

/* ---- choosing ------------------------------------------------------------------------------ */

/* What `auto` takes the memory to be without --memory-limit: it decides alike on all machines. */
#define AUTO_BYTES (UINT64_C(4) << 30)

/* Bytes that are left beside what stands there anyway. */
static uint64_t bytes_left(const gbs_run *run)
{
    const uint64_t limit = gbsi_options_memory_limit(&run->options);
    const uint64_t standing =
        gbsi_components_standing(run->problem.components, run->problem.whole_graph);
    return limit > standing ? limit - standing : 0;
}

/* Whether a most probable state is asked for: gbs_map(). */
static bool maximises(const gbsi_run_purpose *purpose)
{
    return purpose->anneals && !purpose->up_only;
}

gbsi_exact_limits gbsi_run_exact_limits(const gbs_run *run)
{
    return (gbsi_exact_limits){.entries = GBSI_MOST_ENTRIES,
                               .bytes = bytes_left(run),
                               .maximise = maximises(&run->purpose)};
}

double gbsi_run_auto_ns(const gbs_run_options *o)
{
    return 0.5e9 * (o->time_s > 0.0 ? o->time_s : o->budget_s);
}

uint64_t gbsi_run_auto_bytes(const gbs_run *run)
{
    return run->options.memory_limit != 0 ? bytes_left(run) : AUTO_BYTES;
}

/* What a component may have if it has all the time. */
static gbsi_exact_limits auto_limits(const gbs_run *run)
{
    const double entries = gbsi_run_auto_ns(&run->options) / GBSI_STACK_NS;
    return (gbsi_exact_limits){.entries = entries < (double)GBSI_MOST_ENTRIES ? (uint64_t)entries
                                                                              : GBSI_MOST_ENTRIES,
                               .bytes = gbsi_run_auto_bytes(run),
                               .maximise = maximises(&run->purpose)};
}

/* What exact answers take or would take, for the report. */
static void report_cost(gbs_run *run, const gbsi_exact_plan *plan)
{
    gbs_exact_cost *cost = &run->report.public.exact;
    const gbsi_cutset *cutset = run->problem.cutset;
    cost->counted = 1;
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        if (cutset != NULL && cutset->component == i) {
            cost->entries += cutset->entries;
            cost->n_cases += (int)cutset->cases.n;
            cutset = cutset->next;
            continue;
        }
        cost->entries += (double)plan->elimination->part[i].entries;
        cost->counted = cost->counted != 0 && gbsi_exact_fits(plan, i);
    }
    cost->seconds = cost->entries * 1e-9 * (run->purpose.up_only ? GBSI_STACK_NS : GBSI_TABLES_NS);
}

gbs_status gbsi_run_auto_cutsets(const gbs_run *run, const gbsi_exact_plan *plan,
                                 const gbsi_tree *tree, const uint8_t *take, gbsi_cutset **out,
                                 gbs_error *err)
{
    const uint64_t bytes = gbsi_run_auto_bytes(run);
    const gbsi_keep keep =
        tree != NULL ? gbsi_exact_keep(tree, run->purpose.up_only, bytes) : GBSI_KEEP_ALL;
    const double spent = tree != NULL ? (double)tree->n_entries * gbsi_exact_entry_ns(keep) : 0.0;
    const gbsi_cutset_limits left = {.ns = gbsi_run_auto_ns(&run->options) - spent,
                                     .bytes = bytes / 2,
                                     .up_only = run->purpose.up_only,
                                     .maximise = maximises(&run->purpose)};
    return gbsi_cutsets_new(run->problem.components, plan, &left, take, out, err);
}

/* Answers the components that have a cutset exactly. */
static void take_cutsets(gbs_run *run, gbsi_cutset *first)
{
    run->problem.cutset = first;
    for (; first != NULL; first = first->next) {
        run->problem.exact[first->component] = 1;
    }
}

/* Whether the trees hold all components, and the tables of all of them can be kept and drawn from,
 * after marginals are computed, within what `auto` allows. */
static bool is_drawn_exactly(const gbs_run *run)
{
    const gbsi_tree *tree = run->problem.tree;
    const gbs_run_options *o = &run->options;
    if (tree == NULL || memchr(run->problem.exact, 0, run->problem.components->n) != NULL) {
        return false;
    }
    const uint64_t n_kept = o->sweeps / o->thin; /* of a chain */
    const double ns = (double)tree->n_entries * (GBSI_TABLES_NS + GBSI_STACK_NS) +
                      (double)n_kept * (double)o->chains * (double)tree->n_cliques * DRAW_NS;
    return ns <= gbsi_run_auto_ns(&run->options) &&
           gbsi_exact_bytes(tree, GBSI_KEEP_ALL) <= gbsi_run_auto_bytes(run);
}

static gbs_status choose_auto(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    gbsi_cutset *first = NULL;
    const gbsi_exact_limits limits = auto_limits(run);
    if (gbsi_exact_check_search(run->problem.whole, limits.bytes, NULL) == GBS_OK) {
        GBSI_TRY(
            gbsi_exact_plan_new(run->problem.whole, run->problem.whole_graph, &limits, &plan, err));
        GBSI_TRY(gbsi_exact_plan_choose(plan, run->purpose.up_only, gbsi_run_auto_ns(&run->options),
                                        limits.bytes, run->problem.exact, &run->problem.tree, err));
        if (!run->purpose.draws) {
            GBSI_TRY(gbsi_run_auto_cutsets(run, plan, run->problem.tree, run->problem.exact, &first,
                                           err));
            take_cutsets(run, first);
        } else if (!is_drawn_exactly(run)) {
            gbsi_exact_plan_take_back(plan, run->problem.tree);
            run->problem.tree = NULL;
            memset(run->problem.exact, 0, run->problem.components->n);
        }
        report_cost(run, plan);
    }
    for (uint32_t i = 0; i < run->problem.components->n; ++i) {
        if (run->problem.exact[i] == 0 && !maximises(&run->purpose) && !run->purpose.draws &&
            run->problem.components->n_states[i] <= GBSI_ENUMERATE_AUTO_STATES) {
            run->problem.exact[i] = 1;
            run->problem.enumerated[i] = 1;
        }
    }

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

static gbs_status choose_all(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    gbsi_cutset *first = NULL;
    uint8_t *trees = gbsi_alloc_array(run->problem.components->n, 1);
    gbsi_deadline deadline = {.begun_s = gbsi_clock_s(), .time_s = run->options.time_s};
    gbsi_watch watch = {.look = gbsi_deadline_is_over, .context = &deadline};
    gbsi_exact_limits limits = gbsi_run_exact_limits(run);
    limits.watch = &watch;
    if (trees == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "components", run->problem.components->n));
    }
    GBSI_TRY(gbsi_exact_check_search(run->problem.whole, limits.bytes, err));
    GBSI_TRY(
        gbsi_exact_plan_new(run->problem.whole, run->problem.whole_graph, &limits, &plan, err));
    for (uint32_t i = 0; i < run->problem.components->n; ++i) {
        trees[i] = gbsi_exact_fits(plan, i);
    }
    const gbsi_cutset_limits most = {.ns = GBSI_CUTSET_NS,
                                     .bytes = limits.bytes / 2,
                                     .up_only = run->purpose.up_only,
                                     .maximise = limits.maximise,
                                     .watch = &watch};
    GBSI_TRY(gbsi_cutsets_new(run->problem.components, plan, &most, trees, &first, err));
    memcpy(run->problem.exact, trees, run->problem.components->n);
    take_cutsets(run, first);
    for (uint32_t i = 0; i < run->problem.components->n; ++i) {
        const uint32_t v =
            run->problem.components->variable[run->problem.components->variable_start[i]];
        if (run->problem.exact[i] == 0) {
            GBSI_TRY(gbsi_exact_refuse(plan, i, run->problem.whole->user_variable[v], err));
        }
    }
    report_cost(run, plan);
    GBSI_TRY(gbsi_exact_plan_tree(plan, trees, &run->problem.tree, err));
    GBSI_TRY(gbsi_exact_check_bytes(
        run->problem.tree, gbsi_exact_keep(run->problem.tree, run->purpose.up_only, limits.bytes),
        limits.bytes, err));

cleanup:
    gbsi_free(trees);
    gbsi_exact_plan_free(plan);
    return status;
}

gbs_status gbsi_run_choose_exact(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = run->problem.components->n;
    run->problem.exact = gbsi_alloc_array_zero(n, 1);
    run->problem.enumerated = gbsi_alloc_array_zero(n, 1);
    if (run->problem.exact == NULL || run->problem.enumerated == NULL) {
        return gbsi_no_memory(err, "components", n);
    }
    if (gbsi_run_is_mean_field(run)) {
        memset(run->problem.exact, 1, n); /* none is sampled; mean_field_run.c answers */
    } else if (run->options.method == GBS_METHOD_AUTO) {
        GBSI_TRY(choose_auto(run, err));
    } else if (run->options.method == GBS_METHOD_EXACT) {
        GBSI_TRY(choose_all(run, err));
    }
    if (run->problem.tree != NULL) {
        const gbsi_tree *tree = run->problem.tree;
        const uint64_t bytes =
            run->options.method == GBS_METHOD_EXACT ? bytes_left(run) : gbsi_run_auto_bytes(run);
        run->problem.keep = gbsi_exact_keep(tree, run->purpose.up_only, bytes);
        run->problem.exact_bytes = gbsi_exact_bytes(tree, run->problem.keep);
    }
    for (const gbsi_cutset *c = run->problem.cutset; c != NULL; c = c->next) {
        run->problem.exact_bytes += c->bytes;
    }

cleanup:
    return status;
}

/* ---- marginals ----------------------------------------------------------------------------- */

static gbs_status take_pool(gbsi_engine *engine, const gbs_run_options *options, size_t n_entries,
                            gbs_error *err)
{
    if (engine->pool != NULL || n_entries < SHARED) {
        return GBS_OK;
    }
    return gbsi_pool_new(gbsi_options_threads(options), &engine->pool, err);
}

/* Messages up, watched. @return GBS_ERR_IMPOSSIBLE if no state has positive weight. */
static gbs_status tree_up(gbsi_drive *drive, gbsi_tables *tables, uint32_t t, double *log_z,
                          gbs_error *err)
{
    tables->watch = &drive->watch;
    gbsi_tree_up(tables, t, log_z);
    if (gbsi_watch_stopped(tables->watch)) {
        return gbsi_stopped_early(drive, "calibrating junction trees", err);
    }
    return *log_z == -INFINITY ? gbsi_impossible(err) : GBS_OK;
}

/* @param log_z in and out: what is found is added. */
static gbs_status calibrate(gbs_run *run, gbsi_drive *drive, double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    const gbsi_tree *tree = run->problem.tree;
    const uint32_t n = tree->model->n_variables;
    uint32_t *home = gbsi_alloc_array(n, sizeof *home);
    if (home == NULL) {
        return gbsi_no_memory(err, "junction tree", n * sizeof *home);
    }
    gbsi_tree_homes(tree, home);
    for (uint32_t v = run->problem.whole->n_variables; v < n; ++v) {
        home[v] = GBSI_NONE; /* of chains */
    }
    GBSI_TRY(take_pool(&run->engine, &run->options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, run->problem.keep, run->engine.pool, &tables, err));
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double part = 0.0;
        GBSI_TRY(tree_up(drive, tables, t, &part, err));
        *log_z += part;
        gbsi_tree_down(tables, t, home, run->estimates.exact_p, NULL, 0);
        if (gbsi_watch_stopped(tables->watch)) {
            GBSI_TRY(gbsi_stopped_early(drive, "calibrating junction trees", err));
        }
    }

cleanup:
    gbsi_tables_free(tables);
    gbsi_free(home);
    return status;
}

/* After a cutset was answered. @return GBS_ERR_IMPOSSIBLE if no state has positive weight. */
static gbs_status check_cutset(const gbsi_drive *drive, double log_z, gbs_error *err)
{
    if (gbsi_watch_stopped(&drive->watch)) {
        return gbsi_stopped_early(drive, "answering the cases of a cutset", err);
    }
    return log_z == -INFINITY ? gbsi_impossible(err) : GBS_OK;
}

/* @param p NULL: ln Z alone. @param log_z in and out: what is found is added. */
static gbs_status sum_cutsets(gbs_run *run, gbsi_drive *drive, double *p, double *log_z,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (const gbsi_cutset *c = run->problem.cutset; c != NULL; c = c->next) {
        double part = 0.0;
        GBSI_TRY(take_pool(&run->engine, &run->options, c->tree->n_tables, err));
        GBSI_TRY(gbsi_cutset_sum(c, run->engine.pool, &drive->watch, p, &part, err));
        GBSI_TRY(check_cutset(drive, part, err));
        *log_z += part;
    }

cleanup:
    return status;
}

/* Components of few states, watched. @param log_z as of gbsi_components_enumerate(). */
static gbs_status enumerate(gbs_run *run, gbsi_drive *drive, double *log_z, gbs_error *err)
{
    const gbs_status status =
        gbsi_components_enumerate(run->problem.components, run->problem.enumerated, &drive->watch,
                                  run->estimates.exact_p, log_z, err);
    return gbsi_watch_stopped(&drive->watch)
               ? gbsi_stopped_early(drive, "enumerating the states of small components", err)
               : status;
}

gbs_status gbsi_run_exactly(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double log_z = 0.0;
    GBSI_TRY(enumerate(run, drive, &log_z, err));
    if (run->problem.tree != NULL) {
        GBSI_TRY(calibrate(run, drive, &log_z, err));
    }
    GBSI_TRY(sum_cutsets(run, drive, run->estimates.exact_p, &log_z, err));
    if (run->problem.part == NULL) {
        run->report.public.log_z = run->problem.whole->log_constant + log_z;
    } else { /* sampling has better use for the memory */
        gbsi_tree_free(run->problem.tree);
        gbsi_cutsets_free(run->problem.cutset);
        run->problem.tree = NULL;
        run->problem.cutset = NULL;
    }

cleanup:
    return status;
}

/* ---- ln Z ---------------------------------------------------------------------------------- */

gbs_status gbsi_run_exact_log_z(gbs_run *run, gbsi_drive *drive, double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    *log_z = 0.0;
    GBSI_TRY(enumerate(run, drive, log_z, err));
    GBSI_TRY(sum_cutsets(run, drive, NULL, log_z, err));
    if (run->problem.tree == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(take_pool(&run->engine, &run->options, run->problem.tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(run->problem.tree, run->problem.keep, run->engine.pool, &tables, err));
    for (uint32_t t = 0; t < run->problem.tree->n_trees; ++t) {
        double part = 0.0;
        GBSI_TRY(tree_up(drive, tables, t, &part, err));
        *log_z += part;
    }

cleanup:
    gbsi_tables_free(tables);
    return status;
}

/* ---- the most probable state --------------------------------------------------------------- */

/* @param x [variables of the trees' model] out. */
static gbs_status maximise_trees(gbs_run *run, gbsi_drive *drive, uint32_t *x, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_tree *tree = run->problem.tree;
    gbsi_tables *tables = NULL;
    GBSI_TRY(take_pool(&run->engine, &run->options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, run->problem.keep, run->engine.pool, &tables, err));
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double most = 0.0;
        GBSI_TRY(tree_up(drive, tables, t, &most, err));
        gbsi_tree_trace(tables, t, x);
    }

cleanup:
    gbsi_tables_free(tables);
    return status;
}

gbs_status gbsi_run_exact_map(gbs_run *run, gbsi_drive *drive, uint32_t *state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *whole = run->problem.whole;
    const gbsi_tree *tree = run->problem.tree;
    const size_t n = tree != NULL ? tree->model->n_variables : whole->n_variables;
    uint32_t *x = gbsi_alloc_array_zero(n, sizeof *x);
    if (x == NULL) {
        return gbsi_no_memory(err, "map", n * sizeof *x);
    }
    if (tree != NULL) {
        GBSI_TRY(maximise_trees(run, drive, x, err));
    }
    for (const gbsi_cutset *c = run->problem.cutset; c != NULL; c = c->next) {
        double most = 0.0;
        GBSI_TRY(take_pool(&run->engine, &run->options, c->tree->n_tables, err));
        GBSI_TRY(gbsi_cutset_maximise(c, run->engine.pool, &drive->watch, x, &most, err));
        GBSI_TRY(check_cutset(drive, most, err));
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        if (run->problem.exact[run->problem.components->of[v]] != 0) {
            state[whole->user_variable[v]] = whole->user_state[whole->state_offset[v] + x[v]];
        }
    }

cleanup:
    gbsi_free(x);
    return status;
}

/* ---- samples ------------------------------------------------------------------------------- */

/* All trees, ready to be drawn from: their tables, or their messages alone if tables do not fit. */
static gbs_status take_tables(gbs_run *run, gbsi_drive *drive, gbsi_tables **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    const gbsi_tree *tree = run->problem.tree;
    const uint64_t bytes = bytes_left(run);
    const gbsi_keep keep =
        gbsi_exact_bytes(tree, GBSI_KEEP_ALL) <= bytes ? GBSI_KEEP_ALL : GBSI_KEEP_ALL_MESSAGES;
    GBSI_TRY(gbsi_exact_check_bytes(tree, keep, bytes, err));
    GBSI_TRY(take_pool(&run->engine, &run->options, tree->n_tables, err));
    GBSI_TRY(gbsi_tables_new(tree, keep, run->engine.pool, &tables, err));
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double log_z = 0.0;
        GBSI_TRY(tree_up(drive, tables, t, &log_z, err));
        gbsi_tables_next(tables, t);
    }
    gbsi_tree_accumulate(tables);
    *out = tables;
    tables = NULL;

cleanup:
    gbsi_tables_free(tables);
    return status;
}

static void tell(gbs_run *run, gbsi_drive *drive)
{
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = run->report.public.sweeps,
                                   .passes = run->options.sweeps,
                                   .elapsed_s = gbsi_clock_s() - drive->started_s,
                                   .worst_error = NAN,
                                   .target_error = run->report.public.target_error};
    if (drive->callbacks->progress != NULL &&
        drive->callbacks->progress(drive->callbacks->context, &progress) != 0) {
        drive->stop = GBSI_STOP_SIGNAL;
    } else if (run->options.time_s > 0.0 && progress.elapsed_s > run->options.time_s) {
        drive->stop = GBSI_STOP_TIME;
    }
}

/* One draw of each chain. @param x, user scratch. */
static gbs_status draw_chains(const gbs_run *run, const gbsi_drive *drive, gbsi_tables *tables,
                              uint32_t *x, uint32_t *user, gbs_error *err)
{
    const gbsi_conditioned *whole = run->problem.whole;
    gbs_status status = GBS_OK;
    const uint64_t draw = run->report.public.sweeps / run->options.thin - 1;
    for (uint32_t chain = 0; chain < run->options.chains && status >= 0; ++chain) {
        gbsi_tree_draw(tables, run->options.seed, chain, draw, x);
        for (uint32_t v = 0; v < whole->n_variables; ++v) {
            user[whole->user_variable[v]] = whole->user_state[whole->state_offset[v] + x[v]];
        }
        status = drive->callbacks->draw(drive->callbacks->context, draw, chain,
                                        gbsi_conditioned_log_density(whole, x), user, err);
    }
    return status;
}

gbs_status gbsi_run_sample_exactly(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tables *tables = NULL;
    uint32_t *x = NULL;
    uint32_t *user = NULL;
    const size_t n = run->problem.model->n_variables;
    if (drive->callbacks->draw == NULL || run->options.sweeps == 0) {
        return GBS_OK;
    }
    if (run->problem.cutset != NULL) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                           "exact samples: tables of %.3g entries are too many to draw from: "
                           "sample with Markov chains",
                           run->report.public.exact.entries));
    }
    GBSI_TRY(take_tables(run, drive, &tables, err));
    x = gbsi_alloc_array(run->problem.tree->model->n_variables, sizeof *x);
    user = gbsi_alloc_array(n, sizeof *user);
    if (x == NULL || user == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "run", n * sizeof *user));
    }
    memcpy(user, run->problem.whole->fixed_state, n * sizeof *user);
    while (run->report.public.sweeps < run->options.sweeps && drive->stop == GBSI_GO_ON) {
        ++run->report.public.sweeps;
        if (run->report.public.sweeps % run->options.thin == 0) {
            GBSI_TRY(draw_chains(run, drive, tables, x, user, err));
        }
        if (tables->keep != GBSI_KEEP_ALL || run->report.public.sweeps % DRAWS_A_LOOK == 0) {
            tell(run, drive);
        }
    }

cleanup:
    gbsi_tables_free(tables);
    gbsi_free(x);
    gbsi_free(user);
    return status;
}
