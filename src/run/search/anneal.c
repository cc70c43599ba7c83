/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated annealing by Gibbs sampling (Kirkpatrick, Gelatt & Vecchi 1983, Science 220:671-680;
 * Geman & Geman 1984): values are drawn from p_v^(1/tau) while tau falls [M27]. After each sweep,
 * the log density of every chain is computed afresh as a sum over all factors, in double. Errors
 * therefore do not accumulate, and the best state depends neither on threads nor on the instruction
 * set. */
#include "search/anneal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "chains/density.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "simd/math.h"
#include "solve/solve.h"

#define FIRST_ROUND  64u /* number of sweeps, if --sweeps is not given */
#define ROUND_GROWTH 2u
#define LEAST_ROUNDS 5u

/* Frees the results of a search; another search may be opened in the same struct. */
static void search_free(gbsi_search *s)
{
    gbsi_quench_free(s->quench);
    gbsi_bound_free(s->bound);
    gbsi_conditioned_free(s->chained);
    GBSI_FREE(s->density, s->x, s->best_x, s->kept_x, s->kept_lanes, s->state);
    gbs_run_free(s->run);
    s->run = NULL;
    s->drive.run = NULL;
    s->quench = NULL;
    s->bound = NULL;
    s->chained = NULL;
    s->round_ns = 0.0;
    s->n_bound_rounds = 0;
    s->density = NULL;
    s->x = s->best_x = s->kept_x = s->kept_lanes = s->state = NULL;
    s->at = (gbsi_search_standing){.upper = INFINITY};
}

/* ---- densities ------------------------------------------------------------------------------- */

/* Returns the chain with the largest log density; of several such chains, the first. Padded lanes
 * are not considered. */
static uint32_t best_chain(gbsi_search *s)
{
    const gbsi_executor *x = &s->run->sampling.engine.executor;
    uint32_t best = 0;
    gbsi_executor_log_density(x, s->density);
    for (uint32_t chain = 1; chain < x->n_chains; ++chain) {
        best = s->density[chain] > s->density[best] ? chain : best;
    }
    return best;
}

static gbs_status look(gbsi_search *s, gbs_error *err)
{
    const uint32_t chain = best_chain(s);
    if (!(s->density[chain] > s->at.best)) {
        return GBS_OK;
    }
    gbsi_executor_get(&s->run->sampling.engine.executor, chain, s->x);
    return gbsi_search_consider(s, s->density[chain], err);
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* Temperature tau_t of sweep t = 1 .. n, which falls from tau0 to tau0 / n:
 *     linear  tau0 (1 - (t - 1) / n)        geometric  tau0 n^(-(t - 1) / (n - 1)) */
static double temperature(gbs_schedule_kind schedule, double tau0, uint64_t t, uint64_t n)
{
    if (schedule == GBS_SCHEDULE_LINEAR || n == 1) {
        return tau0 * (1.0 - (double)(t - 1) / (double)n);
    }
    return tau0 * gbsi_exp(-gbsi_log((double)n) * ((double)(t - 1) / (double)(n - 1)));
}

/* Half of the range of the finite log-weights of a factor, approximately. */
static double half_spread(const gbsi_factors *f, size_t i)
{
    if (!gbsi_has_table(f->kind[i])) {
        const double weight = fabs(f->weight[i]);
        const bool spins = f->kind[i] != GBS_FACTOR_POTTS && f->kind[i] != GBS_FACTOR_LOGICAL;
        return weight == INFINITY ? 0.0 : spins ? weight : 0.5 * weight;
    }
    const uint32_t table = f->aux[i]; /* the table of a noisy factor is represented by its slope,
                                         which is about the effect of one cause */
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t e = f->table_start[table]; e < f->table_start[table + (size_t)1]; ++e) {
        least = f->table[e] > -INFINITY && f->table[e] < least ? f->table[e] : least;
        most = f->table[e] > most ? f->table[e] : most;
    }
    return most > least ? 0.5 * (most - least) : 0.0;
}

