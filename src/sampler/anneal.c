/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated annealing by Gibbs sampling (Kirkpatrick, Gelatt & Vecchi 1983, Science 220:671-680;
 * Geman & Geman 1984): values are drawn from p_v^(1/tau) while tau falls [M27]. After each sweep
 * the log density of every chain is summed from all factors again, in double: no error builds up,
 * and which state is best depends neither on threads nor on the instruction set. */
#include "gibbsite/map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "exact/solve.h"
#include "sampler/density.h"
#include "sampler/exact_part.h"
#include "sampler/quench.h"
#include "sampler/run.h"
#include "sampler/run_options.h"
#include "simd/math.h"

#define FIRST_ROUND  64u /* sweeps, if --sweeps is not given */
#define ROUND_GROWTH 2u
#define LEAST_ROUNDS 5u
#define MOST_BLOCKS  32.0 /* times as long as the sweeps before them */
#define A_MOMENT_NS  1e8  /* for a quench after few sweeps, or once time is over */

typedef struct search {
    gbs_run *run;
    gbsi_drive drive;
    const gbs_map_callbacks *callbacks;
    bool heats;
    bool may_quench;     /* until plans of blocks are made, or there are none */
    gbsi_quench *quench; /* NULL: no blocks */
    uint64_t n_draws;    /* of blocks */
    double block_share;  /* their time for each of the sweeps before them */
    double *density; /* [n_groups * lanes] log densities of the sampled part after the last sweep */
    uint32_t *x;     /* [part variables] scratch */
    uint32_t *best_x; /* [part variables] the best state so far ... */
    uint32_t *state;  /* [model variables] ... with the components solved exactly */
    double tau0;      /* first temperature of an annealing */
    double best;      /* log density of the sampled part in that state */
    double offset;    /* log density of the rest of the model */
    uint64_t rounds;
} search;

static void search_free(search *s)
{
    gbsi_free(s->density);
    gbsi_quench_free(s->quench);
    gbsi_free(s->x);
    gbsi_free(s->best_x);
    gbsi_free(s->state);
    gbs_run_free(s->run);
}

/* ---- densities ------------------------------------------------------------------------------- */

/* The best chain, the first among equals; padded lanes do not count. */
static uint32_t best_chain(search *s)
{
    const gbsi_executor *x = &s->run->engine.executor;
    uint32_t best = 0;
    gbsi_executor_log_density(x, s->density);
    for (uint32_t chain = 1; chain < x->n_chains; ++chain) {
        best = s->density[chain] > s->density[best] ? chain : best;
    }
    return best;
}

/* A state of the part, in s->x. */
static gbs_status consider(search *s, double density, gbs_error *err)
{
    if (!(density > s->best)) {
        return GBS_OK;
    }
    s->best = density;
    memcpy(s->best_x, s->x, s->run->problem.part->n_variables * sizeof *s->x);
    gbsi_part_user_state(s->run->problem.part, s->x, s->state);
    return s->callbacks->improve == NULL
               ? GBS_OK
               : s->callbacks->improve(s->callbacks->context, s->best + s->offset, s->state, err);
}

static gbs_status look(search *s, gbs_error *err)
{
    const uint32_t chain = best_chain(s);
    if (!(s->density[chain] > s->best)) {
        return GBS_OK;
    }
    gbsi_executor_get(&s->run->engine.executor, chain, s->x);
    return consider(s, s->density[chain], err);
}

/* ---- quench -----------------------------------------------------------------------------------
 */

/* Raises sixteen states, and considers them. @param operations ns, at most. */
static gbs_status raise_states(search *s, double operations, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_quench_run(s->quench, operations, s->drive.stop == GBSI_GO_ON ? &s->drive.watch : NULL);
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(s->quench, lane, s->x);
        GBSI_TRY(consider(s, s->quench->density[lane], err));
    }

cleanup:
    return status;
}

/* Block draws get four times the time once they found a better state than the sweeps before them,
 * and a quarter once sweeps did. */
static void share_time(search *s, double before, double swept)
{
    if (s->best > swept) {
        s->block_share = s->block_share < MOST_BLOCKS / 4.0 ? 4.0 * s->block_share : MOST_BLOCKS;
    } else if (swept > before) {
        s->block_share = s->block_share > 4.0 ? 0.25 * s->block_share : 1.0;
    }
}

