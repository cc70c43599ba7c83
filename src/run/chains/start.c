/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/start.h"

#include <stdio.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "base/plural.h"
#include "chains/repair.h"
#include "chains/run.h"
#include "lattice/bits.h"
#include "parallel/pool.h"
#include "rng/words.h"
#include "store/builder.h"

enum { N_NAMED = 4 };

struct gbsi_starter {
    const gbsi_conditioned *model; /* borrowed */
    uint64_t seed;
    gbsi_repair *repair; /* propagator of hard zeros; NULL if the model has none */
    gbsi_watch *watch;   /* NULL if the work is never stopped */
    double *weight;      /* [largest arity] scratch */
    bool unfinished;     /* whether the watch stopped the work before hard zeros were examined */
};

gbs_status gbsi_starter_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                            gbsi_starter **starter, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t arity = gbsi_largest(model->arity, model->n_variables);
    gbsi_starter *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "start", s));
    s->model = model;
    s->seed = seed;
    s->watch = watch;
    s->weight = gbsi_alloc_array(arity, sizeof *s->weight);
    GBSI_TRY(GBSI_HAVE(err, "start", s->weight));
    if (!model->borrows && memchr(model->has_zeros, 1, model->factors.n_factors) != NULL) {
        GBSI_TRY(gbsi_repair_new(model, seed, watch, &s->repair, err));
        s->unfinished = gbsi_watch_stopped(watch);
    }
    *starter = s;
    s = NULL;

cleanup:
    gbsi_starter_free(s);
    return status;
}

void gbsi_starter_free(gbsi_starter *starter)
{
    if (starter != NULL) {
        gbsi_repair_free(starter->repair);
        GBSI_FREE(starter->weight, starter);
    }
}

uint32_t gbsi_start_anywhere(uint64_t seed, uint32_t chain, uint64_t restart, uint32_t variable,
                             uint32_t arity)
{
    uint32_t word[4];
    gbsi_philox(seed, chain, restart, variable, GBSI_PURPOSE_START, word);
    return gbsi_below(word[0], word[1], arity);
}

/* Draws states, parents before children, each variable from its conditional table. A variable
 * without a table is drawn uniformly. */
static void sample(const gbsi_starter *s, uint32_t chain, uint64_t restart, uint32_t *x)
{
    const gbsi_conditioned *model = s->model;
    for (uint32_t i = 0; i < model->n_variables; ++i) {
        const uint32_t v = model->topological != NULL ? model->topological[i] : i;
        if (model->cpt != NULL && model->cpt[v] != GBSI_NONE) {
            uint32_t word[4];
            gbsi_philox(s->seed, chain, restart, v, GBSI_PURPOSE_START, word);
            gbsi_forward_weights(model, v, x, s->weight);
            x[v] = gbsi_forward_pick(s->weight, model->arity[v], word);
        } else {
            x[v] = gbsi_start_anywhere(s->seed, chain, restart, v, model->arity[v]);
        }
    }
}

/* Fails with a message that names factors of a component that contradict one another. */
static gbs_status contradiction(const gbsi_starter *s, uint32_t component, gbs_error *err)
{
    gbsi_conflict_set set = {0};
    GBSI_PASS(gbsi_repair_contradiction(s->repair, component, &set, err));
    const gbs_status status =
        gbsi_fail_contradiction(s->model, &set, "no state found, and none exists", err);
    gbsi_free(set.factor);
    return status;
}

/* Fails with a message like "no state found after 17 repairs; still violated: factor 12 (a, b, c),
 * ...". */
static gbs_status no_start(const gbsi_starter *s, uint32_t component, const uint32_t *x,
                           uint64_t n_repairs, gbs_error *err)
{
    char list[640] = "";
    size_t factor[N_NAMED + 1];
    const uint32_t n = gbsi_repair_violated(s->repair, component, x, factor, N_NAMED + 1);
    for (uint32_t i = 0; i < n && i < N_NAMED; ++i) {
        gbsi_append_factor(s->model, factor[i], list, sizeof list);
    }
    return gbsi_fail(err, GBS_ERR_NOT_FOUND, "no state found after %llu repair%s%s%s%s",
                     (unsigned long long)n_repairs, gbsi_plural(n_repairs),
                     n > 0 ? "; still violated: " : "", list, n > N_NAMED ? ", ..." : "");
}

