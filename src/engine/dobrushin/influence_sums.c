/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the sums of all rows of the matrix. If every factor has two variables and no two factors
 * have the same two, each entry of the matrix comes from one factor. One walk through the factors
 * then adds up the range of each variable's log-odds, and a second walk computes the entries. In a
 * large model whose factors are scattered in memory, two walks take much less time than a search
 * for the factors of every variable. */
#include "base/memory.h"
#include "dobrushin/influence_inside.h"

/* Sums over the factors of one variable that were visited so far. */
typedef struct running {
    range all; /* range of the contribution of these factors to the log-odds of a binary variable */
    double sum;
} running;

static void add_ranges(gbsi_influence *w, size_t f, running *at)
{
    const uint32_t *scope = w->factors->scope + w->factors->scope_start[f];
    for (uint32_t position = 0; position < 2; ++position) {
        running *r = &at[scope[position]];
        if (w->model->arity[scope[position]] == 2) {
            const range odds = gbsi_influence_odds(w, f, position);
            r->all.lo += odds.lo;
            r->all.hi += odds.hi;
        }
    }
}

static gbs_status add_entries(gbsi_influence *w, size_t f, running *at, gbs_error *err)
{
    const uint32_t *scope = w->factors->scope + w->factors->scope_start[f];
    for (uint32_t position = 0; position < 2; ++position) {
        const uint32_t i = scope[position];
        const end e = {.j = scope[1 - position], .use = 0, .position = 1 - position};
        double bound = 1.0;
        w->use[0] = gbsi_influence_use(w, i, f, position);
        const range others = gbsi_range_without(at[i].all, w->use[0].odds);
        GBSI_PASS(gbsi_influence_pair(w, i, &e, 1, others, &bound, err));
        at[i].sum += bound < 1.0 ? bound : 1.0;
    }
    return GBS_OK;
}

static bool is_pair(const gbsi_influence *w, size_t f)
{
    return w->factors->scope_start[f + 1] - w->factors->scope_start[f] == 2;
}

static gbs_status walk_factors(gbsi_influence *w, running *at, gbs_error *err)
{
    const size_t n_factors = w->factors->n_factors;
    void *pointer = w->use;
    GBSI_PASS(gbsi_reserve(&pointer, &w->use_capacity, 1, sizeof *w->use, "influence", err));
    w->use = pointer;
    for (uint32_t i = 0; w->field != NULL && i < w->model->n_variables; ++i) {
        at[i].all = (range){w->field[i], w->field[i]};
    }
    for (size_t f = 0; f < n_factors; ++f) {
        if (is_pair(w, f)) {
            add_ranges(w, f, at);
        }
    }
    for (size_t f = 0; f < n_factors; ++f) {
        if (is_pair(w, f)) {
            GBSI_PASS(add_entries(w, f, at, err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_influence_sums(gbsi_influence *w, double *largest, double *mean, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = w->model->n_variables;
    const bool pairs = w->graph->neighbour != NULL && !gbsi_graph_may_repeat(w->graph);
    running *at = pairs ? gbsi_alloc_array_zero(n, sizeof *at) : NULL;
    double most = 0.0;
    double total = 0.0;
    if (pairs && at == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "influence", n * sizeof *at));
    }
    if (pairs) {
        GBSI_TRY(walk_factors(w, at, err));
    }
    for (uint32_t i = 0; i < n; ++i) {
        double sum = pairs ? at[i].sum : 0.0;
        if (!pairs) {
            GBSI_TRY(gbsi_influence_row_sum(w, i, &sum, err));
        }
        most = sum > most ? sum : most;
        total += sum;
    }
    *largest = most;
    *mean = n == 0 ? 0.0 : total / n;

cleanup:
    gbsi_free(at);
    return status;
}