/* The chains' states and, in place of the last, the best so far, by maxima over blocks; when time
 * is over only if that takes a moment. Then the same from where block draws lead as it gets colder.
 * @param operations of the sweeps, ns. @param before the best log density before them. */
static gbs_status quench(search *s, double operations, double before, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_executor *x = &s->run->engine.executor;
    if (s->may_quench && s->drive.stop == GBSI_GO_ON) { /* now that there is something to show */
        s->may_quench = false;
        gbsi_drive_go_on(&s->drive, false);
        GBSI_TRY(gbsi_quench_new(s->run->problem.part, s->tau0, s->run->options.seed,
                                 &s->drive.watch, &s->quench, err));
    }
    if (s->quench == NULL) {
        return GBS_OK;
    }
    const double groups = (double)x->n_chains / GBSI_BLOCK_LANES + 1.0;
    const double turn = gbsi_quench_operations(s->quench);
    const double each = (operations > A_MOMENT_NS ? operations : A_MOMENT_NS) / groups;
    if (s->drive.stop != GBSI_GO_ON && turn * groups > A_MOMENT_NS) {
        return GBS_OK;
    }
    gbsi_quench_schedule schedule = {.tau0 = s->tau0,
                                     .n_draws = (uint64_t)(s->block_share * operations / groups /
                                                           turn * s->quench->blocks->n_plans),
                                     .seed = s->run->options.seed,
                                     .pass = s->n_draws};
    for (uint32_t first = 0; first < x->n_chains; first += GBSI_BLOCK_LANES) {
        for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
            const bool is_best = first + lane + 1 >= x->n_chains;
            if (!is_best) {
                gbsi_executor_get(x, first + lane, s->x);
            }
            gbsi_quench_set(s->quench, lane, is_best ? s->best_x : s->x);
        }
        GBSI_TRY(raise_states(s, each, err));
        const double swept = s->best;
        if (s->drive.stop == GBSI_GO_ON && schedule.n_draws > 0) {
            schedule.chain = first;
            s->n_draws += gbsi_quench_anneal(s->quench, &schedule, &s->drive.watch);
            GBSI_TRY(raise_states(s, each, err));
            share_time(s, before, swept);
        }
    }

cleanup:
    return status;
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* tau_t of t = 1 .. n, from tau0 to tau0 / n:
 *     linear  tau0 (1 - (t - 1) / n)        geometric  tau0 n^(-(t - 1) / (n - 1)) */
static double temperature(gbs_schedule_kind schedule, double tau0, uint64_t t, uint64_t n)
{
    if (schedule == GBS_SCHEDULE_LINEAR || n == 1) {
        return tau0 * (1.0 - (double)(t - 1) / (double)n);
    }
    return tau0 * gbsi_exp(-gbsi_log((double)n) * ((double)(t - 1) / (double)(n - 1)));
}

/* Half of what factor f changes a log density by, zeros aside. */
static double half_spread(const gbsi_factors *f, size_t i)
{
    if (!gbsi_has_table(f->kind[i])) {
        const double weight = fabs(f->weight[i]);
        const bool spins = f->kind[i] != GBS_FACTOR_POTTS && f->kind[i] != GBS_FACTOR_LOGICAL;
        return weight == INFINITY ? 0.0 : spins ? weight : 0.5 * weight;
    }
    const uint32_t table = f->aux[i]; /* of a noisy factor: about as much as one cause adds */
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t e = f->table_start[table]; e < f->table_start[table + (size_t)1]; ++e) {
        least = f->table[e] > -INFINITY && f->table[e] < least ? f->table[e] : least;
        most = f->table[e] > most ? f->table[e] : most;
    }
    return most > least ? 0.5 * (most - least) : 0.0;
}

/* The mean over variables v of
 *     sqrt(sum over factors f of v of (half the spread of ln psi_f)^2):
 * for spins with d couplings +-J, J sqrt(d), the temperature at which a glass freezes in mean field
 * (Sherrington & Kirkpatrick 1975, Physical Review Letters 35:1792-1796). 1 where there is nothing
 * to go by. O(scopes + entries of the tables of all factors). */
