/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the joint distribution of some variables, which are called the query. In each component
 * the variables of the query are made neighbours of one another, and are eliminated last. The root
 * of the component's junction tree then consists of these variables alone, and the messages to the
 * root give their joint weights. No message goes back down. Components are independent. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "satisfy/satisfy.h"
#include "simd/math.h"
#include "solve/solve.h"

/* The part of the query in one component. */
typedef struct part {
    size_t at; /* index in joint.p of the part's joint states, which are numbered in mixed radix;
                  the query's first variable varies slowest */
    size_t n;  /* number of joint states of the part */
} part;

typedef struct joint {
    gbsi_solver solver;
    uint32_t n;
    uint32_t *variable; /* [n] number of each queried variable among the free variables; GBSI_NONE
                           if the variable is fixed */
    uint8_t *late;      /* [free variables] 1: the variable is in the query */
    uint32_t *pair;     /* pairs of variables that are made neighbours */
    part *part;         /* [components] part of the query in each component */
    size_t *stride;     /* [n] stride of each queried variable in its part */
    uint32_t *x;        /* [n] current states */
    double *p;
    double *out; /* [user's joint states] the answer: probabilities of the query's joint states */
} joint;

static void joint_free(joint *j)
{
    gbsi_solver_free(&j->solver);
    GBSI_FREE(j->variable, j->late, j->pair, j->part, j->stride, j->x, j->p, j->out);
}

static gbs_status check(const gbs_model *model, uint32_t n, const uint32_t *query, size_t *n_out,
                        gbs_error *err)
{
    *n_out = 1;
    for (uint32_t i = 0; i < n; ++i) {
        if (query[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "joint: there is no variable %" PRIu32 ", the model has %" PRIu32,
                             query[i], model->n_variables);
        }
        for (uint32_t k = 0; k < i; ++k) {
            if (query[k] == query[i]) {
                return gbsi_fail(err, GBS_ERR_ARGUMENT,
                                 "joint: variable %" PRIu32 " is given twice", query[i]);
            }
        }
        *n_out *= model->arity[query[i]];
        if (*n_out > GBS_JOINT_MAX_STATES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "joint: %" PRIu32 " variable%s more than %" PRIu64
                             " joint states, which are the most: ask for fewer variables",
                             n, gbsi_plural_of(n, " has", "s have"), GBS_JOINT_MAX_STATES);
        }
    }
    return GBS_OK;
}

static uint32_t component_of(const joint *j, uint32_t i)
{
    return j->solver.components->of[j->variable[i]];
}

static gbs_status take_room(joint *j, size_t n_out, gbs_error *err)
{
    const gbsi_conditioned *whole = j->solver.whole;
    const size_t n = j->n;
    j->variable = gbsi_alloc_array(n, sizeof *j->variable);
    j->late = gbsi_alloc_array_zero(whole->n_variables, 1);
    j->pair = gbsi_alloc_array(n * n, sizeof *j->pair);
    j->part = gbsi_alloc_array_zero(j->solver.components->n, sizeof *j->part);
    j->stride = gbsi_alloc_array(n, sizeof *j->stride);
    j->x = gbsi_alloc_array_zero(n, sizeof *j->x);
    j->p = gbsi_alloc_array(
        2 * n_out, sizeof *j->p); /* large enough, because each part has at least 2 joint states */
    j->out = gbsi_alloc_array_zero(n_out, sizeof *j->out);
    return GBSI_HAVE(err, "joint", j->variable, j->late, j->pair, j->part, j->stride, j->x, j->p,
                     j->out);
}

/* Lists the parts of the query, and the pairs of variables that become neighbours. @return the
 * number of pairs. */
static size_t lay_out(joint *j, const uint32_t *query)
{
    const gbsi_conditioned *whole = j->solver.whole;
    size_t n_pairs = 0;
    size_t at = 0;
    for (uint32_t i = j->n; i-- > 0;) {
        j->variable[i] = whole->free_variable[query[i]];
        if (j->variable[i] == GBSI_NONE) {
            continue;
        }
        part *own = &j->part[component_of(j, i)];
        j->late[j->variable[i]] = 1;
        j->stride[i] = own->n == 0 ? 1 : own->n;
        own->n = j->stride[i] * whole->arity[j->variable[i]];
        for (uint32_t k = i + 1; k < j->n; ++k) {
            if (j->variable[k] != GBSI_NONE && component_of(j, k) == component_of(j, i)) {
                j->pair[2 * n_pairs] = j->variable[i];
                j->pair[2 * n_pairs++ + 1] = j->variable[k];
            }
        }
    }
    for (uint32_t c = 0; c < j->solver.components->n; ++c) {
        j->part[c].at = at;
        at += j->part[c].n;
    }
    return n_pairs;
}

/* Returns the stride that variable v of the root has in the numbering of its part's joint states.
 */