/* Computes the first temperature tau0, the mean over variables v of
 *     sqrt(sum over factors f of v of (half the spread of ln psi_f)^2):
 * For spins with d couplings +-J this mean is J sqrt(d), the temperature at which a glass freezes
 * in mean field (Sherrington & Kirkpatrick 1975, Physical Review Letters 35:1792-1796). If the mean
 * is 0, tau0 is 1. The time is proportional to the lengths of all scopes plus the entries of the
 * tables of all factors. */
static gbs_status first_temperature(const gbsi_conditioned *model, double *tau0, gbs_error *err)
{
    const gbsi_factors *f = &model->factors;
    double *squares = gbsi_alloc_array_zero(model->n_variables, sizeof *squares);
    GBSI_PASS(GBSI_HAVE(err, "map", squares));
    for (size_t i = 0; i < f->n_factors; ++i) {
        const double half = half_spread(f, i);
        for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
            squares[f->scope[k]] += half * half;
        }
    }
    double sum = 0.0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        sum += gbsi_sqrt(squares[v]);
    }
    gbsi_free(squares);
    *tau0 = sum > 0.0 ? sum / model->n_variables : 1.0;
    return GBS_OK;
}

static gbs_status sweep(gbsi_search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = s->run;
    gbsi_search_standing *at = &s->at;
    const gbs_schedule_kind schedule = (gbs_schedule_kind)run->task.options.schedule;
    while (at->t < at->n && s->drive.stop == GBSI_GO_ON) {
        ++at->t;
        if (s->heats) {
            const float beta = (float)(1.0 / temperature(schedule, at->tau0, at->t, at->n));
            GBSI_TRY(gbsi_executor_heat(&run->sampling.engine.executor, beta, err));
        }
        GBSI_TRY(gbsi_run_pass(&run->task, &run->sampling, &run->checkpoints, &run->report,
                               &s->drive, false, err));
        ++run->report.public.sweeps;
        GBSI_TRY(look(s, err));
        GBSI_TRY(gbsi_search_keep(s, err));
    }
cleanup:
    return status;
}

static double operations_so_far(const gbsi_search *s)
{
    const gbsi_executor *x = &s->run->sampling.engine.executor;
    return x->pass->operations(x->pass_state, x->n_chains);
}

/* Lowers the upper bound after an annealing, and asks belief propagation for a state. The guess
 * takes at most as long as all sweeps before it. */
static gbs_status follow(gbsi_search *s, gbs_error *err)
{
    GBSI_PASS(gbsi_search_bound(s, operations_so_far(s), err));
    if (s->run->task.options.sweeps == 0 && s->heats && !gbsi_search_is_proved(s)) {
        GBSI_PASS(gbsi_search_guess(s, operations_so_far(s), err));
    }
    return GBS_OK;
}

/* Runs one annealing, starting at its current temperature. */
static gbs_status anneal(gbsi_search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (s->at.stage == GBSI_STAGE_SWEEP) {
        GBSI_TRY(sweep(s, err));
        ++s->at.rounds;
    }
    if (s->at.stage != GBSI_STAGE_OVER) {
        GBSI_TRY(gbsi_search_quench(s, operations_so_far(s) - s->at.spent, err));
    }
    GBSI_TRY(follow(s, err));
cleanup:
    return status;
}

static void begin_annealing(gbsi_search *s, uint64_t n)
{
    s->at.n = n;
    s->at.t = 0;
    s->at.stage = GBSI_STAGE_SWEEP;
    s->at.before = s->at.best;
    s->at.spent = operations_so_far(s);
}

