/* SPDX-License-Identifier: Apache-2.0 */
/* Makes derived tables: the entries of a factor in the order that one of its variables uses.
 * Factors of equal content share a derived table. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"
#include "simd/math.h"

gbs_status gbsi_pool_take(gbsi_compile *c, unsigned form, size_t n, size_t *base, gbs_error *err)
{
    const bool precise = (form & GBSI_DOUBLE) != 0;
    gbsi_plan *plan = c->plan;
    size_t used = precise ? plan->n_pool64 : plan->n_pool;
    /* Vector gathers take 32-bit signed indices within a pool. */
    if (n > (size_t)INT32_MAX || used > (size_t)INT32_MAX - n) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "the tables of this model take more than %d packed entries, the most this "
                         "version holds",
                         INT32_MAX);
    }
    void *pool = precise ? (void *)plan->pool64 : (void *)plan->pool;
    size_t *capacity = precise ? &c->pool64_capacity : &c->pool_capacity;
    GBSI_PASS(gbsi_reserve(&pool, capacity, used + n + 16, precise ? sizeof(double) : sizeof(float),
                           "tables", err));
    if (precise) {
        plan->pool64 = pool;
        plan->n_pool64 = used + n;
    } else {
        plan->pool = pool;
        plan->n_pool = used + n;
    }
    *base = used;
    return GBS_OK;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

static uint64_t hash_of(const gbsi_compile *c, size_t f, uint32_t position, unsigned form)
{
    const gbsi_factors *factors = c->factors;
    uint64_t bits = 0;
    memcpy(&bits, &factors->weight[f], sizeof bits);
    uint64_t h = mix(factors->kind[f], bits);
    h = mix(h, factors->kind[f] == GBS_FACTOR_TABLE ? factors->aux[f] : 0);
    return mix(mix(h, position), form);
}

/* Whether factors f and g have equal content for the variable at `position`, and can therefore
 * share a derived table. */
static bool same_content(const gbsi_compile *c, size_t f, size_t g, uint32_t position)
{
    const gbsi_factors *factors = c->factors;
    const size_t sf = factors->scope_start[f];
    const size_t sg = factors->scope_start[g];
    const size_t n = factors->scope_start[f + 1] - sf;
    if (factors->kind[f] != factors->kind[g] || n != factors->scope_start[g + 1] - sg ||
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits must be equal */
        memcmp(&factors->weight[f], &factors->weight[g], sizeof(double)) != 0) {
        return false;
    }
    if (position >= GBSI_BY_COUNT) {
        return gbsi_logical_same(&factors->logical[factors->aux[f]],
                                 &factors->logical[factors->aux[g]]);
    }
    for (size_t q = 0; q < n; ++q) {
        if (c->model->arity[factors->scope[sf + q]] != c->model->arity[factors->scope[sg + q]]) {
            return false;
        }
    }
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        return factors->aux[f] == factors->aux[g];
    }
    if (factors->kind[f] == GBS_FACTOR_LOGICAL) {
        return gbsi_logical_same(&factors->logical[factors->aux[f]],
                                 &factors->logical[factors->aux[g]]) &&
               memcmp(factors->literal + sf, factors->literal + sg, n * sizeof(uint32_t)) == 0;
    }
    return true;
}

/* Returns the place of (f, position, form) in the map, or the empty place where this entry belongs.
 */
static size_t find(const gbsi_compile *c, size_t f, uint32_t position, unsigned form)
{
    size_t mask = c->derived_capacity - 1;
    size_t i = hash_of(c, f, position, form) & mask;
    for (;; i = (i + 1) & mask) {
        const gbsi_derived *d = &c->derived[i];
        if (d->factor == SIZE_MAX || (d->position == position && d->form == form &&
                                      same_content(c, d->factor, f, position))) {
            return i;
        }
    }
}

static gbs_status grow(gbsi_compile *c, gbs_error *err)
{
    if (2 * (c->n_derived + 1) <= c->derived_capacity) {
        return GBS_OK;
    }
    size_t old_capacity = c->derived_capacity;
    gbsi_derived *old = c->derived;
    size_t capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
    gbsi_derived *grown = gbsi_alloc_array(capacity, sizeof *grown);
    GBSI_PASS(GBSI_HAVE(err, "plan", grown));
    for (size_t i = 0; i < capacity; ++i) {
        grown[i].factor = SIZE_MAX;
    }
    c->derived = grown;
    c->derived_capacity = capacity;
    for (size_t i = 0; i < old_capacity; ++i) {
        if (old[i].factor != SIZE_MAX) {
            grown[find(c, old[i].factor, old[i].position, old[i].form)] = old[i];
        }
    }
    gbsi_free(old);
    return GBS_OK;
}

gbs_status gbsi_shared_find(gbsi_compile *c, size_t f, uint32_t position, unsigned form,
                            bool *found, size_t *base, gbs_error *err)
{
    GBSI_PASS(grow(c, err));
    size_t i = find(c, f, position, form);
    *found = c->derived[i].factor != SIZE_MAX;
    *base = *found ? c->derived[i].base : 0;
    return GBS_OK;
}

