/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng/philox.h"

#define N_PLACES 512
/* Conditionals may be off by 1e-4 in every logarithm [M13]. */
#define TOLERANCE 2e-4

/* A place that is checked, and the factors of its variable. */
typedef struct place {
    uint64_t place;
    uint32_t slot, variable;
    size_t n_factors, capacity;
    size_t *factor;
} place;

typedef struct checker {
    const gbsi_plan *plan;
    const gbsi_conditioned *model;
    uint64_t *place_of; /* place of each slot */
    void **before;      /* [n_groups] states before the pass */
    place *place;       /* [n_places] */
    size_t n_places;
    uint32_t *at;        /* [longest scope] values of the scope */
    double *logw, *p;    /* [max_arity] */
    double *mean, *seen; /* [max_arity] averages of the conditionals, and of the values */
} checker;

static void add_factor(place *p, size_t factor)
{
    if (p->n_factors == p->capacity) {
        p->capacity = 2 * p->capacity + 8;
        p->factor = realloc(p->factor, p->capacity * sizeof *p->factor);
        bench_check(p->factor != NULL, "no memory");
    }
    p->factor[p->n_factors++] = factor;
}

/* Chooses places spread over the pass, and collects all factors of their variables. */
static void choose_places(checker *c, const gbsi_schedule *schedule)
{
    const gbsi_factors *factors = &c->model->factors;
    /* 1 + index of the variable's place in c->place */
    uint32_t *chosen = bench_alloc(c->model->n_variables, sizeof *chosen);
    size_t longest = 1;
    c->n_places = schedule->n_places < N_PLACES ? schedule->n_places : N_PLACES;
    c->place = bench_alloc(c->n_places, sizeof *c->place);
    uint32_t *slot = bench_alloc(schedule->n_places, sizeof *slot); /* slot of each place */
    for (size_t p = 0; p < schedule->n_pieces; ++p) {
        const gbsi_piece *piece = &schedule->piece[p];
        for (uint32_t i = 0; i < piece->n; ++i) {
            slot[piece->place + i] = gbsi_piece_slot(schedule, piece, i);
            c->place_of[slot[piece->place + i]] = piece->place + i;
        }
    }
    for (size_t i = 0; i < c->n_places; ++i) {
        place *p = &c->place[i];
        p->place = (uint64_t)(((double)i + 0.5) * (double)schedule->n_places / (double)c->n_places);
        p->slot = slot[p->place];
        p->variable = c->plan->variable_of[p->slot];
        chosen[p->variable] = (uint32_t)i + 1;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t start = factors->scope_start[f];
        const size_t end = factors->scope_start[f + 1];
        longest = end - start > longest ? end - start : longest;
        for (size_t e = start; e < end; ++e) {
            if (chosen[factors->scope[e]] != 0) {
                add_factor(&c->place[chosen[factors->scope[e]] - 1], f);
            }
        }
    }
    c->at = bench_alloc(longest, sizeof *c->at);
    free(chosen);
    free(slot);
}

static void checker_new(checker *c, const bench_engine *engine)
{
    const gbsi_executor *x = &engine->executor;
    const size_t bytes = (size_t)x->plan->n_slots * x->lanes * x->plan->value_bytes;
    *c = (checker){.plan = x->plan, .model = engine->run->task.problem.part};
    c->place_of = bench_alloc(c->plan->n_slots, sizeof *c->place_of);
    c->before = bench_alloc(x->n_groups, sizeof *c->before);
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        c->before[g] = bench_alloc(bytes, 1);
    }
    c->logw = bench_alloc(c->plan->max_arity, sizeof *c->logw);
    c->p = bench_alloc(c->plan->max_arity, sizeof *c->p);
    c->mean = bench_alloc(c->plan->max_arity, sizeof *c->mean);
    c->seen = bench_alloc(c->plan->max_arity, sizeof *c->seen);
    choose_places(c, &engine->run->sampling.engine.schedule);
}

static void checker_free(checker *c, uint32_t n_groups)
{
    for (uint32_t g = 0; g < n_groups; ++g) {
        free(c->before[g]);
    }
    for (size_t i = 0; i < c->n_places; ++i) {
        free(c->place[i].factor);
    }
    free(c->place_of);
    free(c->before);
    free(c->place);
    free(c->at);
    free(c->logw);
    free(c->p);
    free(c->mean);
    free(c->seen);
}

/* @return the value of a variable that the update at a place saw: the value drawn earlier in the
 *   pass, or the value before the pass. */
static uint32_t seen_state(const checker *c, const gbsi_executor *x, uint32_t chain,
                           uint32_t variable, uint64_t at_place)
{
    const uint32_t slot = c->plan->slot_of[variable];
    const uint32_t g = chain / x->lanes;
    const void *state = c->place_of[slot] < at_place ? x->group[g].state : c->before[g];
    return gbsi_state_at(state, (size_t)slot * x->lanes + chain % x->lanes, c->plan->value_bytes);
}

