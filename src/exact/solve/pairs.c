/* SPDX-License-Identifier: Apache-2.0 */
/* Joint marginals of two variables. If a clique holds both, they are read from it. If they are in
 * different components, or one is fixed, the joint is the product of the marginals. Otherwise a new
 * junction tree of their component is made, with an edge between the two variables. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solve/solve.h"

/* A pair of variables whose joint marginal is wanted. */
typedef struct request {
    uint32_t variable[2];
    double *p;  /* [arity][arity] of the free states; NULL: the two are independent */
    bool apart; /* no clique holds both */
} request;

typedef struct pairs {
    gbsi_solver solver;
    uint32_t *home;
    double *marginal; /* of all free variables */
    request *request; /* [n] */
    gbsi_tree_pair *asked;
    double *free_p;
    double *out; /* of the user's states */
} pairs;

static void pairs_free(pairs *a)
{
    gbsi_solver_free(&a->solver);
    GBSI_FREE(a->home, a->marginal, a->request, a->asked, a->free_p, a->out);
}

static gbs_status check_pairs(const gbs_model *model, size_t n, const uint32_t *pair, size_t *n_out,
                              gbs_error *err)
{
    *n_out = 0;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t u = pair[2 * i];
        const uint32_t v = pair[2 * i + 1];
        if (u >= model->n_variables || v >= model->n_variables || u == v) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "pair %zu: found variables %" PRIu32 " and %" PRIu32
                             ", expected two different variables below %" PRIu32,
                             i, u, v, model->n_variables);
        }
        if (!gbsi_add_size(*n_out, (size_t)model->arity[u] * model->arity[v], n_out)) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "pairs: the results have more entries than a size_t can count");
        }
    }
    return GBS_OK;
}

static bool is_joint(const gbsi_solver *s, const uint32_t *v)
{
    return v[0] != GBSI_NONE && v[1] != GBSI_NONE &&
           s->components->of[v[0]] == s->components->of[v[1]];
}

static gbs_status take_room(pairs *a, size_t n, const uint32_t *pair, size_t n_out, gbs_error *err)
{
    const gbsi_conditioned *whole = a->solver.whole;
    size_t n_free = 0;
    a->request = gbsi_alloc_array(n, sizeof *a->request);
    a->asked = gbsi_alloc_array(n, sizeof *a->asked);
    a->marginal = gbsi_alloc_array(whole->state_offset[whole->n_variables], sizeof *a->marginal);
    a->out = gbsi_alloc_array_zero(n_out, sizeof *a->out);
    a->free_p = gbsi_alloc_array(n_out, sizeof *a->free_p); /* never more than the user's states */
    GBSI_PASS(GBSI_HAVE(err, "pairs", a->request, a->asked, a->marginal, a->out, a->free_p));
    for (size_t i = 0; i < n; ++i) {
        request *r = &a->request[i];
        r->variable[0] = whole->free_variable[pair[2 * i]];
        r->variable[1] = whole->free_variable[pair[2 * i + 1]];
        r->p = NULL;
        if (is_joint(&a->solver, r->variable)) {
            r->p = a->free_p + n_free;
            n_free += (size_t)whole->arity[r->variable[0]] * whole->arity[r->variable[1]];
        }
    }
    return GBS_OK;
}

static int by_clique(const void *a, const void *b)
{
    const gbsi_tree_pair *x = a;
    const gbsi_tree_pair *y = b;
    return (x->clique > y->clique) - (x->clique < y->clique);
}

/* Calibrates all trees and answers the pairs that share a clique. */
static gbs_status calibrate(pairs *a, size_t n_asked, gbs_error *err)
{
    gbsi_solver *s = &a->solver;
    const uint32_t n = s->tree->model->n_variables;
    gbsi_free(a->home);
    a->home = gbsi_alloc_array(n, sizeof *a->home);
    GBSI_PASS(GBSI_HAVE(err, "pairs", a->home));
    gbsi_tree_homes(s->tree, a->home);
    for (uint32_t v = s->whole->n_variables; v < n; ++v) {
        a->home[v] = GBSI_NONE; /* variables of chains: their marginals are not needed */
    }
    qsort(a->asked, n_asked, sizeof *a->asked, by_clique);
    for (uint32_t t = 0; t < s->tree->n_trees; ++t) {
        double log_z = 0.0;
        gbsi_tree_up(s->tables, t, &log_z);
        if (log_z == -INFINITY) {
            return gbsi_impossible(err);
        }
        gbsi_tree_down(s->tables, t, a->home, a->marginal, a->asked, n_asked);
    }
    return GBS_OK;
}

static void normalise(double *p, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        sum += p[i];
    }
    assert(sum > 0.0);
    for (size_t i = 0; i < n; ++i) {
        p[i] /= sum;
    }
}

