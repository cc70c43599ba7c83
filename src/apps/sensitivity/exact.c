/* SPDX-License-Identifier: Apache-2.0 */
/* One junction tree answers three cases side by side: X free, X = x, and X in another state. The
 * answers are the joint distributions of each factor's free variables. For a conditional table with
 * zeros the answer is the distribution without that factor, up to a constant, because entries that
 * are 0 have derivatives, too. */
#include "sensitivity/parameters.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cases/case_tree.h"
#include "simd/math.h"
#include "solve/solve.h"

enum { CASE_FREE, CASE_OTHER, CASE_X, N_CASES };

typedef struct solving {
    gbsi_reduced *reduced;
    gbsi_solver solver;
    uint32_t
        n_query; /* number of queries: one for each factor except the factor of the indicator */
    gbsi_case_scope *query; /* [n_query] scopes of the queries */
    size_t *number;         /* [n_query] 0, 1, 2, ... */
    size_t n_p;             /* number of entries of all answers to one case */
    double *p;              /* [N_CASES][n_p] answers */
    gbsi_case cases[N_CASES];
    gbsi_case_tree *tree;
    gbsi_case_worker *worker;
} solving;

static void solving_free(solving *s)
{
    gbsi_case_worker_free(s->worker);
    gbsi_case_tree_free(s->tree);
    gbsi_solver_free(&s->solver);
    gbsi_reduced_free(s->reduced);
    GBSI_FREE(s->query, s->number, s->p);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* @return whether a factor of the user is a conditional table with zeros, or a noisy factor, whose
 * chain has zeros. */
static bool needs_cavity(const gbsi_reduced *r, size_t factor)
{
    const gbsi_factors *f = &r->user->factors;
    return gbsi_is_noisy(f->kind[factor]) ||
           (r->user->directed && gbsi_factor_has_zeros(f, factor));
}

/* Makes a query of the scope of each factor of the reduced model. The last query is the indicator
 * alone. */
static gbs_status take_queries(solving *s, gbs_error *err)
{
    const gbsi_reduced *r = s->reduced;
    const gbsi_factors *f = &r->model->factors;
    s->n_query = (uint32_t)f->n_factors;
    s->query = gbsi_alloc_array(s->n_query, sizeof *s->query);
    s->number = gbsi_alloc_array(s->n_query, sizeof *s->number);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", s->query, s->number));
    for (size_t i = 0; i < f->n_factors; ++i) {
        s->number[i] = i;
        s->query[i] = (gbsi_case_scope){.variable = f->scope + f->scope_start[i],
                                        .n = (uint32_t)(f->scope_start[i + 1] - f->scope_start[i])};
        s->n_p += i + 1 < f->n_factors ? gbsi_factor_size(f, i) : 2;
    }
    s->query[s->n_query - 1] = (gbsi_case_scope){.variable = &r->indicator, .n = 1};
    for (size_t i = 0; i < r->user->factors.n_factors; ++i) {
        const size_t n = r->factor[i] == SIZE_MAX ? 0 : gbsi_reduced_n_tables(r, i);
        for (size_t k = r->factor[i]; needs_cavity(r, i) && k < r->factor[i] + n; ++k) {
            s->query[k].without = &s->number[k];
        }
    }
    return GBS_OK;
}

/* Checks the memory that the tree and its messages need, before any is allocated. */
static gbs_status check_bytes(const solving *s, gbs_error *err)
{
    const gbsi_tree *tree = s->solver.tree;
    char needed[16];
    char left[16];
    const double n_messages = 2.0 * (double)tree->n_messages + 2.0 * (double)s->n_p;
    const double bytes = sizeof(double) * ((double)tree->n_entries + GBSI_CASE_LANES * n_messages +
                                           N_CASES * (double)s->n_p);
    if (bytes <= (double)s->solver.bytes) {
        return GBS_OK;
    }
    gbsi_bytes_text(bytes, needed);
    gbsi_bytes_text((double)s->solver.bytes, left);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "exact sensitivities: the junction tree needs %s, the memory limit leaves %s: "
                     "give a larger --memory-limit, or sample",
                     needed, left);
}

static gbs_status make_tree(solving *s, const gbs_exact_options *options, gbsi_watch *watch,
                            gbs_error *err)
{
    const gbsi_reduced *r = s->reduced;
    GBSI_PASS(gbsi_solver_init(&s->solver, r->model, NULL, options, err));
    assert(s->solver.whole
               ->borrows); /* tables have no zeros, and all variables have two states or more */
    GBSI_PASS(gbsi_solver_plan_tree(&s->solver, r->user_variable, watch, err));
    GBSI_PASS(take_queries(s, err));
    GBSI_PASS(check_bytes(s, err));
    gbsi_reduced_fill(s->reduced);
    GBSI_PASS(gbsi_case_tree_new(s->solver.whole, s->solver.tree, 1, &r->indicator, s->n_query,
                                 s->query, watch, &s->tree, err));
    GBSI_PASS(gbsi_case_worker_new(s->tree, NULL, watch, &s->worker, err));
    s->p = gbsi_alloc_array(N_CASES * s->n_p, sizeof *s->p);
    return GBSI_HAVE(err, "sensitivity", s->p);
}

