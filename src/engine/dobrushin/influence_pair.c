/* SPDX-License-Identifier: Apache-2.0 */
/* Computes one entry of the matrix. If the factors that i and j share have few variables, the entry
 * is computed from all these factors together (`joint` in [M17]). Otherwise the entry is a sum of
 * one bound per factor (`sum` in [M17]). A single shared factor is measured by itself: spins and
 * logical factors have closed forms or few cases, and tables are read entry by entry unless they
 * are too large. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dobrushin/influence_inside.h"
#include "simd/math.h"

#define SHORT_LOGICAL 16u /* largest number of literals of a factor whose cases are all visited */

static const range nothing = {0.0, 0.0};

static bool is_spin(const gbsi_factors *factors, size_t f)
{
    return factors->kind[f] == GBS_FACTOR_ISING || factors->kind[f] == GBS_FACTOR_SPIN ||
           factors->kind[f] == GBS_FACTOR_FIELD;
}

static size_t scope_size(const gbsi_factors *factors, size_t f)
{
    return factors->scope_start[f + 1] - factors->scope_start[f];
}

/* Converts log-odds of "literal true" against "false" into log-odds of state 1 against state 0. */
static range turned(range r, bool turn)
{
    return turn ? (range){-r.hi, -r.lo} : r;
}

range gbsi_influence_odds(gbsi_influence *w, size_t f, uint32_t position)
{
    const double j = fabs(w->factors->weight[f]);
    if (is_spin(w->factors, f)) {
        return (range){-2.0 * j, 2.0 * j};
    }
    switch (w->factors->kind[f]) {
    case GBS_FACTOR_POTTS:
        return isfinite(j) ? (range){-j, j} : nothing;
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBSI_FACTOR_EFFECT:
    case GBSI_FACTOR_RISING:
    case GBSI_FACTOR_FALLING:
        return (range){-1e300, 1e300}; /* no useful bound */
    case GBS_FACTOR_LOGICAL: {
        const logical_key k = gbsi_logical_key(w, f, position, position);
        return turned(gbsi_logical_effect(w, &k, true)->odds, gbsi_literal_is_zero(w, f, position));
    }
    default:
        return gbsi_table_odds(w, f, position);
    }
}

/* ---- one factor ---------------------------------------------------------------------------- */

/* Computes, for the rule `sum`, the changes of i's log-odds by one factor, and the midpoints of
 * these changes. Spins and Potts couplings have closed forms. */
static void measure_one(gbsi_influence *w, const use *u, uint32_t pj, measure *m)
{
    const gbsi_factors *factors = w->factors;
    const size_t f = u->f;
    const double j = factors->weight[f];
    double change = 0.0;
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        gbsi_table_walk(w, u, pj, m);
        return;
    }
    uint32_t literal = GBSI_NONE;
    if (is_spin(factors, f)) {
        change = 4.0 * fabs(j);
        m->mid = nothing;
    } else if (factors->kind[f] == GBS_FACTOR_POTTS) {
        m->apart |= isinf(j) != 0;
        change = 2.0 * fabs(j);
        m->mid = nothing;
    } else {
        const logical_key k = gbsi_logical_key(w, f, u->position, pj);
        const logical_effect *e = gbsi_logical_effect(w, &k, false);
        m->apart |= e->apart;
        change = e->delta;
        m->mid = turned(e->mid, gbsi_literal_is_zero(w, f, u->position));
        literal = factors->literal[factors->scope_start[f] + pj];
    }
    for (uint32_t x = 1; x < m->kj; ++x) {
        for (uint32_t y = 0; y < x; ++y) { /* a change between two states of j that give the literal
                                              the same value has no effect */
            const bool moves = literal == GBSI_NONE || x == literal || y == literal;
            m->delta[(size_t)x * m->kj + y] = moves ? change : 0.0;
        }
    }
}

