/* SPDX-License-Identifier: Apache-2.0 */
/* Computes ln Z and a most probable state (MAP), component by component. Components share no
 * variable: the sum over all states is the product of the components' sums, and the maximum is the
 * product of their maxima. */
#include "gibbsite/exact.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "reference/local.h"
#include "satisfy/satisfy.h"
#include "solve/solve.h"

/* ---- ln Z -------------------------------------------------------------------------------- */

static gbs_status solve_trees(gbsi_solver *s, gbsi_sum *total, uint32_t *x, gbs_error *err)
{
    for (uint32_t t = 0; t < s->tree->n_trees; t++) {
        double part = 0.0;
        gbsi_tree_up(s->tables, t, &part);
        if (part == -INFINITY) {
            return gbsi_impossible(s->whole, err);
        }
        if (x != NULL) {
            gbsi_tree_trace(s->tables, t, x);
        }
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = part});
    }
    return GBS_OK;
}

/* Solves the components that have no dense tree. */
static gbs_status solve_others(gbsi_solver *s, gbsi_sum *total, uint32_t *x, gbs_error *err)
{
    for (const gbsi_codewords *c = s->codewords; c != NULL; c = c->next) {
        double part = 0.0;
        GBSI_PASS(x != NULL ? gbsi_codewords_maximise(c, s->tables->watch, x, &part, err)
                            : gbsi_codewords_sum(c, s->tables->watch, NULL, &part, err));
        if (part == -INFINITY) {
            GBSI_PASS(gbsi_impossible(s->whole, err));
        }
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = part});
    }
    for (const gbsi_sparse *c = s->sparse; c != NULL; c = c->next) {
        double part = 0.0;
        GBSI_PASS(x != NULL ? gbsi_sparse_maximise(c, s->tables->watch, x, &part, err)
                            : gbsi_sparse_sum(c, s->tables->watch, NULL, &part, err));
        if (part == -INFINITY) {
            GBSI_PASS(gbsi_impossible(s->whole, err));
        }
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = part});
    }
    for (const gbsi_cutset *c = s->cutset; c != NULL; c = c->next) {
        double part = 0.0;
        GBSI_PASS(x != NULL ? gbsi_cutset_maximise(c, s->pool, s->tables->watch, x, &part, err)
                            : gbsi_cutset_sum(c, s->pool, s->tables->watch, NULL, &part, err));
        if (part == -INFINITY) {
            GBSI_PASS(gbsi_impossible(s->whole, err));
        }
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = part});
    }
    return GBS_OK;
}

gbs_status gbsi_solve_all(gbsi_solver *s, gbsi_sum *total, uint32_t *x, gbs_error *err)
{
    const gbs_status status = solve_trees(s, total, x, err);
    return status < 0 ? status : solve_others(s, total, x, err);
}

gbs_status gbsi_exact_sum(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_exact_options *options, gbsi_watch *watch, double *log_z,
                          double *ns, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_solver s = {0};
    GBSI_TRY(gbsi_solver_init_about(&s, model, evidence, options, 0, NULL, false, err));
    GBSI_TRY(gbsi_solver_plan(&s, (gbsi_exact_limits){.up_only = true, .watch = watch}, true, err));
    s.tables->watch = watch;
    gbsi_sum total = {.high = s.whole->log_constant};
    *ns = (double)s.tree->n_entries * GBSI_STACK_NS;
    for (const gbsi_codewords *c = s.codewords; c != NULL; c = c->next) {
        *ns += c->ns;
    }
    for (const gbsi_sparse *c = s.sparse; c != NULL; c = c->next) {
        *ns += c->ns;
    }
    for (const gbsi_cutset *c = s.cutset; c != NULL; c = c->next) {
        *ns += c->entries * gbsi_exact_entry_ns(c->keep);
    }
    GBSI_TRY(gbsi_solve_all(&s, &total, NULL, err));
    *log_z = total.high + total.low;

cleanup:
    gbsi_solver_free(&s);
    return status;
}

gbs_status gbs_exact_log_z(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, double *log_z, gbs_error *err)
{
    GBSI_NEED(model, log_z);
    double ns = 0.0;
    return gbsi_exact_sum(model, evidence, options, NULL, log_z, &ns, err);
}