gbs_status gbsi_starter_draw(gbsi_starter *starter, uint32_t chain, uint64_t restart, uint32_t *x,
                             gbs_error *err)
{
    uint64_t n_repairs = 0;
    sample(starter, chain, restart, x);
    if (starter->unfinished) {
        return GBS_STOPPED;
    }
    const uint32_t n = starter->repair == NULL ? 0 : gbsi_repair_n_components(starter->repair);
    for (uint32_t c = 0; c < n; ++c) {
        size_t factor = 0;
        if (gbsi_repair_violated(starter->repair, c, x, &factor, 1) == 0) {
            continue;
        }
        gbsi_repaired result = gbsi_repair_component(starter->repair, chain, c, x, &n_repairs);
        if (result == GBSI_UNREPAIRED && !gbsi_watch_stopped(starter->watch)) {
            GBSI_PASS(gbsi_repair_learn(starter->repair, chain, c, x, &n_repairs, &result, err));
        }
        if (gbsi_watch_stopped(starter->watch)) {
            return GBS_STOPPED;
        }
        if (result != GBSI_REPAIRED) {
            return result == GBSI_NO_STATE ? contradiction(starter, c, err)
                                           : no_start(starter, c, x, n_repairs, err);
        }
    }
    return GBS_OK;
}

/* ---- all chains at once ---------------------------------------------------------------------- */

typedef struct filling {
    const gbsi_starter *starter;
    uint64_t restart;
    gbsi_executor *x;
    const gbsi_words *words;
    uint32_t n_members;
} filling;

/* Draws the states of variable v for sixteen chains, with the result of sample() for each chain.
 * @param value [GBSI_LANES] out. */
static void pick_lanes(const filling *f, uint32_t group, uint32_t v, uint32_t *value)
{
    const uint32_t first = group * GBSI_LANES;
    const uint32_t n = f->x->n_chains - first;
    uint32_t word[4 * GBSI_LANES];
    f->words->lanes16(f->starter->seed, f->x->first_chain + first, f->restart, v, 1,
                      GBSI_PURPOSE_START, word);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        const uint32_t of = lane < n ? lane : n - 1; /* padded lanes repeat the last chain */
        value[lane] = gbsi_below(word[of], word[GBSI_LANES + of], f->starter->model->arity[v]);
    }
}

static void fill_share(void *context, uint32_t member)
{
    const filling *f = context;
    const gbsi_plan *plan = f->x->plan;
    uint64_t first = 0;
    uint64_t end = 0;
    uint32_t value[GBSI_LANES];
    gbsi_pool_share(plan->n_slots, 64, member, f->n_members, &first, &end);
    for (uint32_t g = 0; g < f->x->n_groups; ++g) {
        for (size_t slot = first; slot < end; ++slot) {
            pick_lanes(f, g, plan->variable_of[slot], value);
            for (size_t lane = 0; lane < GBSI_LANES; ++lane) {
                const size_t i = slot * GBSI_LANES + lane;
                if (plan->value_bytes == 1) {
                    ((uint8_t *)f->x->group[g].state)[i] = (uint8_t)value[lane];
                } else {
                    ((uint16_t *)f->x->group[g].state)[i] = (uint16_t)value[lane];
                }
            }
        }
    }
}

/* Data for setting the starts of chains whose sites are bits, two chains at a time. */
typedef struct chain_filling {
    const gbsi_starter *starter;
    uint64_t restart;
    gbsi_executor *x;
    uint32_t n_members;
    uint32_t *state; /* [n_members][variables] */
} chain_filling;

enum {
    MOST_FILLING = 2
}; /* number of chains that are set at a time; run_memory.c reserves memory for their states */

static void fill_chains_of(void *context, uint32_t member)
{
    const chain_filling *f = context;
    for (uint32_t chain = member; member < f->n_members && chain < f->x->n_chains;
         chain += f->n_members) {
        uint32_t *state = f->state + (size_t)member * f->starter->model->n_variables;
        sample(f->starter, f->x->first_chain + chain, f->restart, state);
        gbsi_executor_set(f->x, chain, state);
    }
}

static bool fill_chains(const gbsi_starter *starter, uint64_t restart, gbsi_executor *x)
{
    const uint32_t n = gbsi_pool_size(x->pool);
    chain_filling f = {starter, restart, x, n < MOST_FILLING ? n : MOST_FILLING, NULL};
    const size_t n_states = (size_t)f.n_members * starter->model->n_variables;
    f.state = gbsi_alloc_array(n_states, sizeof *f.state);
    if (f.state == NULL) {
        return false; /* chains of this form are set one at a time */
    }
    gbsi_pool_run(x->pool, fill_chains_of, &f);
    gbsi_free(f.state);
    return true;
}