/* Measures a single factor, over all states of the other variables of its scope. */
static void single(gbsi_influence *w, const use *u, uint32_t pj, measure *m)
{
    const gbsi_factors *factors = w->factors;
    const double j = factors->weight[u->f];
    if (is_spin(factors, u->f)) {
        m->bound = gbsi_influence_field(2.0 * j, -2.0 * j, m->field);
    } else if (factors->kind[u->f] == GBS_FACTOR_POTTS) {
        m->apart = isinf(j) != 0;
        m->osc = 2.0 * fabs(j);
        m->bound = m->apart ? 1.0 : gbsi_influence_field(j, -j, m->field);
    } else if (factors->kind[u->f] == GBS_FACTOR_TABLE) {
        gbsi_table_walk(w, u, pj, m);
    } else if (scope_size(factors, u->f) <= SHORT_LOGICAL) {
        gbsi_logical_walk(w, u->f, u->position, pj, m);
    } else {
        const logical_key k = gbsi_logical_key(w, u->f, u->position, pj);
        const logical_effect *e = gbsi_logical_effect(w, &k, false);
        const range mid = turned(e->mid, gbsi_literal_is_zero(w, u->f, u->position));
        m->apart = e->apart;
        m->osc = e->delta;
        m->bound = gbsi_influence_field(0.5 * e->delta, -0.5 * e->delta,
                                        (range){m->field.lo + mid.lo, m->field.hi + mid.hi});
    }
}

/* ---- several factors ----------------------------------------------------------------------- */

/* Writes the union of the scopes into w->place: i, j, then the other variables. @return the number
 * of joint states of the union; 0 if this is more than max_cells. */
static size_t find_union(gbsi_influence *w, uint32_t i, const end *e, size_t n, uint32_t *n_union)
{
    const gbsi_factors *factors = w->factors;
    size_t cells = (size_t)w->model->arity[i] * w->model->arity[e[0].j];
    uint32_t found = 2;
    w->place[0] = i;
    w->place[1] = e[0].j;
    for (size_t k = 0; k < n; ++k) {
        const size_t f = w->use[e[k].use].f;
        for (size_t s = factors->scope_start[f]; s < factors->scope_start[f + 1]; ++s) {
            uint32_t at = 0;
            while (at < found && w->place[at] != factors->scope[s]) {
                ++at;
            }
            if (at == found) { /* the union has fewer than 64 variables, because each has at least
                                  two states */
                cells *= w->model->arity[factors->scope[s]];
                w->place[found++] = factors->scope[s];
            }
            if (cells > w->limits.cells) {
                return 0;
            }
        }
    }
    *n_union = found;
    return cells > w->limits.cells ? 0 : cells;
}

/* Returns the log-weight of factor f at the states at[] of the variables of the union. */
static double value_in_union(const gbsi_influence *w, size_t f, const uint32_t *at)
{
    const gbsi_factors *factors = w->factors;
    uint32_t x[64];
    const size_t n = scope_size(factors, f);
    assert(n <= 64);
    for (size_t p = 0; p < n; ++p) {
        uint32_t k = 0;
        while (w->place[k] != factors->scope[factors->scope_start[f] + p]) {
            ++k;
        }
        x[p] = at[k];
    }
    return gbsi_factor_value_at(factors, w->model->arity, f, x);
}

static void joint(gbsi_influence *w, const end *e, size_t n, uint32_t n_union, measure *m)
{
    uint32_t at[64] = {0};
    uint32_t k = 2;
    do {
        for (uint32_t x = 0; x < m->kj; ++x) {
            for (uint32_t a = 0; a < m->ki; ++a) {
                double sum = 0.0;
                at[0] = a;
                at[1] = x;
                for (size_t q = 0; q < n; ++q) {
                    sum += value_in_union(w, w->use[e[q].use].f, at);
                }
                w->slab[(size_t)x * m->ki + a] = sum;
            }
        }
        gbsi_influence_slab(w->slab, m);
        for (k = 2; k < n_union; ++k) { /* next states of the other variables */
            if (++at[k] < w->model->arity[w->place[k]]) {
                break;
            }
            at[k] = 0;
        }
    } while (k < n_union && !m->apart);
}

static gbs_status added(gbsi_influence *w, const end *e, size_t n, measure *m, gbs_error *err)
{
    const size_t n_delta = m->kj <= MOST_PAIRED ? (size_t)m->kj * m->kj : 1;
    range mid = nothing;
    void *pointer = w->delta;
    GBSI_PASS(gbsi_reserve(&pointer, &w->delta_capacity, 2 * n_delta, sizeof *w->delta, "influence",
                           err));
    w->delta = pointer;
    double *sum = w->delta + n_delta;
    memset(sum, 0, n_delta * sizeof *sum);
    for (size_t q = 0; q < n && !m->apart; ++q) {
        const use *u = &w->use[e[q].use];
        measure one = {.ki = m->ki,
                       .kj = m->kj,
                       .delta = w->delta,
                       .n_delta = n_delta,
                       .mid = {INFINITY, -INFINITY}};
        memset(w->delta, 0, n_delta * sizeof *w->delta);
        measure_one(w, u, e[q].position, &one);
        m->apart |= one.apart;
        mid.lo += one.mid.lo <= one.mid.hi ? one.mid.lo : 0.0;
        mid.hi += one.mid.lo <= one.mid.hi ? one.mid.hi : 0.0;
        for (size_t p = 0; p < n_delta; ++p) {
            sum[p] += w->delta[p];
        }
    }
    m->delta = sum;
    m->n_delta = n_delta;
    m->mid = mid;
    return GBS_OK;
}