/* ---- MAP --------------------------------------------------------------------------------- */

static gbs_status zero_incumbent(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "incumbent: the state has probability zero");
}

static gbs_status check_incumbent(const gbsi_conditioned *whole, const uint32_t *incumbent,
                                  gbs_error *err)
{
    for (uint32_t u = 0; u < whole->model->n_variables; u++) {
        if (incumbent[u] >= whole->model->arity[u]) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT, "incumbent: variable %u has %u state%s, found state %u", u,
                whole->model->arity[u], gbsi_plural(whole->model->arity[u]), incumbent[u]);
        }
        if (whole->fixed_state[u] != GBSI_NONE && whole->fixed_state[u] != incumbent[u]) {
            return zero_incumbent(err);
        }
    }
    return GBS_OK;
}

/* For the components that have no tree, copies their states in the incumbent, which is a state that
 * the caller gave. @param x [free variables] out. */
static gbs_status keep_incumbent(const gbsi_solver *s, const uint32_t *incumbent, uint32_t *x,
                                 uint32_t *n_kept, gbs_error *err)
{
    const gbsi_conditioned *whole = s->whole;
    for (uint32_t v = 0; v < whole->n_variables; v++) {
        const uint32_t *states = gbsi_conditioned_states(whole, v);
        if (s->take[s->components->of[v]] != 0) {
            continue;
        }
        x[v] = 0;
        while (x[v] < whole->arity[v] && states[x[v]] != incumbent[whole->user_variable[v]]) {
            x[v]++;
        }
        if (x[v] == whole->arity[v]) {
            return zero_incumbent(err);
        }
        ++*n_kept;
    }
    return GBS_OK;
}

double gbsi_exact_log_density(const gbsi_conditioned *whole, const uint32_t *x)
{
    gbsi_sum sum = {.high = whole->log_constant};
    for (size_t f = 0; f < whole->factors.n_factors && sum.high > -INFINITY; f++) {
        sum = gbsi_sum_add(
            sum, (gbsi_sum){.high = gbsi_factor_value(&whole->factors, whole->arity, f, x)});
    }
    return sum.high + sum.low;
}

static void user_states(const gbsi_conditioned *whole, const uint32_t *x, uint32_t *state)
{
    memcpy(state, whole->fixed_state, whole->model->n_variables * sizeof *state);
    for (uint32_t v = 0; v < whole->n_variables; v++) {
        state[whole->user_variable[v]] = gbsi_conditioned_states(whole, v)[x[v]];
    }
}

gbs_status gbs_exact_map(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_exact_options *options, const uint32_t *incumbent,
                         uint32_t *state, double *log_p, uint32_t *n_kept, gbs_error *err)
{
    GBSI_NEED(model, state);
    gbs_status status = GBS_OK;
    gbsi_solver s = {0};
    gbsi_sum total = {0};
    uint32_t kept = 0;
    uint32_t *x = NULL;
    GBSI_TRY(gbsi_solver_init(&s, model, evidence, options, err));
    if (incumbent != NULL) {
        GBSI_TRY(check_incumbent(s.whole, incumbent, err));
    }
    GBSI_TRY(gbsi_solver_plan(&s, (gbsi_exact_limits){.maximise = true}, incumbent == NULL, err));
    x = gbsi_alloc_array(s.tree->model->n_variables, sizeof *x);
    GBSI_TRY(GBSI_HAVE(err, "state", x));
    GBSI_TRY(keep_incumbent(&s, incumbent, x, &kept, err));
    GBSI_TRY(gbsi_solve_all(&s, &total, x, err));
    const double found = gbsi_exact_log_density(s.whole, x);
    if (found == -INFINITY) {
        GBSI_TRY(zero_incumbent(err));
    }
    user_states(s.whole, x, state);
    if (log_p != NULL) {
        *log_p = found;
    }
    if (n_kept != NULL) {
        *n_kept = kept;
    }

cleanup:
    gbsi_free(x);
    gbsi_solver_free(&s);
    return status;
}
