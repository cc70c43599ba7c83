/* SPDX-License-Identifier: Apache-2.0 */
/* Fields and neighbour rows of the classes whose neighbours act one by one. Parallel factors are
 * merged: summed in double in factor order and rounded once. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"
#include "simd/math.h"

/* One neighbour while its row is made. */
typedef struct entry {
    uint32_t slot;
    uint32_t n_factors; /* how many couple the two */
    size_t factor;      /* the first of them */
    double coupling;    /* ISING: w, POTTS: J, summed */
} entry;

typedef struct row {
    entry *entry; /* [capacity] */
    size_t n, capacity;
    uint32_t *seen; /* [n_slots] 1 + index of the neighbour's entry in this row, 0: none */
} row;

static int by_slot(const void *a, const void *b)
{
    uint32_t x = ((const entry *)a)->slot;
    uint32_t y = ((const entry *)b)->slot;
    return (x > y) - (x < y);
}

static gbs_status find_entry(gbsi_compile *c, row *r, uint32_t other, size_t f, entry **found,
                             gbs_error *err)
{
    uint32_t slot = c->plan->slot_of[other];
    if (r->seen[slot] == 0) {
        void *grown = r->entry;
        gbs_status status =
            gbsi_reserve(&grown, &r->capacity, r->n + 1, sizeof *r->entry, "plan", err);
        if (status < 0) {
            return status;
        }
        r->entry = grown;
        r->entry[r->n] = (entry){.slot = slot, .factor = f};
        r->seen[slot] = (uint32_t)++r->n;
    }
    *found = &r->entry[r->seen[slot] - 1];
    ++(*found)->n_factors;
    return GBS_OK;
}

/* A pairwise factor of an ISING variable in 0/1 form [M3]:
 *     l(b) = theta(1, b) - theta(0, b) = l(0) + (l(1) - l(0)) b */
static void add_ising(const gbsi_compile *c, size_t f, uint32_t position, double *field, entry *e)
{
    double l[2];
    for (uint32_t b = 0; b < 2; ++b) {
        uint32_t at[2];
        at[1 - position] = b;
        at[position] = 1;
        l[b] = gbsi_factor_value_at(c->factors, c->model->arity, f, at);
        at[position] = 0;
        l[b] -= gbsi_factor_value_at(c->factors, c->model->arity, f, at);
    }
    field[1] += l[0];
    e->coupling += l[1] - l[0];
}

/* Collects the neighbours of v and its field, log-weights by state in c->own. */
static gbs_status collect(gbsi_compile *c, uint32_t v, gbsi_class class_id, row *r, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t k = c->model->arity[v];
    memset(c->own, 0, k * sizeof *c->own);
    for (size_t i = c->of_start[v]; i < c->of_start[v + 1]; ++i) {
        size_t f = c->of[i];
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        if (factors->scope_start[f + 1] - factors->scope_start[f] == 1) {
            gbsi_add_unary(c, f, k, c->own);
            continue;
        }
        uint32_t position = scope[0] == v ? 0 : 1;
        entry *e = NULL;
        gbs_status status = find_entry(c, r, scope[1 - position], f, &e, err);
        if (status < 0) {
            return status;
        }
        if (class_id == GBSI_CLASS_ISING) {
            add_ising(c, f, position, c->own, e);
        } else {
            double coupling = 0.0;
            e->coupling += gbsi_is_potts(c, f, &coupling) ? coupling : 0.0; /* not in PAIRWISE */
        }
    }
    if (r->n > 1) {
        qsort(r->entry, r->n, sizeof *r->entry, by_slot);
    }
    return GBS_OK;
}