/* Makes room for a slab. A slab has at most as many cells as the largest table of the model, or at
 * most max_cells. */
static gbs_status reserve_slab(gbsi_influence *w, const measure *m, gbs_error *err)
{
    void *pointer = w->slab;
    const gbs_status status = gbsi_reserve(&pointer, &w->slab_capacity, (size_t)m->ki * m->kj,
                                           sizeof *w->slab, "influence", err);
    w->slab = pointer;
    return status;
}

static bool has_table(const gbsi_influence *w, const end *e, size_t n)
{
    bool found = false;
    for (size_t q = 0; q < n; ++q) {
        found |= w->factors->kind[w->use[e[q].use].f] == GBS_FACTOR_TABLE;
    }
    return found;
}

range gbsi_influence_parallel(gbsi_influence *w, uint32_t i, const end *e, size_t n)
{
    range r = {INFINITY, -INFINITY};
    w->place[0] = i;
    w->place[1] = e[0].j;
    for (uint32_t x = 0; x < w->model->arity[e[0].j]; ++x) {
        const uint32_t one[2] = {1, x};
        const uint32_t zero[2] = {0, x};
        double odds = 0.0;
        for (size_t q = 0; q < n; ++q) {
            odds += value_in_union(w, w->use[e[q].use].f, one);
            odds -= value_in_union(w, w->use[e[q].use].f, zero);
        }
        if (isfinite(odds)) {
            r.lo = odds < r.lo ? odds : r.lo;
            r.hi = odds > r.hi ? odds : r.hi;
        }
    }
    return r.lo <= r.hi ? r : nothing;
}

static bool has_noisy(const gbsi_influence *w, const end *e, size_t n)
{
    bool found = false;
    for (size_t q = 0; q < n; ++q) {
        found |= gbsi_is_noisy(w->factors->kind[w->use[e[q].use].f]);
    }
    return found;
}

gbs_status gbsi_influence_pair(gbsi_influence *w, uint32_t i, const end *e, size_t n, range others,
                               double *bound, gbs_error *err)
{
    measure m = {.ki = w->model->arity[i], .kj = w->model->arity[e[0].j], .field = others};
    uint32_t n_union = 0;
    const bool together = n > 1 && find_union(w, i, e, n, &n_union) > 0;
    if (!together && has_noisy(w, e, n)) {
        *bound = 1.0; /* 1 is an upper bound of every influence */
        return GBS_OK;
    }
    if (together || has_table(w, e, n)) {
        GBSI_PASS(reserve_slab(w, &m, err));
    }
    if (n == 1) {
        single(w, &w->use[e->use], e->position, &m);
    } else if (together) {
        joint(w, e, n, n_union, &m);
    } else {
        GBSI_PASS(added(w, e, n, &m, err));
    }
    *bound = gbsi_influence_of(&m);
    return GBS_OK;
}

/* ---- long factors -------------------------------------------------------------------------- */

/* Returns the bound on the influence of the variable at position pj, from one long factor alone.
 * @param others range of the contribution of the other factors of i to the log-odds of i. */
static double long_bound(gbsi_influence *w, uint32_t i, const use *u, uint32_t pj, range others)
{
    measure m = {.ki = w->model->arity[i], .kj = 2, .field = others};
    single(w, u, pj, &m);
    return gbsi_influence_of(&m);
}

double gbsi_influence_long(gbsi_influence *w, uint32_t i, const use *u, range others)
{
    const uint32_t n = (uint32_t)scope_size(w->factors, u->f);
    const uint32_t body =
        u->position == 0 ? 1
                         : 0; /* position of a literal of the body other than the literal of i */
    assert(n > 2);
    if (gbsi_is_noisy(w->factors->kind[u->f])) {
        return n - 1.0;
    }
    if (is_spin(w->factors, u->f)) {
        return (n - 1) * long_bound(w, i, u, body, others);
    }
    /* all literals except the last have equal bounds; the last may be the head */
    const bool last = u->position + 1 == n;
    const double alike = (n - (last ? 1 : 2)) * long_bound(w, i, u, body, others);
    return last ? alike : alike + long_bound(w, i, u, n - 1, others);
}
