/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity/reduced.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

struct gbsi_zero_entries {
    const gbsi_reduced *reduced;
    /* [factors] index of each factor in the array `factor`; GBSI_NONE if the factor's zeros are not
     * estimated */
    uint32_t *table;
    size_t n;
    size_t *factor;        /* [n] conditional tables whose zeros are estimated */
    size_t *first, *other; /* the other factors of the child of table k are other[first[k]] to
                              other[first[k + 1] - 1] */
    uint32_t *state; /* [user's variables] copy of a draw, in which the child's state is changed */
    double *logr;    /* [largest arity] R(c) of each state c; at first its logarithm */
};

void gbsi_zero_entries_free(gbsi_zero_entries *zeros)
{
    if (zeros != NULL) {
        GBSI_FREE(zeros->table, zeros->factor, zeros->first, zeros->other, zeros->state,
                  zeros->logr, zeros);
    }
}

static uint32_t child_of(const gbsi_factors *f, size_t factor)
{
    return f->scope[f->scope_start[factor + 1] - 1];
}

static const double *logs_of(const gbsi_factors *f, size_t factor)
{
    return f->table + f->table_start[f->aux[factor]];
}

static bool has_zeros(const gbsi_factors *f, size_t factor)
{
    const double *logs = logs_of(f, factor);
    for (size_t i = 0; i < gbsi_factor_size(f, factor); ++i) {
        if (logs[i] == -INFINITY) {
            return true;
        }
    }
    return false;
}

static bool likes_all(const gbsi_reduced *r, uint32_t v)
{
    const double *l = gbsi_log_likelihood(r->evidence, v);
    for (uint32_t a = 0; l != NULL && a < r->user->arity[v]; ++a) {
        if (l[a] == -INFINITY) {
            return false;
        }
    }
    return true;
}

/* Finds the table of each child v; GBSI_NONE if another factor of the child has zeros. */
static void find_tables(gbsi_zero_entries *z, uint32_t *of_child)
{
    const gbsi_reduced *r = z->reduced;
    const gbsi_factors *f = &r->user->factors;
    for (uint32_t v = 0; v < r->user->n_variables; ++v) {
        of_child[v] = GBSI_NONE;
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint32_t v = child_of(f, i);
        if (f->kind[i] == GBS_FACTOR_TABLE && r->number[v] != GBSI_NONE && has_zeros(f, i) &&
            likes_all(r, v)) {
            of_child[v] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const bool bad = f->kind[i] != GBS_FACTOR_TABLE || has_zeros(f, i);
        for (size_t k = f->scope_start[i]; bad && k < f->scope_start[i + 1]; ++k) {
            const uint32_t v = f->scope[k];
            of_child[v] = of_child[v] == (uint32_t)i ? of_child[v] : GBSI_NONE;
        }
    }
}

/* Finds the other factors of each child. On the first call the function adds their number to
 * first[k + 1]. On the second call it writes the factors from first[k] on, and advances first[k] by
 * their number. */
static void find_others(gbsi_zero_entries *z, const uint32_t *of_child)
{
    const gbsi_factors *f = &z->reduced->user->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        for (size_t j = f->scope_start[i]; j < f->scope_start[i + 1]; ++j) {
            const uint32_t own = of_child[f->scope[j]];
            if (own == GBSI_NONE || own == i) {
                continue;
            }
            const uint32_t k = z->table[own];
            if (z->other == NULL) {
                ++z->first[k + 1];
            } else {
                z->other[z->first[k]++] = i;
            }
        }
    }
}

static gbs_status make(gbsi_zero_entries *z, uint32_t *of_child, gbs_error *err)
{
    const gbs_model *m = z->reduced->user;
    const size_t n_factors = m->factors.n_factors;
    uint32_t largest = 1;
    z->table = gbsi_alloc_array(n_factors, sizeof *z->table);
    z->factor = gbsi_alloc_array(n_factors, sizeof *z->factor);
    z->first = gbsi_alloc_array_zero(n_factors + 1, sizeof *z->first);
    z->state = gbsi_alloc_array(m->n_variables, sizeof *z->state);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", z->table, z->factor, z->first, z->state));
    for (size_t i = 0; i < n_factors; ++i) {
        const uint32_t v = child_of(&m->factors, i);
        z->table[i] = of_child[v] == i ? (uint32_t)z->n : GBSI_NONE;
        largest = m->arity[v] > largest ? m->arity[v] : largest;
        if (of_child[v] == i) {
            z->factor[z->n++] = i;
        }
    }
    find_others(z, of_child);
    for (size_t k = 0; k < z->n; ++k) {
        z->first[k + 1] += z->first[k];
    }
    z->other = gbsi_alloc_array(z->first[z->n] + 1, sizeof *z->other);
    z->logr = gbsi_alloc_array(largest, sizeof *z->logr);
    GBSI_PASS(GBSI_HAVE(err, "sensitivity", z->other, z->logr));
    find_others(z, of_child);
    for (size_t k = z->n; k > 0; --k) { /* each offset has moved to the start of the next one */
        z->first[k] = z->first[k - 1];
    }
    z->first[0] = 0;
    return GBS_OK;
}