/* Answers a pair whose variables share no clique with a separate junction tree. */
static gbs_status solve_apart(pairs *a, const request *r, gbs_error *err)
{
    uint32_t pair[] = {r->variable[0], r->variable[1]};
    const gbsi_edges edge = {.n = 1, .pair = pair};
    gbsi_solver_forget(&a->solver);
    GBSI_PASS(gbsi_solver_plan(&a->solver, (gbsi_exact_limits){.extra = &edge}, true, err));
    a->asked[0] = (gbsi_tree_pair){.clique = gbsi_tree_find_pair(a->solver.tree, pair[0], pair[1]),
                                   .variable = {pair[0], pair[1]},
                                   .p = r->p};
    return calibrate(a, 1, err);
}

/* p(u = a) for the user's state a; variable u may be free or fixed. */
static double single(const pairs *a, uint32_t user, uint32_t state)
{
    const gbsi_conditioned *whole = a->solver.whole;
    const uint32_t v = whole->free_variable[user];
    if (v == GBSI_NONE) {
        return whole->fixed_state[user] == state ? 1.0 : 0.0;
    }
    for (uint32_t k = 0; k < whole->arity[v]; ++k) {
        if (gbsi_conditioned_states(whole, v)[k] == state) {
            return a->marginal[whole->state_offset[v] + k];
        }
    }
    return 0.0;
}

static void write_joint(const gbsi_conditioned *whole, const request *r, uint32_t user_columns,
                        double *out)
{
    const uint32_t u = r->variable[0];
    const uint32_t v = r->variable[1];
    const double *p = r->p;
    for (uint32_t i = 0; i < whole->arity[u]; ++i) {
        const size_t row = gbsi_conditioned_states(whole, u)[i];
        for (uint32_t j = 0; j < whole->arity[v]; ++j) {
            out[row * user_columns + gbsi_conditioned_states(whole, v)[j]] = *p++;
        }
    }
}

static void write_pairs(const pairs *a, const gbs_model *model, size_t n, const uint32_t *pair)
{
    double *out = a->out;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t rows = model->arity[pair[2 * i]];
        const uint32_t columns = model->arity[pair[2 * i + 1]];
        if (a->request[i].p != NULL) {
            write_joint(a->solver.whole, &a->request[i], columns, out);
        }
        for (uint32_t k = 0; a->request[i].p == NULL && k < rows; ++k) {
            const double p = single(a, pair[2 * i], k);
            for (uint32_t j = 0; p > 0.0 && j < columns; ++j) {
                out[(size_t)k * columns + j] = p * single(a, pair[2 * i + 1], j);
            }
        }
        out += (size_t)rows * columns;
    }
}

/* Answers pairs that share a clique together, and every other pair by itself. */
static gbs_status solve(pairs *a, size_t n, gbs_error *err)
{
    size_t n_asked = 0;
    size_t n_apart = 0;
    for (size_t i = 0; i < n; ++i) {
        request *r = &a->request[i];
        if (r->p == NULL) {
            continue;
        }
        const uint32_t c = gbsi_tree_find_pair(a->solver.tree, r->variable[0], r->variable[1]);
        if (c != GBSI_NONE) {
            a->asked[n_asked++] = (gbsi_tree_pair){
                .clique = c, .variable = {r->variable[0], r->variable[1]}, .p = r->p};
        }
        r->apart = c == GBSI_NONE;
        n_apart += r->apart;
    }
    GBSI_PASS(calibrate(a, n_asked, err));
    for (size_t i = 0; n_apart > 0 && i < n; ++i) {
        if (a->request[i].p != NULL && a->request[i].apart) {
            GBSI_PASS(solve_apart(a, &a->request[i], err));
        }
    }
    for (size_t i = 0; i < n; ++i) {
        const request *r = &a->request[i];
        const uint32_t *arity = a->solver.whole->arity;
        if (r->p != NULL) {
            normalise(r->p, (size_t)arity[r->variable[0]] * arity[r->variable[1]]);
        }
    }
    return GBS_OK;
}

gbs_status gbs_exact_pairs(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, size_t n, const uint32_t *pair,
                           double *p, gbs_error *err)
{
    GBSI_NEED(model);
    if (n > 0) {
        GBSI_NEED(pair, p);
    }
    gbs_status status = GBS_OK;
    pairs a = {0};
    size_t n_out = 0;
    GBSI_TRY(check_pairs(model, n, pair, &n_out, err));
    GBSI_TRY(gbsi_solver_init_about(&a.solver, model, evidence, options, 2 * n, pair, true, err));
    GBSI_TRY(gbsi_solver_plan(&a.solver, (gbsi_exact_limits){0}, true, err));
    GBSI_TRY(take_room(&a, n, pair, n_out, err));
    GBSI_TRY(solve(&a, n, err));
    write_pairs(&a, model, n, pair);
    if (n_out > 0) { /* p may be NULL without pairs */
        memcpy(p, a.out, n_out * sizeof *p);
    }

cleanup:
    pairs_free(&a);
    return status;
}