static gbs_status anneal_rounds(gbsi_search *s, gbs_error *err)
{
    const gbs_run_options *options = &s->run->task.options;
    const bool once = options->sweeps > 0;
    if (s->at.n == 0 && !once && s->drive.stop != GBSI_GO_ON) {
        return GBS_OK;
    }
    if (s->at.n == 0 && !once && gbsi_search_is_proved(s)) {
        s->drive.stop = GBSI_STOP_BOUND;
        return gbsi_search_keep(s, err);
    }
    if (s->at.n == 0) {
        begin_annealing(s, once ? options->sweeps : FIRST_ROUND);
    }
    for (;;) {
        GBSI_PASS(anneal(s, err));
        if (s->drive.stop == GBSI_GO_ON && once) {
            s->drive.stop = GBSI_STOP_SWEEPS;
        } else if (s->drive.stop == GBSI_GO_ON && gbsi_search_is_proved(s)) {
            s->drive.stop = GBSI_STOP_BOUND;
        } else if (s->drive.stop == GBSI_GO_ON && options->time_s == 0.0 &&
                   s->at.rounds >= LEAST_ROUNDS && !(s->at.best > s->at.before)) {
            s->drive.stop = GBSI_STOP_SETTLED;
        }
        if (s->drive.stop != GBSI_GO_ON) {
            break;
        }
        begin_annealing(s, s->at.n * ROUND_GROWTH);
    }
    return gbsi_search_keep(s, err);
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Computes the log density of a state of all variables. */
static gbs_status whole_density(const gbsi_problem *problem, const uint32_t *state, double *density,
                                gbs_error *err)
{
    const gbsi_conditioned *whole = problem->whole;
    uint32_t *x = gbsi_alloc_array(whole->n_variables, sizeof *x);
    GBSI_PASS(GBSI_HAVE(err, "map", x));
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        const uint32_t *states = gbsi_conditioned_states(whole, v);
        x[v] = 0;
        while (x[v] + 1 < whole->arity[v] && states[x[v]] != state[whole->user_variable[v]]) {
            ++x[v];
        }
    }
    *density = gbsi_exact_log_density(whole, x);
    gbsi_free(x);
    return GBS_OK;
}

static void fill_fixed(const gbsi_problem *problem, uint32_t *state)
{
    for (uint32_t u = 0; u < problem->model->n_variables; ++u) {
        const uint32_t fixed = problem->whole->fixed_state[u];
        state[u] = fixed == GBSI_NONE ? 0 : fixed;
    }
}

static gbs_status take_room(gbsi_search *s, gbs_error *err)
{
    const gbsi_executor *x = &s->run->sampling.engine.executor;
    const size_t n = s->run->task.problem.part->n_variables;
    s->density = gbsi_alloc_array((size_t)x->n_groups * x->lanes, sizeof *s->density);
    s->x = gbsi_alloc_array(n, sizeof *s->x);
    s->best_x = gbsi_alloc_array(n, sizeof *s->best_x);
    bool all = s->density != NULL && s->x != NULL && s->best_x != NULL;
    if (s->run->checkpoints.path != NULL) {
        s->kept_x = gbsi_alloc_array(n, sizeof *s->kept_x);
        s->kept_lanes = gbsi_alloc_array((size_t)GBSI_BLOCK_LANES * n, sizeof *s->kept_lanes);
        all = all && s->kept_x != NULL && s->kept_lanes != NULL;
    }
    return all ? GBS_OK : gbsi_no_memory(err, "map", n * sizeof *s->x);
}

/* Finds the most probable states of the exact components, within their share of --time. */
static gbs_status solve_exactly(gbsi_search *s, gbs_error *err)
{
    gbs_run *run = s->run;
    s->drive.share = s->exact_share;
    const gbs_status status = gbsi_run_exact_map(&run->task.options, &run->task.problem,
                                                 &run->sampling.engine, &s->drive, s->state, err);
    s->drive.share = 1.0;
    return status;
}

/* Begins the search. The exact components are solved here; this is done once. The other components
 * start from the state of chain 0. */
static gbs_status begin(gbsi_search *s, gbs_error *err)
{
    gbs_run *run = s->run;
    double whole = 0.0;
    s->at.block_share = run->task.options.block_time < 1.0 ? run->task.options.block_time : 1.0;
    s->at.tau0 = run->task.options.tau0;
    if (s->at.tau0 == 0.0) {
        GBSI_PASS(first_temperature(run->task.problem.part, &s->at.tau0, err));
    }
    GBSI_PASS(gbsi_run_set_starts(&run->task, &run->sampling.engine, &run->report, &s->drive, err));
    (void)best_chain(s);
    fill_fixed(&run->task.problem, s->state);
    gbsi_run_user_state(&run->sampling.engine, &run->task.problem, 0, s->best_x, s->state);
    s->at.best = s->density[0];
    if (run->report.public.n_exact_variables > 0) {
        GBSI_PASS(solve_exactly(s, err));
        GBSI_PASS(whole_density(&run->task.problem, s->state, &whole, err));
        s->at.offset = whole - s->at.best;
    }
    GBSI_PASS(look(s, err));
    return gbsi_search_first_bound(s, err);
}

