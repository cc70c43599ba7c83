/* SPDX-License-Identifier: Apache-2.0 */
/* Computes rows of the matrix. For row i, it lists the factors and the neighbours of variable i,
 * and computes one bound for each neighbour. If i is binary, the bound for a neighbour also depends
 * on the factors that i does not share with this neighbour. These factors shift the log-odds of i
 * within a range, which is the sum of the ranges of the single factors. */
#include "dobrushin/influence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dobrushin/influence_inside.h"

static double field_odds(const gbsi_influence *w, size_t f)
{
    const uint32_t zero = 0;
    const uint32_t one = 1;
    return gbsi_factor_value_at(w->factors, w->model->arity, f, &one) -
           gbsi_factor_value_at(w->factors, w->model->arity, f, &zero);
}

/* Adds up, for each binary variable, the log-odds from its factors of one variable. */
static gbs_status add_fields(gbsi_influence *w, gbs_error *err)
{
    const gbsi_factors *factors = w->factors;
    const size_t n = w->model->n_variables;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const uint32_t v = factors->scope[factors->scope_start[f]];
        if (factors->scope_start[f + 1] - factors->scope_start[f] > 1 || w->model->arity[v] != 2) {
            continue;
        }
        if (w->field == NULL) {
            w->field = gbsi_alloc_array_zero(n, sizeof *w->field);
        }
        GBSI_PASS(GBSI_HAVE(err, "influence", w->field));
        w->field[v] += field_odds(w, f);
    }
    return GBS_OK;
}

gbs_status gbsi_influence_new(const gbsi_graph *graph, const gbsi_influence_limits *limits,
                              gbsi_influence **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influence *w = gbsi_alloc_zero(sizeof *w);
    GBSI_PASS(GBSI_HAVE(err, "influence", w));
    w->graph = graph;
    w->model = graph->model;
    w->factors = &graph->model->factors;
    w->limits =
        limits != NULL ? *limits : (gbsi_influence_limits){GBSI_INFLUENCE_CELLS, UINT64_MAX};
    assert(w->limits.cells <= GBSI_INFLUENCE_CELLS);
    GBSI_TRY(add_fields(w, err));
    *out = w;
    w = NULL;

cleanup:
    gbsi_influence_free(w);
    return status;
}

void gbsi_influence_free(gbsi_influence *w)
{
    if (w == NULL) {
        return;
    }
    gbsi_incident_factors_free(&w->incident);
    GBSI_FREE(w->field, w->use, w->end, w->j, w->bound, w->slab, w->delta, w);
}

/* ---- a row --------------------------------------------------------------------------------- */

static bool is_long(const gbsi_influence *w, size_t f)
{
    return w->factors->scope_start[f + 1] - w->factors->scope_start[f] > GBSI_INFLUENCE_LONG &&
           w->factors->kind[f] != GBS_FACTOR_TABLE;
}

use gbsi_influence_use(gbsi_influence *w, uint32_t i, size_t f, uint32_t position)
{
    use u = {.f = f, .position = position};
    if (w->factors->kind[f] == GBS_FACTOR_TABLE) {
        gbsi_table_size_up(w, &u);
    }
    if (w->model->arity[i] == 2) {
        u.odds = gbsi_influence_odds(w, f, position);
    }
    return u;
}

/* Adds an incident factor of i to w->use. @param k index in the list of incident factors. */
static gbs_status add_use(gbsi_influence *w, uint32_t i, size_t k, gbs_error *err)
{
    void *pointer = w->use;
    GBSI_PASS(
        gbsi_reserve(&pointer, &w->use_capacity, w->n_use + 1, sizeof *w->use, "influence", err));
    w->use = pointer;
    w->use[w->n_use++] = gbsi_influence_use(w, i, w->incident.factor[k],
                                            gbsi_incident_position(&w->incident, w->factors, k, i));
    return GBS_OK;
}

static gbs_status add_ends(gbsi_influence *w, uint32_t i, uint32_t k, gbs_error *err)
{
    const size_t first = w->factors->scope_start[w->use[k].f];
    const size_t end_of = w->factors->scope_start[w->use[k].f + 1];
    void *pointer = w->end;
    GBSI_PASS(gbsi_reserve(&pointer, &w->end_capacity, w->n_end + (end_of - first), sizeof *w->end,
                           "influence", err));
    w->end = pointer;
    for (size_t s = first; s < end_of; ++s) {
        if (w->factors->scope[s] != i) {
            w->end[w->n_end++] =
                (end){.j = w->factors->scope[s], .use = k, .position = (uint32_t)(s - first)};
        }
    }
    return GBS_OK;
}

static int by_neighbour(const void *a, const void *b)
{
    const end *x = a;
    const end *y = b;
    return x->j != y->j ? (x->j > y->j ? 1 : -1) : (x->use > y->use) - (x->use < y->use);
}

/* Sorts the list w->end by neighbour. Most rows are nearly sorted already, because factors are
 * visited in order. */
static void sort_ends(end *e, size_t n)
{
    size_t sorted = 1;
    while (sorted < n && by_neighbour(&e[sorted - 1], &e[sorted]) < 0) {
        ++sorted;
    }
    if (sorted >= n) {
        return;
    }
    if (n > 16) {
        qsort(e, n, sizeof *e, by_neighbour);
        return;
    }
    for (size_t i = sorted; i < n; ++i) {
        const end one = e[i];
        size_t k = i;
        for (; k > 0 && by_neighbour(&e[k - 1], &one) > 0; --k) {
            e[k] = e[k - 1];
        }
        e[k] = one;
    }
}