/* The sum of the factors of v that couple it to one neighbour, as a table of its own. */
static gbs_status merge_tables(gbsi_compile *c, uint32_t v, const entry *e, unsigned form,
                               size_t *base, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t other = c->plan->variable_of[e->slot];
    const uint32_t k = c->model->arity[v];
    const bool odds = (form & GBSI_ODDS) != 0;
    const uint32_t width = odds ? 1 : k;
    gbs_status status = gbsi_pool_take(c, form, (size_t)c->model->arity[other] * width, base, err);
    for (uint32_t b = 0; status == GBS_OK && b < c->model->arity[other]; ++b) {
        double top = -INFINITY;
        for (uint32_t a = 0; a < k; ++a) {
            double sum = 0.0;
            for (size_t i = c->of_start[v]; i < c->of_start[v + 1]; ++i) {
                size_t f = c->of[i];
                const uint32_t *scope = factors->scope + factors->scope_start[f];
                if (factors->scope_start[f + 1] - factors->scope_start[f] == 2 &&
                    (scope[0] == other || scope[1] == other)) {
                    uint32_t at[2] = {scope[0] == v ? a : b, scope[0] == v ? b : a};
                    sum += gbsi_factor_value_at(factors, c->model->arity, f, at);
                }
            }
            c->own[a] = sum;
            top = sum > top ? sum : top;
        }
        top = top > -INFINITY ? top : 0.0;
        for (uint32_t a = 0; a < width; ++a) {
            gbsi_pool_put(c, form, *base + (size_t)b * width + a,
                          odds ? c->own[1] - c->own[0] : c->own[a] - top);
        }
    }
    return status;
}

static gbs_status store_edge(gbsi_compile *c, uint32_t slot, const entry *e, gbsi_edge *edge,
                             gbs_error *err)
{
    const gbsi_plan *plan = c->plan;
    const unsigned form = plan->form[slot];
    if (plan->class_id[slot] != GBSI_CLASS_PAIRWISE) {
        edge->coupling = (float)((form & GBSI_LINEAR) != 0 ? gbsi_exp(e->coupling) : e->coupling);
        return GBS_OK;
    }
    const uint32_t v = plan->variable_of[slot];
    size_t base = 0;
    gbs_status status =
        e->n_factors > 1
            ? merge_tables(c, v, e, form, &base, err)
            : gbsi_derive(c, e->factor, gbsi_position(c->factors, e->factor, v), form, &base, err);
    edge->base = (uint32_t)base;
    return status;
}

/* ---- one coupling for all neighbours ------------------------------------------------------ *
 *
 * Rows of one coupling are found in a second walk, because it only pays where most rows of a class
 * are: slices of one chain that mix both kinds do the work of both. */

/* Tables by the number of neighbours, found again by what they are made of. Where a place in the
 * cache is taken the newer one has it: a table more, nothing worse. */
#define MOST_COUNTED 255u
#define N_CACHED     1024u
#define MOST_TABLES  65536u

typedef struct gbsi_count_table {
    double coupling;
    uint32_t n, form, class_id; /* n neighbours */
    uint32_t base;
    bool used;
} count_table;

static bool one_coupling(const gbsi_plan *plan, uint32_t slot)
{
    const gbsi_edge *edge = plan->edge + plan->row_start[slot];
    const size_t n = plan->row_start[slot + 1] - plan->row_start[slot];
    for (size_t d = 1; d < n; ++d) {
        if (edge[d].coupling != edge[0].coupling) {
            return false;
        }
    }
    return n <= MOST_COUNTED;
}

static size_t hash_count_table(const count_table *key)
{
    uint64_t bits = 0;
    memcpy(&bits, &key->coupling, sizeof bits);
    bits = (bits ^ key->n ^ (uint64_t)key->form << 16 ^ (uint64_t)key->class_id << 32) *
           UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(bits >> 32) % N_CACHED;
}

/* pool[base + c] = J c, for POTTS with the maximum over c taken off. J is what was rounded for the
 * row, so that both give the same conditional up to rounding. */
static gbs_status store_by_count(gbsi_compile *c, uint32_t slot, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const size_t n = plan->row_start[slot + 1] - plan->row_start[slot];
    const float stored = n == 0 ? 0.0F : plan->edge[plan->row_start[slot]].coupling;
    const bool linear = (plan->form[slot] & GBSI_LINEAR) != 0;
    count_table key = {.coupling = linear && n > 0 ? gbsi_log((double)stored) : (double)stored,
                       .n = (uint32_t)n,
                       .form = plan->form[slot],
                       .class_id = plan->class_id[slot]};
    count_table *cached = &c->count_table[hash_count_table(&key)];
    const bool known = cached->used && cached->n == key.n && cached->coupling == key.coupling &&
                       cached->form == key.form && cached->class_id == key.class_id;
    if (!known) {
        const double all = key.coupling * key.n;
        const double top = key.class_id == GBSI_CLASS_POTTS && all > 0.0 ? all : 0.0;
        size_t base = 0;
        if (c->n_count_tables == MOST_TABLES) {
            return GBS_OK; /* couplings differ from slot to slot: nothing is shared */
        }
        gbs_status status = gbsi_pool_take(c, key.form, key.n + 1u, &base, err);
        if (status < 0) {
            return status;
        }
        for (uint32_t i = 0; i <= key.n; ++i) {
            gbsi_pool_put(c, key.form, base + i, key.coupling * i - top);
        }
        ++c->n_count_tables;
        key.base = (uint32_t)base;
        key.used = true;
        *cached = key;
    }
    plan->by_count[slot] = cached->base;
    return GBS_OK;
}