static gbs_status impossible(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "the evidence has probability zero: no state has positive weight");
}

static gbs_status run_cases(solving *s, gbsi_watch *watch, gbs_error *err)
{
    static const uint32_t state[N_CASES] = {GBSI_NONE, 0, 1};
    for (uint32_t i = 0; i < N_CASES; ++i) {
        s->cases[i] = (gbsi_case){.state = &state[i], .p = s->p + i * s->n_p};
    }
    gbsi_case_batch(s->worker, s->cases, N_CASES, watch, true);
    if (gbsi_watch_stopped(watch)) {
        return gbsi_watch_fail(err, "propagating in the junction tree");
    }
    if (s->cases[CASE_FREE].end == GBSI_CASE_IMPOSSIBLE) {
        return impossible(err);
    }
    return GBS_OK;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Let q = P(Y | e), where Y is X = x or its opposite. Let F(s) and F_Y(s) be the shares of joint
 * state s, without and with the condition Y. The derivative of q by the log-weight of s is [M55]
 *
 *     dq = q (F_Y(s) - F(s))
 *
 * dq is computed for the rarer outcome Y, because its relative error is then as small as the
 * relative error of q. The derivative for the other outcome is -dq. */
typedef struct rarer {
    uint32_t number; /* number of the case whose outcome is Y */
    double q;        /* q if Y is X = x; -q if Y is the opposite */
} rarer;

static gbs_status find_rarer(const solving *s, rarer *out, gbs_error *err)
{
    const double *p = s->cases[CASE_FREE].p + s->n_p - 2; /* probabilities of the indicator */
    uint32_t c = p[1] <= p[0] ? CASE_X : CASE_OTHER;
    if (s->cases[c].end !=
        GBSI_CASE_DONE) { /* the case is impossible, or too improbable for doubles */
        c = CASE_X + CASE_OTHER - c;
    }
    if (s->cases[CASE_FREE].end != GBSI_CASE_DONE || s->cases[c].end != GBSI_CASE_DONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "exact sensitivities: probabilities lie further apart than double "
                         "precision can hold: sample");
    }
    *out = c == CASE_X ? (rarer){.number = c, .q = p[1]} : (rarer){.number = c, .q = -p[0]};
    return GBS_OK;
}

/* Scales an answer without its factor t so that the sum of t w is 1. @param logs [n] ln t. */
static void scale_cavity(double *w, const double *logs, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        sum += gbsi_exp(logs[i]) * w[i];
    }
    for (size_t i = 0; i < n; ++i) {
        w[i] /= sum;
    }
}

/* Finds the shares F of the joint states of a query, and replaces the shares F_Y given Y by the
 * changes dq. */
static void find_changes(const solving *s, const rarer *y, size_t query, size_t at, double **share,
                         double **change)
{
    const gbsi_factors *f = &s->reduced->model->factors;
    const size_t n = gbsi_factor_size(f, query);
    const double *logs = f->table + f->table_start[f->aux[query]];
    *share = s->cases[CASE_FREE].p + at;
    *change = s->cases[y->number].p + at;
    if (s->query[query].without != NULL) {
        scale_cavity(*share, logs, n);
        scale_cavity(*change, logs, n);
    }
    for (size_t i = 0; i < n; ++i) {
        (*change)[i] = y->q * ((*change)[i] - (*share)[i]) + 0.0; /* adding 0 avoids -0 */
    }
}

/* Computes the derivatives for the likelihoods of evidence. @param k number of the first parameter
 * of a likelihood. @param at index of the first answer of a likelihood. */
static void find_likelihoods(const solving *s, const rarer *y, size_t k, size_t at,
                             gbs_sensitivities *answer)
{
    const gbsi_reduced *r = s->reduced;
    double *share = NULL;
    double *change = NULL;
    uint32_t query = (uint32_t)r->first_likelihood;
    while (k < answer->n_parameters) {
        const uint32_t v = answer->of[k];
        const uint32_t arity = r->user->arity[v];
        if (r->number[v] == GBSI_NONE) { /* evidence gives v one state */
            answer->log_p[k + r->state[v]] = 1.0;
        } else {
            find_changes(s, y, query++, at, &share, &change);
            memcpy(answer->derivative + k, change, arity * sizeof *change);
            memcpy(answer->log_p + k, share, arity * sizeof *share);
            at += arity;
        }
        k += arity;
    }
}