/* Merges the factors of the same two variables into the first of them, which gets the range of the
 * sum of these factors. */
static void merge_parallel(gbsi_influence *w, uint32_t i)
{
    for (size_t k = 0; k < w->n_end; ++k) {
        end *first = &w->end[k];
        size_t m = 0;
        for (size_t q = k; q < w->n_end && w->end[q].j == first->j; ++q) {
            const size_t f = w->use[w->end[q].use].f;
            if (w->factors->scope_start[f + 1] - w->factors->scope_start[f] == 2) {
                const end one = w->end[q]; /* factors of two variables come first */
                w->end[q] = first[m];
                first[m++] = one;
            }
        }
        if (m > 1) {
            const range odds = gbsi_influence_parallel(w, i, first, m);
            for (size_t q = 0; q < m; ++q) {
                w->use[first[q].use].odds = q == 0 ? odds : (range){0.0, 0.0};
            }
        }
        while (k + 1 < w->n_end && w->end[k + 1].j == first->j) {
            ++k;
        }
    }
}

/* Gathers the factors and neighbours of i. @param list whether neighbours that share a long
 * factor with i are listed too. @param all out: if i is binary, the range of the contribution of
 * all factors to the log-odds of i. */
static gbs_status gather(gbsi_influence *w, uint32_t i, bool list, range *all, gbs_error *err)
{
    const double field = w->field == NULL ? 0.0 : w->field[i];
    *all = (range){field, field};
    w->n_use = 0;
    w->n_end = 0;
    if (w->incident.factor == NULL) {
        GBSI_PASS(
            gbsi_incident_factors_init(w->factors, w->model->n_variables, 2, &w->incident, err));
    }
    const size_t past = gbsi_offset(&w->incident.start, i + (size_t)1);
    for (size_t k = gbsi_offset(&w->incident.start, i); k < past; ++k) {
        const size_t f = w->incident.factor[k];
        GBSI_PASS(add_use(w, i, k, err));
        if (list || !is_long(w, f)) {
            GBSI_PASS(add_ends(w, i, (uint32_t)w->n_use - 1, err));
        }
    }
    sort_ends(w->end, w->n_end);
    if (w->model->arity[i] == 2) {
        merge_parallel(w, i);
    }
    for (size_t k = 0; k < w->n_use; ++k) {
        all->lo += w->use[k].odds.lo;
        all->hi += w->use[k].odds.hi;
    }
    return GBS_OK;
}

static gbs_status make_row(gbsi_influence *w, uint32_t i, range all, uint32_t *n_row,
                           gbs_error *err)
{
    uint32_t n = 0;
    void *pointer = w->j;
    GBSI_PASS(gbsi_reserve(&pointer, &w->j_capacity, w->n_end, sizeof *w->j, "influence", err));
    w->j = pointer;
    pointer = w->bound;
    GBSI_PASS(
        gbsi_reserve(&pointer, &w->bound_capacity, w->n_end, sizeof *w->bound, "influence", err));
    w->bound = pointer;
    for (size_t k = 0; k < w->n_end; ++n) {
        const end *e = &w->end[k];
        range own = {0.0, 0.0};
        size_t m = 0;
        for (; k + m < w->n_end && e[m].j == e->j; ++m) {
            own.lo += w->use[e[m].use].odds.lo;
            own.hi += w->use[e[m].use].odds.hi;
        }
        double bound = 1.0;
        GBSI_PASS(gbsi_influence_pair(w, i, e, m, gbsi_range_without(all, own), &bound, err));
        w->j[n] = e->j;
        w->bound[n] = bound < 1.0 ? bound : 1.0;
        k += m;
    }
    *n_row = n;
    return GBS_OK;
}

gbs_status gbsi_influence_row_of(gbsi_influence *w, uint32_t i, gbsi_influence_row *row,
                                 gbs_error *err)
{
    range all;
    uint32_t n = 0;
    GBSI_PASS(gather(w, i, true, &all, err));
    GBSI_PASS(make_row(w, i, all, &n, err));
    *row = (gbsi_influence_row){.n = n, .j = w->j, .bound = w->bound};
    return GBS_OK;
}

/* The bound on the sum of a row treats a long factor as if i shared no other factor with the
 * variables of the long factor. This is valid, because the influence through several factors is at
 * most the sum of the bounds of the factors. */
gbs_status gbsi_influence_row_sum(gbsi_influence *w, uint32_t i, double *sum, gbs_error *err)
{
    range all;
    uint32_t n = 0;
    double total = 0.0;
    GBSI_PASS(gather(w, i, false, &all, err));
    GBSI_PASS(make_row(w, i, all, &n, err));
    for (uint32_t k = 0; k < n; ++k) {
        total += w->bound[k];
    }
    for (size_t k = 0; k < w->n_use; ++k) {
        if (is_long(w, w->use[k].f)) {
            total += gbsi_influence_long(w, i, &w->use[k], gbsi_range_without(all, w->use[k].odds));
        }
    }
    *sum = total;
    return GBS_OK;
}