static gbs_status first_temperature(const gbsi_conditioned *model, double *tau0, gbs_error *err)
{
    const gbsi_factors *f = &model->factors;
    double *squares = gbsi_alloc_array_zero(model->n_variables, sizeof *squares);
    if (squares == NULL) {
        return gbsi_no_memory(err, "map", model->n_variables * sizeof *squares);
    }
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

static gbs_status anneal(search *s, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = s->run;
    const gbsi_executor *x = &run->engine.executor;
    const double spent = x->pass->operations(x->pass_state, x->n_chains);
    const double before = s->best;
    for (uint64_t t = 1; t <= n && s->drive.stop == GBSI_GO_ON; ++t) {
        const float beta =
            (float)(1.0 / temperature((gbs_schedule_kind)run->options.schedule, s->tau0, t, n));
        if (s->heats) {
            GBSI_TRY(gbsi_executor_heat(&run->engine.executor, beta, err));
        }
        GBSI_TRY(gbsi_run_pass(run, &s->drive, false, err));
        ++run->report.public.sweeps;
        GBSI_TRY(look(s, err));
    }
    ++s->rounds;
    GBSI_TRY(quench(s, x->pass->operations(x->pass_state, x->n_chains) - spent, before, err));
cleanup:
    return status;
}

static gbs_status anneal_rounds(search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_options *options = &s->run->options;
    if (options->sweeps > 0) {
        GBSI_TRY(anneal(s, options->sweeps, err));
        s->drive.stop = s->drive.stop == GBSI_GO_ON ? GBSI_STOP_SWEEPS : s->drive.stop;
    }
    for (uint64_t n = FIRST_ROUND; s->drive.stop == GBSI_GO_ON; n *= ROUND_GROWTH) {
        const double before = s->best;
        GBSI_TRY(anneal(s, n, err));
        if (s->drive.stop == GBSI_GO_ON && options->time_s == 0.0 && s->rounds >= LEAST_ROUNDS &&
            !(s->best > before)) {
            s->drive.stop = GBSI_STOP_SETTLED;
        }
    }
cleanup:
    return status;
}

/* ---- the call ----------------------------------------------------------------------------------
 */

/* The log density of a state of all variables. */
static gbs_status whole_density(const gbs_run *run, const uint32_t *state, double *density,
                                gbs_error *err)
{
    const gbsi_conditioned *whole = run->problem.whole;
    uint32_t *x = gbsi_alloc_array(whole->n_variables, sizeof *x);
    if (x == NULL) {
        return gbsi_no_memory(err, "map", whole->n_variables * sizeof *x);
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        const uint32_t *states = whole->user_state + whole->state_offset[v];
        x[v] = 0;
        while (x[v] + 1 < whole->arity[v] && states[x[v]] != state[whole->user_variable[v]]) {
            ++x[v];
        }
    }
    *density = gbsi_exact_log_density(whole, x);
    gbsi_free(x);
    return GBS_OK;
}

static void fill_fixed(const gbs_run *run, uint32_t *state)
{
    for (uint32_t u = 0; u < run->problem.model->n_variables; ++u) {
        const uint32_t fixed = run->problem.whole->fixed_state[u];
        state[u] = fixed == GBSI_NONE ? 0 : fixed;
    }
}

/* Small components are solved once; the other components start from the state of chain 0. */
static gbs_status begin(search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = s->run;
    const gbsi_executor *x = &run->engine.executor;
    double whole = 0.0;
    s->density = gbsi_alloc_array((size_t)x->n_groups * x->lanes, sizeof *s->density);
    s->x = gbsi_alloc_array(run->problem.part->n_variables, sizeof *s->x);
    s->best_x = gbsi_alloc_array(run->problem.part->n_variables, sizeof *s->best_x);
    if (s->density == NULL || s->x == NULL || s->best_x == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "map", run->problem.part->n_variables * sizeof *s->x));
    }
    s->tau0 = run->options.tau0;
    if (s->tau0 == 0.0) {
        GBSI_TRY(first_temperature(run->problem.part, &s->tau0, err));
    }
    GBSI_TRY(gbsi_run_set_starts(run, &s->drive, err));
    (void)best_chain(s);
    fill_fixed(run, s->state);
    gbsi_run_user_state(run, 0, s->best_x, s->state);
    s->best = s->density[0];
    if (run->report.public.n_exact_variables > 0) {
        GBSI_TRY(gbsi_run_exact_map(run, &s->drive, s->state, err));
        GBSI_TRY(whole_density(run, s->state, &whole, err));
        s->offset = whole - s->best;
    }
    GBSI_TRY(look(s, err));