static gbs_status find(gbsi_search *s, gbs_error *err)
{
    gbsi_checkpoints *c = &s->run->checkpoints;
    c->more = (gbsi_more){
        .name = "search", .object = s, .save = gbsi_search_save, .load = gbsi_search_load};
    s->run->sampling.phase = GBSI_PHASE_SAMPLING;
    GBSI_PASS(take_room(s, err));
    GBSI_PASS(c->from != NULL ? gbsi_run_take_up(s->run, &s->drive, err) : begin(s, err));
    c->best = s->at.best + s->at.offset;
    GBSI_PASS(gbsi_run_keep(s->run, &s->drive, GBSI_BEFORE_PASSES, err));
    return anneal_rounds(s, err);
}

static gbs_status check_method(const gbs_run_options *options, gbs_error *err)
{
    if (options->temper > GBS_TEMPER_OFF) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--temper applies to marginals and logz only");
    }
    if (gbsi_options_approximate(options) || options->estimator == GBS_ESTIMATOR_TRACES) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--method: to find a most probable state, choose auto, exact or sample");
    }
    if (options->threshold == GBS_THRESHOLD_AUTO) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--threshold auto compares estimates of marginals, which a search for a "
                         "most probable state does not make");
    }
    if ((gbsi_draw_traits(options) & GBSI_DRAW_HEATS) == 0 && gbsi_options_anneal(options)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--schedule and --tau0 apply to --draw random only: other draws are not annealed");
    }
    return GBS_OK;
}

/* Opens a run for the search; `files` says whether checkpoints are written and from which one to
 * resume. */
static gbs_status open_run(gbsi_search *s, const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_run_options *options, const gbs_checkpoint_files *files,
                           gbs_error *err)
{
    gbs_run_options chosen = *options;
    const gbsi_run_purpose purpose = {.limited = true, .anneals = true};
    chosen.lattice = GBS_LATTICE_NEVER; /* lattices stored as bits have no temperatures */
    GBSI_PASS(gbsi_run_open(model, evidence, &chosen, &purpose, &s->run, err));
    GBSI_PASS(
        gbsi_run_note_inputs(&s->run->task.problem, &s->run->checkpoints, evidence, &chosen, err));
    GBSI_PASS(gbsi_run_take_files(s->run, files, err));
    s->drive.run = s->run;
    s->heats = (gbsi_draw_traits(&chosen) & GBSI_DRAW_HEATS) != 0;
    s->may_quench =
        s->heats &&
        chosen.block_time >
            0.0; /* all drawing methods other than the random draw run at temperature 1 */
    s->state = gbsi_alloc_array(model->n_variables, sizeof *s->state);
    return GBSI_HAVE(err, "map", s->state);
}

/* Reports the upper bound. It is never below the state found, and the gap is 0 if the difference is
 * rounding. The components that were answered exactly count with their exact maxima. */
static void report_bound(double part, double offset, gbs_map_report *found)
{
    const double rounding = offset == 0.0 ? 0.0 : 4.0 * DBL_EPSILON * (fabs(part) + fabs(offset));
    const double upper = part + offset + rounding;
    const bool proved = gbsi_bound_reaches(found->log_density, upper);
    found->upper_bound = upper > found->log_density ? upper : found->log_density;
    found->gap = proved ? 0.0 : found->upper_bound - found->log_density;
}

/* Writes the most probable state, or the best state found, to the report. */
static gbs_status answer(gbsi_search *s, gbs_map_report *found, gbs_error *err)
{
    const bool exact = s->run->task.problem.part == NULL;
    s->exact_share = gbsi_run_may_give_up(s->run) ? GBSI_EXACT_SHARE : 1.0;
    if (exact) {
        fill_fixed(&s->run->task.problem, s->state);
        GBSI_PASS(solve_exactly(s, err));
        GBSI_PASS(whole_density(&s->run->task.problem, s->state, &found->log_density, err));
        s->drive.stop = GBSI_STOP_EXACT;
        report_bound(found->log_density, 0.0, found);
    } else {
        GBSI_PASS(find(s, err));
        found->log_density = s->at.best + s->at.offset;
        found->final_log_density = s->density[best_chain(s)] + s->at.offset;
        report_bound(s->at.upper, s->at.offset, found);
    }
    return gbsi_run_tell_late(&s->run->report, err);
}