void gbsi_shared_add(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t base)
{
    c->derived[find(c, f, position, form)] =
        (gbsi_derived){.factor = f, .position = position, .form = form, .base = base};
    ++c->n_derived;
}

void gbsi_pool_put(gbsi_compile *c, unsigned form, size_t index, double logw)
{
    assert(index < ((form & GBSI_DOUBLE) != 0 ? c->plan->n_pool64 : c->plan->n_pool));
    assert(!(logw > 0.0) ||
           (form & GBSI_ODDS) !=
               0); /* the maximum of each row is 0 before exp(), because it was subtracted */
    if ((form & GBSI_DOUBLE) != 0) {
        c->plan->pool64[index] = logw;
    } else {
        c->plan->pool[index] = (float)((form & GBSI_LINEAR) != 0 ? gbsi_exp(logw) : logw);
    }
}

/* Stores the row of one joint state of the other variables: the log-weights of the own states minus
 * their maximum. The maximum cancels in the conditional and would only cost precision. */
static void store_row(gbsi_compile *c, size_t f, uint32_t position, uint32_t k, unsigned form,
                      size_t out)
{
    double top = -INFINITY;
    for (uint32_t a = 0; a < k; ++a) {
        c->at[position] = a;
        c->own[a] = gbsi_factor_value_at(c->factors, c->model->arity, f, c->at);
        top = c->own[a] > top ? c->own[a] : top;
    }
    if ((form & GBSI_ODDS) != 0) {
        gbsi_pool_put(c, form, out, c->own[1] - c->own[0]);
        return;
    }
    top = top > -INFINITY ? top : 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        gbsi_pool_put(c, form, out + a, c->own[a] - top);
    }
}

gbs_status gbsi_derive(gbsi_compile *c, size_t f, uint32_t position, unsigned form, size_t *base,
                       gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    const uint32_t k = c->model->arity[scope[position]];
    bool share = factors->kind[f] != GBS_FACTOR_TABLE || c->table_uses[factors->aux[f]] > 1;
    if (share) {
        bool found = false;
        GBSI_PASS(gbsi_shared_find(c, f, position, form, &found, base, err));
        if (found) {
            return GBS_OK;
        }
    }
    size_t n_rows = 1;
    for (uint32_t q = 0; q < n; ++q) {
        size_t arity = q == position ? 1 : c->model->arity[scope[q]];
        n_rows = n_rows > SIZE_MAX / arity ? SIZE_MAX : n_rows * arity;
    }
    const size_t width = (form & GBSI_ODDS) != 0 ? 1 : k;
    GBSI_PASS(
        gbsi_pool_take(c, form, n_rows > SIZE_MAX / width ? SIZE_MAX : n_rows * width, base, err));
    memset(c->at, 0, n * sizeof *c->at);
    for (size_t row = 0; row < n_rows; ++row) {
        store_row(c, f, position, k, form, *base + row * width);
        for (uint32_t q = n; q-- > 0;) { /* the next joint state of the other variables, of which
                                            the last varies fastest */
            if (q != position && ++c->at[q] < c->model->arity[scope[q]]) {
                break;
            }
            c->at[q] = 0;
        }
    }
    if (share) {
        gbsi_shared_add(c, f, position, form, *base);
    }
    return GBS_OK;
}

void gbsi_store_field(gbsi_plan *plan, uint32_t slot, const double *logw)
{
    const unsigned form = gbsi_plan_form(plan, slot);
    const size_t start = gbsi_offset(&plan->field_start, slot);
    const size_t n = gbsi_offset(&plan->field_start, slot + (size_t)1) - start;
    double top = -INFINITY; /* the maximum cancels in the conditional, and would cost precision */
    for (size_t i = 0; (form & GBSI_ODDS) == 0 && i < n; ++i) {
        top = logw[i] > top ? logw[i] : top;
    }
    top = top > -INFINITY ? top : 0.0;
    for (size_t i = 0; i < n; ++i) {
        const double own = logw[i] - top;
        if (gbsi_plan_class(plan, slot) == GBSI_CLASS_PRECISE) {
            plan->field64[start + i] = own;
        } else {
            plan->field[start + i] = (float)((form & GBSI_LINEAR) != 0 ? gbsi_exp(own) : own);
        }
    }
}

void gbsi_add_unary(const gbsi_compile *c, size_t f, bool odds, double *logw)
{
    const uint32_t arity = c->model->arity[c->factors->scope[c->factors->scope_start[f]]];
    uint32_t at[2] = {0, 0}; /* a unary factor reads only the first element */
    for (at[0] = 0; at[0] < arity; ++at[0]) {
        const double value = gbsi_factor_value_at(c->factors, c->model->arity, f, at);
        if (odds) {
            logw[0] += at[0] == 1 ? value : -value;
        } else {
            logw[at[0]] += value;
        }
    }
}

uint32_t gbsi_position(const gbsi_factors *factors, size_t f, uint32_t v)
{
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    uint32_t q = 0;
    while (scope[q] != v) {
        ++q;
        assert(q < factors->scope_start[f + 1] - factors->scope_start[f]);
    }
    return q;
}