cleanup:
    return status;
}

static gbs_status check_method(const gbs_run_options *options, gbs_error *err)
{
    if (options->temper > GBS_TEMPER_OFF) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--temper applies to marginals and logz only");
    }
    if (options->method == GBS_METHOD_MEAN_FIELD || options->estimator == GBS_ESTIMATOR_TRACES) {
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

gbs_status gbs_map(const gbs_model *model, const gbs_evidence *evidence,
                   const gbs_run_options *options, const gbs_map_callbacks *callbacks,
                   uint32_t *state, gbs_map_report *report, gbs_error *err)
{
    GBSI_NEED(model);
    GBSI_NEED(state);
    GBSI_IN_STRUCT(callbacks, gbs_map_callbacks);
    GBSI_OUT_STRUCT(report, gbs_map_report);
    static const gbs_map_callbacks nobody = {0};
    gbs_status status = GBS_OK;
    search s = {.callbacks = callbacks == NULL ? &nobody : callbacks, .block_share = 1.0};
    const gbs_run_callbacks watch = {.context = s.callbacks->context,
                                     .progress = s.callbacks->progress};
    gbs_map_report found = {.final_log_density = NAN};
    gbs_run_options chosen;
    gbsi_drive_begin(&s.drive, NULL, &watch);
    GBSI_TRY(gbsi_options_take(options, &chosen, err));
    GBSI_TRY(check_method(&chosen, err));
    chosen.lattice = GBS_LATTICE_NEVER; /* bit lattices have no temperatures */
    const gbsi_run_purpose purpose = {.limited = true, .anneals = true};
    GBSI_TRY(gbsi_run_open(model, evidence, &chosen, &purpose, &s.run, err));
    s.drive.run = s.run;
    s.heats = (gbsi_draw_traits(&chosen) & GBSI_DRAW_HEATS) != 0;
    s.may_quench = s.heats; /* other draws are asked for what they find themselves */
    s.state = gbsi_alloc_array(model->n_variables, sizeof *s.state);
    if (s.state == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "map", model->n_variables * sizeof *s.state));
    }
    if (s.run->problem.part == NULL) {
        fill_fixed(s.run, s.state);
        GBSI_TRY(gbsi_run_exact_map(s.run, &s.drive, s.state, err));
        GBSI_TRY(whole_density(s.run, s.state, &found.log_density, err));
        s.drive.stop = GBSI_STOP_EXACT;
    } else {
        GBSI_TRY(begin(&s, err));
        GBSI_TRY(anneal_rounds(&s, err));
        found.log_density = s.best + s.offset;
        found.final_log_density = s.density[best_chain(&s)] + s.offset;
    }
    found.n_free_variables = s.run->report.public.n_free_variables;
    found.n_exact_variables = s.run->report.public.n_exact_variables;
    found.chains = s.run->problem.part == NULL ? 0 : s.run->report.public.chains;
    found.rounds = s.rounds;
    found.tau0 = s.tau0;
    found.exact = s.run->report.public.exact;
    found.sweeps = s.run->report.public.sweeps;
    found.updates = s.run->report.public.updates;
    found.seconds = gbsi_clock_s() - s.drive.started_s;
    (void)snprintf(found.stop, sizeof found.stop, "%s", gbsi_stop_text(s.drive.stop));
    memcpy(state, s.state, model->n_variables * sizeof *state);
    gbsi_struct_give(report, &found, sizeof found);
    status = s.drive.stop >= GBSI_STOP_TIME ? GBS_STOPPED : GBS_OK;
cleanup:
    search_free(&s);
    return status;
}
