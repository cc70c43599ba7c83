/* SPDX-License-Identifier: Apache-2.0 */
/* Marginal MAP: finds the most probable state of some variables, the query, where the other
 * variables are summed out. An elimination order in which all sums come before all maxima gives the
 * exact answer. Any other order gives an upper bound, because summing after maximising can only
 * give a larger number: max_x sum_y f <= sum_y max_x f (Park & Darwiche 2003, *Solving MAP exactly
 * using systematic search*, UAI). */
#include "solve/mmap.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "gibbsite/exact.h"
#include "reference/local.h"
#include "simd/math.h"
#include "trees/clique_tables.h"
#include "trees/decompose.h"

/* @param late [n_variables] in: zeros; out: 1 for the user's variables of the query. */
static gbs_status mark_query(const gbs_model *model, uint32_t n, const uint32_t *query,
                             uint8_t *late, gbs_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (query[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "query: there is no variable %" PRIu32 ", the model has %" PRIu32,
                             query[i], model->n_variables);
        }
        if (late[query[i]] != 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "query: variable %" PRIu32 " is given twice",
                             query[i]);
        }
        late[query[i]] = 1;
    }
    return GBS_OK;
}

/* Conditions the model on evidence, and marks the free variables of the conditioned model that are
 * in the query. @param late out; owned by the caller, also after a failure. */
static gbs_status begin(gbsi_solver *s, const gbs_model *model, const gbs_evidence *evidence,
                        const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                        uint8_t **late, gbs_error *err)
{
    *late = gbsi_alloc_array_zero(model->n_variables, 1);
    if (*late == NULL) {
        return gbsi_no_memory(err, "query", model->n_variables);
    }
    GBSI_PASS(mark_query(model, n, query, *late, err));
    GBSI_PASS(gbsi_solver_init_about(s, model, evidence, options, n, query, false, err));
    for (uint32_t v = 0; v < s->whole->n_variables;
         v++) { /* the array is overwritten in place, which works because v <= user_variable[v] */
        (*late)[v] = (*late)[s->whole->user_variable[v]];
    }
    return GBS_OK;
}

gbs_status gbsi_exact_mmap(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                           gbsi_watch *watch, uint32_t *state, double *log_p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_solver s = {0};
    uint32_t *x = NULL;
    uint8_t *late = NULL;
    GBSI_TRY(begin(&s, model, evidence, options, n, query, &late, err));
    GBSI_TRY(gbsi_solver_plan(&s, (gbsi_exact_limits){.late = late, .watch = watch}, true, err));
    x = gbsi_alloc_array(s.tree->model->n_variables, sizeof *x);
    GBSI_TRY(GBSI_HAVE(err, "query", x));
    s.tables->watch = watch;
    gbsi_sum total = {.high = s.whole->log_constant};
    GBSI_TRY(gbsi_solve_all(&s, &total, x, err));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = s.whole->free_variable[query[i]];
        assert(v == GBSI_NONE || x[v] < s.whole->arity[v] || gbsi_watch_stopped(watch));
        state[i] = v == GBSI_NONE ? s.whole->fixed_state[query[i]]
                                  : gbsi_conditioned_states(s.whole, v)[x[v]];
    }
    if (log_p != NULL) {
        *log_p = total.high + total.low;
    }

cleanup:
    GBSI_FREE(x, late);
    gbsi_solver_free(&s);
    return status;
}

gbs_status gbs_exact_mmap(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                          uint32_t *state, double *log_p, gbs_error *err)
{
    GBSI_NEED(model);
    if (n > 0) {
        GBSI_NEED(query, state);
    }
    return gbsi_exact_mmap(model, evidence, options, n, query, NULL, state, log_p, err);
}

/* ---- a bound --------------------------------------------------------------------------------- */

/* Computes a bound from the product of the largest entries of all factors and the number of states
 * that are summed over. */
static gbs_status crude_bound(const gbsi_conditioned *model, const uint8_t *late, uint32_t n_late,
                              gbsi_sum *total, gbs_error *err)
{
    double partial = 0.0;
    const gbsi_pieces pieces = {.partial = &partial};
    double *room = gbsi_alloc_array(GBSI_PIECE, sizeof *room);
    GBSI_PASS(GBSI_HAVE(err, "query", room));
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        size_t n = 0;
        double top = -INFINITY;
        const double *logs = gbsi_factor_logs(model, f, room, &n);
        for (size_t i = 0; i < n; i += GBSI_PIECE) {
            const size_t k = n - i < GBSI_PIECE ? n - i : GBSI_PIECE;
            const double most = gbsi_pieces_max(&pieces, logs + i, k);
            top = most > top ? most : top;
        }
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = top});
    }
    for (uint32_t v = 0; v < model->n_variables; v++) {
        const bool summed = v >= n_late || late[v] == 0;
        *total = gbsi_sum_add(*total, (gbsi_sum){.high = summed ? gbsi_log(model->arity[v]) : 0.0});
    }
    gbsi_free(room);
    return GBS_OK;
}

gbs_status gbsi_exact_mmap_bound(const gbs_model *model, const gbs_evidence *evidence,
                                 const gbs_exact_options *options, uint32_t n,
                                 const uint32_t *query, gbsi_watch *watch, double *log_bound,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_solver s = {0};
    gbsi_conditioned *chains = NULL;
    uint8_t *late = NULL;
    GBSI_TRY(begin(&s, model, evidence, options, n, query, &late, err));
    gbsi_sum total = {.high = s.whole->log_constant};
    const gbsi_exact_limits limits = {
        .late = late, .any_order = true, .up_only = true, .watch = watch};
    status = gbsi_solver_plan(&s, limits, true, err);
    if (status == GBS_ERR_LIMIT || status == GBS_ERR_STOPPED) {
        GBSI_TRY(gbsi_decompose(s.whole, false, &chains, err));
        GBSI_TRY(crude_bound(chains != NULL ? chains : s.whole, late, s.whole->n_variables, &total,
                             err));
    } else {
        GBSI_TRY(status);
        s.tables->watch = watch;
        GBSI_TRY(gbsi_solve_all(&s, &total, NULL, err));
    }
    *log_bound = total.high + total.low;

cleanup:
    gbsi_conditioned_free(chains);
    gbsi_free(late);
    gbsi_solver_free(&s);
    return status;
}