/* Sets c->p = p(. | rest) of a place in a chain [M2]. */
static void conditional(const checker *c, const gbsi_executor *x, uint32_t chain, const place *p)
{
    const gbsi_factors *factors = &c->model->factors;
    const uint32_t k = gbsi_plan_arity(c->plan, p->slot);
    double top = -INFINITY;
    double total = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        c->logw[a] = 0.0;
        for (size_t i = 0; i < p->n_factors; ++i) {
            const size_t f = p->factor[i];
            const size_t start = factors->scope_start[f];
            for (size_t e = start; e < factors->scope_start[f + 1]; ++e) {
                const uint32_t v = factors->scope[e];
                c->at[e - start] = v == p->variable ? a : seen_state(c, x, chain, v, p->place);
            }
            c->logw[a] += gbsi_factor_value_at(factors, c->model->arity, f, c->at);
        }
        top = c->logw[a] > top ? c->logw[a] : top;
    }
    for (uint32_t a = 0; a < k; ++a) {
        c->p[a] = exp(c->logw[a] - top);
        total += c->p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        c->p[a] /= total;
    }
}

/* Whether the random number of a place picks this value from c->p [M6], up to TOLERANCE. */
static bool picks(const checker *c, const gbsi_executor *x, uint32_t chain, const place *p,
                  uint64_t pass, uint32_t value)
{
    const uint32_t word = gbsi_word(x->seed, chain, pass, p->place, GBSI_PURPOSE_UPDATE);
    const double u = word * 0x1p-32;
    if ((gbsi_plan_form(c->plan, p->slot) & GBSI_ODDS) != 0) {
        const uint32_t unlikely = c->p[1] > c->p[0] ? 0 : 1;
        if (fabs(c->p[1] - c->p[0]) < TOLERANCE) {
            return true; /* rounding decides which state is the unlikely one */
        }
        return value == unlikely ? u <= c->p[unlikely] + TOLERANCE
                                 : u >= c->p[unlikely] - TOLERANCE;
    }
    double below = 0.0;
    for (uint32_t a = 0; a < value; ++a) {
        below += c->p[a];
    }
    return u >= below - TOLERANCE && u <= below + c->p[value] + TOLERANCE;
}

static void keep_states(checker *c, const gbsi_executor *x)
{
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        memcpy(c->before[g], x->group[g].state,
               (size_t)c->plan->n_slots * x->lanes * c->plan->value_bytes);
    }
}

/* Checks one pass, with a new estimator. */
static void check_pass(checker *c, bench_engine *engine, gbs_estimator_kind kind)
{
    const gbsi_executor *x = &engine->executor;
    const uint64_t pass = engine->pass;
    const bool random = engine->run->task.options.draw == GBS_DRAW_RANDOM;
    gbsi_estimate *estimate = bench_engine_estimate(engine, kind);
    double *estimated = bench_alloc(c->plan->max_arity, sizeof *estimated);
    keep_states(c, x);
    bench_engine_pass(engine, estimate, kind);
    for (size_t i = 0; i < c->n_places; ++i) {
        const place *p = &c->place[i];
        const uint32_t k = gbsi_plan_arity(c->plan, p->slot);
        memset(c->mean, 0, k * sizeof *c->mean);
        memset(c->seen, 0, k * sizeof *c->seen);
        for (uint32_t chain = 0; chain < x->n_chains; ++chain) {
            const uint32_t value = seen_state(c, x, chain, p->variable, UINT64_MAX);
            conditional(c, x, chain, p);
            bench_check(!random || picks(c, x, chain, p, pass, value),
                        "variable %u, chain %u: state %u was drawn and should not have been",
                        p->variable, chain, value);
            c->seen[value] += 1.0 / x->n_chains;
            for (uint32_t a = 0; a < k; ++a) {
                c->mean[a] += c->p[a] / x->n_chains;
            }
        }
        gbsi_estimate_slot(estimate, p->slot, estimated, NULL, NULL, NULL);
        const bool counts = kind == GBS_ESTIMATOR_COUNT;
        for (uint32_t a = 0; a < k; ++a) {
            const double expected = counts ? c->seen[a] : c->mean[a];
            bench_check(fabs(estimated[a] - expected) < (counts ? 1e-9 : TOLERANCE),
                        "variable %u, state %u: estimated %.9f instead of %.9f", p->variable, a,
                        estimated[a], expected);
        }
    }
    free(estimated);
    gbsi_estimate_free(estimate);
}

/* Checks the conditionals of the scalar loop at the states of chain 0. */
static void check_scalar(const checker *c, const bench_engine *engine, bench_scalar *scalar)
{
    const gbsi_executor *x = &engine->executor;
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        bench_scalar_set(scalar, v, seen_state(c, x, 0, v, UINT64_MAX));
    }
    for (size_t i = 0; i < c->n_places; ++i) {
        place now = c->place[i];
        now.place = UINT64_MAX; /* all variables as after the pass */
        conditional(c, x, 0, &now);
        const float *p = bench_scalar_conditional(scalar, now.variable);
        for (uint32_t a = 0; a < gbsi_plan_arity(c->plan, now.slot); ++a) {
            bench_check(fabs((double)p[a] - c->p[a]) < TOLERANCE,
                        "variable %u, state %u: the scalar loop has %.9f instead of %.9f",
                        now.variable, a, (double)p[a], c->p[a]);
        }
    }
}

void bench_check_engine(bench_engine *engine, bench_scalar *scalar)
{
    checker c;
    checker_new(&c, engine);
    check_pass(&c, engine, GBS_ESTIMATOR_COUNT);
    check_pass(&c, engine, GBS_ESTIMATOR_RAO_BLACKWELL);
    if (scalar != NULL) {
        check_scalar(&c, engine, scalar);
    }
    checker_free(&c, engine->executor.n_groups);
}