static size_t stride_of(const joint *j, uint32_t v)
{
    uint32_t i = 0;
    while (j->variable[i] != v) {
        ++i;
        assert(i < j->n); /* the root has only variables of the query */
    }
    return j->stride[i];
}

/* Computes p(part) from the log-weights of the root. */
static void read_root(joint *j, const gbsi_clique *root)
{
    const gbsi_tree *tree = j->solver.tree;
    const double *table = gbsi_table_of(j->solver.tables, root);
    const uint32_t *variable = tree->variable + root->first;
    const part *own = &j->part[j->solver.components->of[variable[0]]];
    double top = -INFINITY;
    double sum = 0.0;
    size_t at = 0;
    for (size_t e = 0; e < own->n; ++e) {
        top = table[e] > top ? table[e] : top;
    }
    memset(j->x, 0, j->n * sizeof *j->x);
    for (size_t e = 0; e < own->n; ++e) {
        const double weight = gbsi_exp(table[e] - top);
        j->p[own->at + at] = weight;
        sum += weight;
        for (uint32_t k = root->n_own; k-- > 0;) {
            const size_t stride = stride_of(j, variable[k]);
            at += stride;
            if (++j->x[k] < tree->model->arity[variable[k]]) {
                break;
            }
            at -= j->x[k] * stride;
            j->x[k] = 0;
        }
    }
    assert(at == 0); /* the walk has returned to its first state */
    for (size_t e = 0; e < own->n; ++e) {
        j->p[own->at + e] /= sum;
    }
}

/* Passes messages up all trees, and reads the joint weights of the queried variables. */
static gbs_status solve(joint *j, gbs_error *err)
{
    const gbsi_tree *tree = j->solver.tree;
    for (uint32_t t = 0; t < tree->n_trees; ++t) {
        double log_z = 0.0;
        const gbsi_clique *root = &tree->clique[tree->tree_end[t] - 1];
        gbsi_tree_up(j->solver.tables, t, &log_z);
        if (log_z == -INFINITY) {
            return gbsi_impossible(j->solver.whole, err);
        }
        if (root->maximise) {
            read_root(j, root);
        }
    }
    return GBS_OK;
}

/* Writes, in the order of the user's joint states, the products of the probabilities of the parts.
 */
static void put_joint(joint *j, const gbs_model *model, const uint32_t *query, size_t n_out)
{
    const gbsi_conditioned *whole = j->solver.whole;
    for (size_t e = 0; e < n_out; ++e) {
        double p = 1.0;
        size_t rest = e;
        for (uint32_t i = j->n;
             i-- > 0;) { /* state of each queried variable; GBSI_NONE if the state is ruled out */
            const uint32_t v = j->variable[i];
            const uint32_t state = (uint32_t)(rest % model->arity[query[i]]);
            rest /= model->arity[query[i]];
            uint32_t a = v == GBSI_NONE && whole->fixed_state[query[i]] == state ? 0 : GBSI_NONE;
            for (uint32_t k = 0; v != GBSI_NONE && k < whole->arity[v]; ++k) {
                a = gbsi_conditioned_states(whole, v)[k] == state ? k : a;
            }
            j->x[i] = a;
            p = a == GBSI_NONE ? 0.0 : p;
        }
        for (uint32_t i = 0; p > 0.0 && i < j->n; ++i) {
            size_t at = 0;
            bool first = j->variable[i] != GBSI_NONE;
            for (uint32_t k = 0; first && k < j->n; ++k) {
                if (j->variable[k] != GBSI_NONE && component_of(j, k) == component_of(j, i)) {
                    first = k >= i; /* whether the variable is the first of its part */
                    at += j->x[k] * j->stride[k];
                }
            }
            p *= first ? j->p[j->part[component_of(j, i)].at + at] : 1.0;
        }
        assert(p >= 0.0 && p <= 1.0);
        j->out[e] = p;
    }
}

gbs_status gbs_exact_joint(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                           double *p, gbs_error *err)
{
    GBSI_NEED(model, p);
    if (n > 0) {
        GBSI_NEED(query);
    }
    gbs_status status = GBS_OK;
    joint j = {.n = n};
    size_t n_out = 0;
    GBSI_TRY(check(model, n, query, &n_out, err));
    GBSI_TRY(gbsi_solver_init_about(&j.solver, model, evidence, options, n, query, true, err));
    GBSI_TRY(take_room(&j, n_out, err));
    const gbsi_edges extra = {.n = lay_out(&j, query), .pair = j.pair};
    const gbsi_exact_limits limits = {
        .late = j.late, .extra = extra.n > 0 ? &extra : NULL, .up_only = true};
    GBSI_TRY(gbsi_solver_plan(&j.solver, limits, true, err));
    GBSI_TRY(solve(&j, err));
    put_joint(&j, model, query, n_out);
    memcpy(p, j.out, n_out * sizeof *p);

cleanup:
    joint_free(&j);
    return status;
}