gbs_status gbsi_zero_entries_new(const gbsi_reduced *reduced, gbsi_zero_entries **out,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *m = reduced->user;
    uint32_t *of_child = NULL;
    gbsi_zero_entries *z = NULL;
    if (!m->directed) {
        *out = NULL;
        return GBS_OK;
    }
    z = gbsi_alloc_zero(sizeof *z);
    of_child = gbsi_alloc_array(m->n_variables, sizeof *of_child);
    GBSI_TRY(GBSI_HAVE(err, "sensitivity", z, of_child));
    z->reduced = reduced;
    find_tables(z, of_child);
    GBSI_TRY(make(z, of_child, err));
    *out = z;
    z = NULL;

cleanup:
    gbsi_zero_entries_free(z);
    gbsi_free(of_child);
    return status;
}

bool gbsi_zero_entries_answers(const gbsi_zero_entries *zeros, size_t factor)
{
    return zeros != NULL && zeros->table[factor] != GBSI_NONE;
}

/* ---- a draw ---------------------------------------------------------------------------------- */

/* Computes R(c) for each state c of the child, scaled so that the largest is 1. */
static void find_rest(gbsi_zero_entries *z, size_t k, uint32_t child)
{
    const gbs_model *m = z->reduced->user;
    const double *l = gbsi_log_likelihood(z->reduced->evidence, child);
    const uint32_t now = z->state[child];
    double most = -INFINITY;
    for (uint32_t c = 0; c < m->arity[child]; ++c) {
        z->state[child] = c;
        z->logr[c] = l != NULL ? l[c] : 0.0;
        for (size_t i = z->first[k]; i < z->first[k + 1]; ++i) {
            z->logr[c] += gbsi_factor_value(&m->factors, m->arity, z->other[i], z->state);
        }
        most = z->logr[c] > most ? z->logr[c] : most;
    }
    z->state[child] = now;
    for (uint32_t c = 0; c < m->arity[child]; ++c) {
        z->logr[c] = gbsi_exp(z->logr[c] - most);
    }
}

void gbsi_zero_entries_add(gbsi_zero_entries *zeros, const uint32_t *state, const size_t *cell,
                           double *sum)
{
    gbsi_zero_entries *z = zeros;
    const gbsi_reduced *r = z->reduced;
    const gbsi_factors *f = &r->user->factors;
    memcpy(z->state, state, r->user->n_variables * sizeof *state);
    for (size_t k = 0; k < z->n; ++k) {
        const size_t factor = z->factor[k];
        const uint32_t child = child_of(f, factor);
        const uint32_t arity = r->user->arity[child];
        size_t free_at = 0; /* offsets of the column among the cells and in the table */
        size_t at = 0;
        for (size_t j = f->scope_start[factor]; j + 1 < f->scope_start[factor + 1]; ++j) {
            const uint32_t v = f->scope[j];
            at = at * r->user->arity[v] + state[v];
            free_at = r->number[v] == GBSI_NONE ? free_at : free_at * r->user->arity[v] + state[v];
        }
        const double *logs = logs_of(f, factor) + at * arity;
        double total = 0.0;
        find_rest(z, k, child);
        for (uint32_t c = 0; c < arity; ++c) {
            total += gbsi_exp(logs[c]) * z->logr[c];
        }
        for (uint32_t c = 0; c < arity; ++c) {
            if (logs[c] == -INFINITY) {
                const size_t is_x = child == r->variable ? c == r->x : state[r->variable] == r->x;
                sum[2 * (cell[factor] + free_at * arity + c) + is_x] += z->logr[c] / total;
            }
        }
    }
}