/* Finds the changes by the leak of a noisy factor, and by its inhibitions in the states that
 * evidence leaves. The tables of its chain are conditional tables. @param k number of the first
 * parameter of the factor. @param at in: index of the factor's first answer; out: index after its
 * last answer. */
static void find_causes(const solving *s, const rarer *y, size_t factor, size_t k, size_t *at,
                        gbs_sensitivities *answer)
{
    const gbsi_reduced *r = s->reduced;
    const gbsi_noisy noisy = gbsi_noisy_of(&r->user->factors, factor);
    double *share = NULL;
    double *change = NULL;
    for (uint32_t i = 0; i <= noisy.n_parents + 1; ++i) {
        const size_t query = r->factor[factor] + i;
        if (i <= noisy.n_parents) {
            const uint32_t v = i == 0 ? GBSI_NONE : noisy.parent[i - 1];
            const bool is_free = v != GBSI_NONE && r->number[v] != GBSI_NONE;
            const uint32_t n = is_free ? r->user->arity[v] : 1;
            const size_t own = k + (v == GBSI_NONE || is_free ? 0 : r->state[v]);
            find_changes(s, y, query, *at, &share, &change);
            gbsi_parameters_move_cause(n, change, i == 0, answer->derivative + own);
            gbsi_parameters_move_cause(n, share, i == 0, answer->log_p + own);
            k += v == GBSI_NONE ? 1 : r->user->arity[v];
        }
        *at += gbsi_factor_size(&r->model->factors, query);
    }
}

static gbs_status find_derivatives(const solving *s, const size_t *first, gbs_sensitivities *answer,
                                   gbs_error *err)
{
    const gbsi_reduced *r = s->reduced;
    const gbsi_factors *f = &r->user->factors;
    rarer y = {0};
    double one = 1.0;
    double zero = 0.0;
    double *share = NULL;
    double *change = NULL;
    size_t at = 0; /* answers are in the order of the reduced model's factors */
    gbs_status status = find_rarer(s, &y, err);
    double *room = gbsi_alloc_array(2 * (size_t)GBS_MAX_ARITY, sizeof *room);
    if (status >= 0 && room == NULL) {
        status = gbsi_no_memory(err, "sensitivity", 2 * GBS_MAX_ARITY * sizeof *room);
    }
    for (size_t i = 0; status >= 0 && i < f->n_factors; ++i) {
        const size_t query = r->factor[i];
        gbsi_moved what = GBSI_MOVED_SUM;
        if (r->dropped[i]) {
            gbsi_parameters_move_nothing(r, i, answer->derivative + first[i], room);
            gbsi_parameters_move_nothing(r, i, answer->log_p + first[i], room);
            continue;
        }
        if (gbsi_is_noisy(f->kind[i])) {
            find_causes(s, &y, i, first[i], &at, answer);
            continue;
        }
        share = &one; /* a factor that has become constant */
        change = &zero;
        if (query != SIZE_MAX) {
            what = s->query[query].without != NULL ? GBSI_MOVED_APART : GBSI_MOVED_SUM;
            find_changes(s, &y, query, at, &share, &change);
            at += gbsi_factor_size(&r->model->factors, query);
        }
        gbsi_parameters_move(r, i, what, change, answer->derivative + first[i], room);
        gbsi_parameters_move(r, i, what, share, answer->log_p + first[i], room);
    }
    if (status >= 0) {
        find_likelihoods(s, &y, first[f->n_factors], at, answer);
    }
    gbsi_free(room);
    return status;
}

gbs_status gbsi_sensitivity_exact(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_exact_options *options, gbsi_watch *watch,
                                  const size_t *first, gbs_sensitivities *answer, gbs_error *err)
{
    gbs_status status = GBS_OK;
    solving s = {0};
    GBSI_TRY(gbsi_reduced_new(model, evidence, answer->variable, answer->state, &s.reduced, err));
    GBSI_TRY(gbsi_reduced_find_barren(s.reduced, err));
    GBSI_TRY(gbsi_reduced_build(s.reduced, err));
    if (s.reduced->log_constant == -INFINITY) {
        GBSI_TRY(impossible(err));
    }
    gbsi_parameters_ranges(s.reduced, first, answer);
    GBSI_TRY(make_tree(&s, options, watch, err));
    GBSI_TRY(run_cases(&s, watch, err));
    GBSI_TRY(find_derivatives(&s, first, answer, err));
    answer->p = s.cases[CASE_FREE].p[s.n_p - 1];

cleanup:
    solving_free(&s);
    return status;
}