/* Sets the starts of all chains at once, to the states that the chains would get one at a time.
 * The function does so if no state of any variable is ruled out. The states of sixteen chains must
 * lie side by side, or the sites of one chain must lie in a word. @return false, and no state is
 * set, if this is not possible. */
static bool fill_states(const gbsi_starter *starter, uint64_t restart, gbsi_executor *executor)
{
    const bool plain = starter->repair == NULL && starter->model->cpt == NULL;
    if (executor->pass->scatter != NULL) {
        executor->pass->scatter(executor->pass_state);
        return true;
    }
    if (plain &&
        executor->pass == &gbsi_pass_sites) { /* chains of this form share no word of memory */
        return fill_chains(starter, restart, executor);
    }
    if (!plain || executor->plan == NULL || executor->pass->set != NULL ||
        executor->lanes != GBSI_LANES) {
        return false;
    }
    filling f = {starter, restart, executor, gbsi_words_of(executor->level),
                 gbsi_pool_size(executor->pool)};
    gbsi_pool_run(executor->pool, fill_share, &f);
    return true;
}

/* Translates the user's start into free variables and their states. @return an error if the start
 * contradicts evidence or hard zeros. */
static gbs_status translate_start(const gbsi_problem *problem, uint32_t *x, gbs_error *err)
{
    const gbsi_conditioned *part = problem->part;
    const gbsi_conditioned *whole = problem->whole;
    for (uint32_t u = 0; u < problem->model->n_variables; ++u) {
        if (problem->start[u] >= problem->model->arity[u]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "start: variable %u has %u state%s, found %u",
                             u, problem->model->arity[u], gbsi_plural(problem->model->arity[u]),
                             problem->start[u]);
        }
        if (whole->fixed_state[u] != GBSI_NONE && whole->fixed_state[u] != problem->start[u]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "start: variable %u is fixed to state %u by the evidence, found %u", u,
                             whole->fixed_state[u], problem->start[u]);
        }
    }
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        const uint32_t *states = gbsi_conditioned_states(part, v);
        const uint32_t wanted = problem->start[part->user_variable[v]];
        uint32_t a = 0;
        while (a < part->arity[v] && states[a] != wanted) {
            ++a;
        }
        if (a == part->arity[v]) {
            return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                             "start: state %u of variable %u is ruled out by hard zeros", wanted,
                             part->user_variable[v]);
        }
        x[v] = a;
    }
    if (!(gbsi_conditioned_log_density(part, x) > -INFINITY)) {
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "start: the state has probability zero");
    }
    return GBS_OK;
}

/* Handles a time limit that ended the search for starts. The caller's search or estimate then has
 * no answer; a run counts as stopped before its first sweep. */
static gbs_status starts_cut_short(gbsi_run_purpose *purpose, gbsi_report *report,
                                   const gbsi_drive *drive, gbs_error *err)
{
    static const char doing[] = "looking for states that the hard constraints allow";
    if (purpose->anneals) {
        return gbsi_stopped_early(drive, doing, err);
    }
    const gbs_status status = gbsi_report_warn(report, err, "stopped while %s", doing);
    return status < 0 ? status : GBS_STOPPED;
}

gbs_status gbsi_run_set_starts(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_starter *starter = NULL;
    uint32_t *x = gbsi_alloc_array(task->problem.part->n_variables, sizeof *x);
    GBSI_PASS(GBSI_HAVE(err, "start", x));
    if (task->problem.start != NULL) {
        GBSI_TRY(translate_start(&task->problem, x, err));
    } else {
        gbsi_drive_go_on(drive, false);
        GBSI_TRY(
            gbsi_starter_new(task->problem.part, task->options.seed, &drive->watch, &starter, err));
    }
    const bool filled = starter != NULL && fill_states(starter, 0, &engine->executor);
    for (uint32_t chain = 0; !filled && chain < engine->executor.n_chains; ++chain) {
        if (starter != NULL) {
            GBSI_TRY(gbsi_starter_draw(starter, engine->executor.first_chain + chain, 0, x, err));
        }
        if (status == GBS_STOPPED) {
            break;
        }
        gbsi_executor_set(&engine->executor, chain, x);
    }
    gbsi_executor_ready(&engine->executor);
    /* chains that repeat one state do not show how long chains from different states take */
    report->starts_dispersed =
        starter != NULL && (starter->repair == NULL || !gbsi_repair_repeats(starter->repair));
    if (status == GBS_STOPPED) {
        status = starts_cut_short(&task->purpose, report, drive, err);
    }
cleanup:
    gbsi_starter_free(starter);
    gbsi_free(x);
    return status;
}