/* Tables by count for the classes in which at least half of the rows have one coupling. */
static gbs_status count_neighbours(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    size_t n_rows[GBSI_N_CLASSES] = {0};
    size_t n_counted[GBSI_N_CLASSES] = {0};
    gbs_status status = GBS_OK;
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        plan->by_count[s] = GBSI_NONE;
        if (plan->class_id[s] == GBSI_CLASS_ISING || plan->class_id[s] == GBSI_CLASS_POTTS) {
            ++n_rows[plan->class_id[s]];
            n_counted[plan->class_id[s]] += one_coupling(plan, s);
        }
    }
    for (uint32_t s = 0; status == GBS_OK && s < plan->n_slots; ++s) {
        const uint8_t class_id = plan->class_id[s];
        if (n_counted[class_id] > 0 && 2 * n_counted[class_id] >= n_rows[class_id] &&
            one_coupling(plan, s)) {
            status = store_by_count(c, s, err);
        }
    }
    return status;
}

static gbs_status compile_row(gbsi_compile *c, uint32_t slot, row *r, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t v = plan->variable_of[slot];
    gbs_status status = GBS_OK;
    r->n = 0;
    GBSI_TRY(collect(c, v, (gbsi_class)plan->class_id[slot], r, err));
    gbsi_store_field(c, slot);
    size_t at = plan->row_start[slot];
    for (size_t d = 0; d < r->n; ++d) {
        plan->neighbour[at + d] = r->entry[d].slot;
        GBSI_TRY(store_edge(c, slot, &r->entry[d], &plan->edge[at + d], err));
    }
    plan->row_start[slot + 1] = at + r->n;
cleanup:
    for (size_t d = 0; d < r->n; ++d) {
        r->seen[r->entry[d].slot] = 0;
    }
    return status;
}

static bool is_row_class(uint8_t class_id)
{
    return class_id <= GBSI_CLASS_PAIRWISE;
}

gbs_status gbsi_compile_rows(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    row r = {0};
    /* Upper bound: one entry per factor end; merged parallel factors leave a little unused. */
    size_t n_ends = 0;
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        uint32_t v = plan->variable_of[s];
        for (size_t i = c->of_start[v]; is_row_class(plan->class_id[s]) && i < c->of_start[v + 1];
             ++i) {
            size_t f = c->of[i];
            n_ends += c->factors->scope_start[f + 1] - c->factors->scope_start[f] == 2;
        }
    }
    plan->row_start = gbsi_alloc_array_zero((size_t)plan->n_slots + 1, sizeof *plan->row_start);
    plan->neighbour = gbsi_alloc_array(n_ends, sizeof *plan->neighbour);
    plan->edge = gbsi_alloc_array(n_ends, sizeof *plan->edge);
    plan->by_count = gbsi_alloc_array(plan->n_slots, sizeof *plan->by_count);
    c->count_table = gbsi_alloc_array_zero(N_CACHED, sizeof *c->count_table);
    r.seen = gbsi_alloc_array_zero(plan->n_slots, sizeof *r.seen);
    if (plan->row_start == NULL || plan->neighbour == NULL || plan->edge == NULL ||
        plan->by_count == NULL || c->count_table == NULL || r.seen == NULL) {
        status = gbsi_no_memory(err, "plan", n_ends * 8 + (size_t)plan->n_slots * 16);
        goto cleanup;
    }
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        plan->row_start[s + 1] = plan->row_start[s];
        if (is_row_class(plan->class_id[s])) {
            GBSI_TRY(compile_row(c, s, &r, err));
        }
    }
    assert(plan->row_start[plan->n_slots] <= n_ends);
    GBSI_TRY(count_neighbours(c, err));
cleanup:
    gbsi_free(r.entry);
    gbsi_free(r.seen);
    return status;
}