/* Replaces the search by a search with --method sample; called if the exact answers were not ready
 * in time. */
static gbs_status search_instead(gbsi_search *s, const gbs_model *model,
                                 const gbs_evidence *evidence, const gbs_run_options *options,
                                 const gbs_checkpoint_files *files, gbs_error *err)
{
    gbs_run_options sampled = *options;
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, s->drive.started_s, options->time_s);
    sampled.method = GBS_METHOD_SAMPLE;
    search_free(s);
    gbsi_watch *before = gbsi_watch_enter(&watch);
    const gbs_status status = open_run(s, model, evidence, &sampled, files, err);
    gbsi_watch_leave(before);
    GBSI_PASS(status);
    gbsi_drive_note_late(&s->drive, &s->run->report);
    gbsi_drive_go_on(&s->drive, false);
    return GBS_OK;
}

static void report_search(const gbsi_search *s, gbs_map_report *found)
{
    const gbs_report *r = &s->run->report.public;
    found->n_free_variables = r->n_free_variables;
    found->n_exact_variables = r->n_exact_variables;
    found->chains = s->run->task.problem.part == NULL ? 0 : r->chains;
    found->rounds = s->at.rounds;
    found->tau0 = s->at.tau0;
    found->exact = r->exact;
    found->sweeps = r->sweeps;
    found->updates = r->updates;
    found->seconds = s->run->checkpoints.before_s + gbsi_clock_s() - s->drive.started_s;
    (void)snprintf(found->stop, sizeof found->stop, "%s", gbsi_stop_text(s->drive.stop));
    if (r->n_warnings > 0) {
        (void)snprintf(found->warning, sizeof found->warning, "%s", r->warning[r->n_warnings - 1]);
    }
}

gbs_status gbs_map_with_checkpoints(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options,
                                    const gbs_checkpoint_files *files,
                                    const gbs_map_callbacks *callbacks, uint32_t *state,
                                    gbs_map_report *report, gbs_error *err)
{
    GBSI_NEED(model, state);
    GBSI_IN_STRUCT(files, gbs_checkpoint_files);
    GBSI_IN_STRUCT(callbacks, gbs_map_callbacks);
    GBSI_OUT_STRUCT(report, gbs_map_report);
    static const gbs_map_callbacks nobody = {0};
    gbs_status status = GBS_OK;
    gbsi_search s = {.callbacks = callbacks == NULL ? &nobody : callbacks, .at.upper = INFINITY};
    const gbs_run_callbacks watch = {.context = s.callbacks->context,
                                     .progress = s.callbacks->progress};
    gbs_map_report found = {.final_log_density = NAN};
    gbs_run_options taken;
    gbsi_drive_begin(&s.drive, NULL, &watch);
    GBSI_TRY(gbsi_options_take(options, &taken, err));
    GBSI_TRY(check_method(&taken, err));
    GBSI_TRY(open_run(&s, model, evidence, &taken, files, err));
    status = answer(&s, &found, err);
    if (status == GBS_ERR_STOPPED &&
        s.drive.stop == GBSI_GO_ON) { /* the share of --time for exact answers is used up */
        GBSI_TRY(search_instead(&s, model, evidence, &taken, files, err));
        status = answer(&s, &found, err);
    }
    GBSI_TRY(status);
    report_search(&s, &found);
    memcpy(state, s.state, model->n_variables * sizeof *state);
    gbsi_struct_give(report, &found, sizeof found);
    status = s.drive.stop >= GBSI_STOP_TIME ? GBS_STOPPED : GBS_OK;
cleanup:
    search_free(&s);
    return status;
}

gbs_status gbs_map(const gbs_model *model, const gbs_evidence *evidence,
                   const gbs_run_options *options, const gbs_map_callbacks *callbacks,
                   uint32_t *state, gbs_map_report *report, gbs_error *err)
{
    return gbs_map_with_checkpoints(model, evidence, options, NULL, callbacks, state, report, err);
}
