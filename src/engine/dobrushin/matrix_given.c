/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the matrix of influences from numbers that a caller gives, which may be any upper bounds
 * of the entries [M38]. Every pair (i, j) gets the two places C_ij and C_ji, so that the pattern
 * is always symmetric. */
#include "dobrushin/matrix.h"

#include <inttypes.h>

#include "base/forest.h"
#include "base/memory.h"

#define ENTRY_BYTES (sizeof(uint32_t) + 2 * sizeof(double) + 2 * sizeof(gbs_pair))
#define NOT_GIVEN   (-1.0) /* value of the entry across the diagonal from a given entry */
#define SORTED      4u     /* number of times that sorting reads each entry */

static const char doing[] = "taking the influences that were given";

static gbs_status check(const gbsi_conditioned *model, const gbs_pair *p, size_t e, gbs_error *err)
{
    const uint32_t n = model->model->n_variables;
    if (p->i >= n || p->j >= n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "given influence %zu: found variables %" PRIu32 " and %" PRIu32
                         ", the model has %" PRIu32,
                         e, p->i, p->j, n);
    }
    if (!(p->value >= 0.0 && p->value <= 1.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the influence of variable %" PRIu32 " on %" PRIu32
                         " is given as %g, expected 0 to 1",
                         p->j, p->i, p->value);
    }
    if (p->i == p->j && p->value != 0.0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the influence of variable %" PRIu32
                         " on itself is given as %g, expected 0 or none",
                         p->i, p->value);
    }
    return GBS_OK;
}

/* Lists, for each given influence between two free variables, the two entries (i, j) and (j, i).
 * @param made [2 n] out. */
static gbs_status collect(const gbsi_conditioned *model, const gbs_pair *pair, size_t n,
                          gbsi_watch *watch, gbs_pair *made, size_t *n_made, gbs_error *err)
{
    *n_made = 0;
    for (size_t e = 0; e < n; ++e) {
        GBSI_PASS(check(model, &pair[e], e, err));
        const uint32_t i = model->free_variable[pair[e].i];
        const uint32_t j = model->free_variable[pair[e].j];
        if (i != GBSI_NONE && j != GBSI_NONE && pair[e].value > 0.0) {
            made[(*n_made)++] = (gbs_pair){i, j, pair[e].value};
            made[(*n_made)++] = (gbs_pair){j, i, NOT_GIVEN};
        }
        if (gbsi_watch_spend(watch, 1)) {
            return gbsi_watch_fail(err, doing);
        }
    }
    return GBS_OK;
}

/* Sorts pairs by i or by j, and keeps the order of pairs with equal keys. @param first
 * [n_variables + 1] scratch. */
static void sort(const gbs_pair *from, size_t n, bool by_j, uint32_t n_variables, size_t *first,
                 gbs_pair *to)
{
    for (uint32_t v = 0; v <= n_variables; ++v) {
        first[v] = 0;
    }
    for (size_t e = 0; e < n; ++e) {
        ++first[(by_j ? from[e].j : from[e].i) + (size_t)1];
    }
    for (uint32_t v = 0; v < n_variables; ++v) {
        first[v + (size_t)1] += first[v];
    }
    for (size_t e = 0; e < n; ++e) {
        to[first[by_j ? from[e].j : from[e].i]++] = from[e];
    }
}

/* Joins the entries at the same place. At most one of them may have been given. */
static gbs_status join(gbsi_influences *c, const gbsi_conditioned *model, const gbs_pair *sorted,
                       size_t n, uint32_t *size, gbs_error *err)
{
    size_t m = 0;
    for (size_t e = 0; e < n; ++e) {
        const gbs_pair *p = &sorted[e];
        if (e == 0 || sorted[e - 1].i != p->i || sorted[e - 1].j != p->j) {
            c->j[m] = p->j;
            c->on[m++] = p->value;
            ++size[p->i];
        } else if (p->value > 0.0 && c->on[m - 1] > 0.0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "the influence of variable %" PRIu32 " on %" PRIu32 " is given twice",
                             model->user_variable[p->j], model->user_variable[p->i]);
        } else if (p->value > 0.0) {
            c->on[m - 1] = p->value;
        }
    }
    for (size_t e = 0; e < m; ++e) {
        c->on[e] = c->on[e] > 0.0 ? c->on[e] : 0.0;
    }
    return GBS_OK;
}

gbs_status gbsi_influences_given(const gbsi_conditioned *model, const gbs_pair *pair, size_t n,
                                 uint64_t room, gbsi_watch *watch, gbsi_influences **out,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_free = model->n_variables;
    size_t m = 0;
    if (n > room / (2 * ENTRY_BYTES)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%zu given influences take %.3g MiB, more than the memory limit leaves", n,
                         2.0 * (double)n * ENTRY_BYTES / 1048576.0);
    }
    gbsi_influences *c = gbsi_alloc_zero(sizeof *c);
    gbs_pair *made = gbsi_alloc_array(n, 2 * sizeof *made);
    gbs_pair *sorted = gbsi_alloc_array(n, 2 * sizeof *sorted);
    size_t *first = gbsi_alloc_array((size_t)n_free + 1, sizeof *first);
    uint32_t *size = gbsi_alloc_array_zero((size_t)n_free + 1, sizeof *size);
    GBSI_TRY(GBSI_HAVE(err, "influences", c, made, sorted, first, size));
    c->n = n_free;
    c->n_given = n;
    GBSI_TRY(collect(model, pair, n, watch, made, &m, err));
    if (gbsi_watch_spend(watch, (uint64_t)SORTED * m)) {
        GBSI_TRY(gbsi_watch_fail(err, doing));
    }
    sort(made, m, true, n_free, first, sorted);
    sort(sorted, m, false, n_free, first, made);
    c->j = gbsi_alloc_array(m, sizeof *c->j);
    c->on = gbsi_alloc_array(m, sizeof *c->on);
    GBSI_TRY(GBSI_HAVE(err, "influences", c->j, c->on));
    GBSI_TRY(join(c, model, made, m, size, err));
    uint32_t *taken = size;
    size = NULL;
    GBSI_TRY(gbsi_offsets_take(taken, n_free, &c->start, "influences", err));
    GBSI_TRY(gbsi_influences_transpose(c, err));
    *out = c;
    c = NULL;

cleanup:
    gbsi_influences_free(c);
    GBSI_FREE(made, sorted, first, size);
    return status;
}

gbs_status gbsi_matrix_components(const gbsi_influences *c, uint32_t *component,
                                  uint32_t *n_components, gbs_error *err)
{
    uint32_t *parent = gbsi_alloc_array(c->n, sizeof *parent);
    GBSI_PASS(GBSI_HAVE(err, "components", parent));
    gbsi_forest_plant(parent, c->n);
    for (uint32_t i = 0; i < c->n; ++i) {
        for (size_t e = gbsi_influences_row(c, i); e < gbsi_influences_row(c, i + (size_t)1); ++e) {
            (void)gbsi_forest_join(parent, i, c->j[e]);
        }
    }
    *n_components = gbsi_forest_number(parent, c->n, component);
    gbsi_free(parent);
    return GBS_OK;
}
