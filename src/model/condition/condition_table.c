/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a conditioned model. Factors share a reduced table if they shared the user's table
 * and lose the same states at the same places of their scopes. A table that loses no state is
 * copied once. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "condition/condition_inside.h"

enum {
    /* largest number of free variables of one table; each variable at least doubles the table */
    MAX_FREE = 64,
    FIRST_PLACES = 64, /* number of places of the hash table at first */
    TOGETHER = 1 << 12 /* number of entries copied between two checks of the watch */
};

/* Largest table of a Potts factor whose variables have different sets of states. */
#define MAX_POTTS_ENTRIES ((size_t)1 << 28)

gbs_status gbsi_reducer_new_table(gbsi_reducer *reducer, size_t n, uint32_t *table, double **entry,
                                  gbs_error *err)
{
    gbsi_factors *f = &reducer->out->factors;
    const size_t used = f->table_start[f->n_tables];
    size_t total = 0;
    if (f->n_tables >= GBSI_NONE || !gbsi_add_size(used, n, &total)) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more tables or entries than can be numbered");
    }
    GBSI_PASS(gbsi_reserve((void **)(void *)&f->table_start, &reducer->table_start_capacity,
                           f->n_tables + 2, sizeof *f->table_start, "conditioned model", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&f->table, &reducer->table_capacity, total,
                           sizeof *f->table, "conditioned model", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&reducer->table_zeros, &reducer->zeros_capacity,
                           f->n_tables + 1, 1, "conditioned model", err));
    reducer->table_zeros[f->n_tables] = 0;
    *entry = &f->table[used];
    *table = (uint32_t)f->n_tables++;
    f->table_start[f->n_tables] = total;
    return GBS_OK;
}

void gbsi_reducer_mark_zeros(gbsi_reducer *reducer, uint32_t table)
{
    const gbsi_factors *f = &reducer->out->factors;
    const size_t start = f->table_start[table];
    if (!gbsi_watch_stopped(reducer->domain->watch)) {
        reducer->table_zeros[table] = gbsi_any_zero(
            &f->table[start], f->table_start[table + (size_t)1] - start, reducer->domain->watch);
    }
}

/* ---- which factors have the same reduced table --------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    /* the finaliser of splitmix64 (Steele, Lea & Flood 2014) */
    uint64_t z = (hash ^ value) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t n_words(const gbsi_propagator *domain, uint32_t v)
{
    return domain->of->word_start[v + (size_t)1] - domain->of->word_start[v];
}

static uint64_t slicing_hash(const gbsi_reducer *r, size_t f)
{
    const gbsi_factors *store = &r->model->factors;
    const gbsi_propagator *d = r->domain;
    uint64_t weight = 0;
    memcpy(&weight, &store->weight[f], sizeof weight);
    uint64_t hash = mix(mix(store->kind[f], store->aux[f]), weight);
    for (size_t i = store->scope_start[f]; i < store->scope_start[f + 1]; ++i) {
        const uint32_t v = store->scope[i];
        hash = mix(hash, (uint64_t)r->model->arity[v] << 32 | d->size[v]);
        if (d->size[v] < r->model->arity[v]) {
            for (size_t w = 0; w < n_words(d, v); ++w) {
                hash = mix(hash, d->word[d->of->word_start[v] + w]);
            }
        }
    }
    return hash;
}

static bool same_slicing(const gbsi_reducer *r, size_t f, size_t g)
{
    const gbsi_factors *store = &r->model->factors;
    const gbsi_propagator *d = r->domain;
    const size_t n = store->scope_start[f + 1] - store->scope_start[f];
    if (store->kind[f] != store->kind[g] || store->aux[f] != store->aux[g] ||
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): equal bits are meant */
        memcmp(&store->weight[f], &store->weight[g], sizeof store->weight[f]) != 0 ||
        n != store->scope_start[g + 1] - store->scope_start[g]) {
        return false;
    }
    for (size_t i = 0; i < n; ++i) {
        const uint32_t v = store->scope[store->scope_start[f] + i];
        const uint32_t w = store->scope[store->scope_start[g] + i];
        if (r->model->arity[v] != r->model->arity[w] || d->size[v] != d->size[w] ||
            memcmp(&d->word[d->of->word_start[v]], &d->word[d->of->word_start[w]],
                   n_words(d, v) * sizeof *d->word) != 0) {
            return false;
        }
    }
    return true;
}

static gbs_status grow_map(gbsi_reducer *r, gbs_error *err)
{
    const size_t n = r->n_places == 0 ? FIRST_PLACES : 2 * r->n_places;
    gbsi_slice *grown = gbsi_alloc_array(n, sizeof *grown);
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", grown));
    for (size_t i = 0; i < n; ++i) {
        grown[i] = (gbsi_slice){0, GBSI_NONE};
    }
    for (size_t i = 0; i < r->n_places; ++i) {
        if (r->slice[i].table != GBSI_NONE) {
            size_t at = slicing_hash(r, r->slice[i].factor) & (n - 1);
            while (grown[at].table != GBSI_NONE) {
                at = (at + 1) & (n - 1);
            }
            grown[at] = r->slice[i];
        }
    }
    gbsi_free(r->slice);
    r->slice = grown;
    r->n_places = n;
    return GBS_OK;
}

/* Finds the place in the hash table for the factor's table and its remaining states. The place is
 * either taken by an equal slice, or empty; the caller must then fill the empty place. */
static gbs_status find_slice(gbsi_reducer *r, size_t f, gbsi_slice **found, gbs_error *err)
{
    if (2 * (r->n_slices + 1) > r->n_places) {
        GBSI_PASS(grow_map(r, err));
    }
    size_t at = slicing_hash(r, f) & (r->n_places - 1);
    while (r->slice[at].table != GBSI_NONE && !same_slicing(r, r->slice[at].factor, f)) {
        at = (at + 1) & (r->n_places - 1);
    }
    *found = &r->slice[at];
    return GBS_OK;
}

/* ---- filling ------------------------------------------------------------------------------- */

/* A counter over the remaining states of the free variables of a scope; the last variable moves
 * fastest. */
typedef struct odometer {
    const gbsi_propagator *domain;
    uint32_t n;
    uint32_t variable[MAX_FREE];
    uint32_t state[MAX_FREE];
    size_t stride[MAX_FREE]; /* stride of each free variable in the user's table */
    size_t entry; /* entry of the user's table for the current states, fixed variables included */
    size_t n_entries; /* number of entries of the reduced table */
} odometer;

static void odometer_begin(odometer *o, const gbsi_reducer *r, size_t f)
{
    const gbsi_factors *store = &r->model->factors;
    size_t stride = 1;
    *o = (odometer){.domain = r->domain, .n_entries = 1};
    for (size_t i = store->scope_start[f + 1]; i-- > store->scope_start[f];) {
        const uint32_t v = store->scope[i];
        const uint32_t first = gbsi_propagator_next(r->domain, v, 0);
        o->entry += first * stride;
        if (r->domain->size[v] > 1) {
            assert(o->n < MAX_FREE);
            o->variable[o->n] = v; /* fastest variable first */
            o->state[o->n] = first;
            o->stride[o->n++] = stride;
            o->n_entries *= r->domain->size[v];
        }
        stride *= r->model->arity[v];
    }
}

static void odometer_next(odometer *o)
{
    for (uint32_t i = 0; i < o->n; ++i) {
        const uint32_t v = o->variable[i];
        const uint32_t next = gbsi_propagator_next(o->domain, v, o->state[i] + 1);
        if (next != GBSI_NONE) {
            o->entry += (next - o->state[i]) * o->stride[i];
            o->state[i] = next;
            return;
        }
        const uint32_t first = gbsi_propagator_next(o->domain, v, 0);
        o->entry -= (o->state[i] - first) * o->stride[i];
        o->state[i] = first;
    }
}

static gbs_status slice_table(gbsi_reducer *r, size_t f, uint32_t *table, gbs_error *err)
{
    const gbsi_factors *store = &r->model->factors;
    const double *from = &store->table[store->table_start[store->aux[f]]];
    double *to = NULL;
    odometer o;
    odometer_begin(&o, r, f);
    GBSI_PASS(gbsi_reducer_new_table(r, o.n_entries, table, &to, err));
    for (size_t e = 0; e < o.n_entries; ++e) {
        to[e] = from[o.entry];
        odometer_next(&o);
        if (gbsi_watch_spend(r->domain->watch, 2)) {
            break;
        }
    }
    return GBS_OK;
}

static gbs_status tabulate_potts(gbsi_reducer *r, size_t f, uint32_t *table, gbs_error *err)
{
    const gbsi_factors *store = &r->model->factors;
    const uint32_t *scope = &store->scope[store->scope_start[f]];
    const gbsi_propagator *d = r->domain;
    size_t n = 0;
    double *to = NULL;
    if (!gbsi_mul_size(d->size[scope[0]], d->size[scope[1]], &n) || n > MAX_POTTS_ENTRIES) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "factor %zu: a Potts coupling between %u and %u state%s that are not the "
                         "same needs a table of more than %zu entries",
                         f, (unsigned)d->size[scope[0]], (unsigned)d->size[scope[1]],
                         gbsi_plural(d->size[scope[1]]), MAX_POTTS_ENTRIES);
    }
    GBSI_PASS(gbsi_reducer_new_table(r, n, table, &to, err));
    for (uint32_t a = gbsi_propagator_next(d, scope[0], 0); a != GBSI_NONE;
         a = gbsi_propagator_next(d, scope[0], a + 1)) {
        if (gbsi_watch_spend(d->watch, 2 * (uint64_t)d->size[scope[1]])) {
            break;
        }
        for (uint32_t b = gbsi_propagator_next(d, scope[1], 0); b != GBSI_NONE;
             b = gbsi_propagator_next(d, scope[1], b + 1)) {
            *to++ = a == b ? store->weight[f] : 0.0;
        }
    }
    return GBS_OK;
}

static gbs_status copy_whole(gbsi_reducer *r, uint32_t from, uint32_t *table, gbs_error *err)
{
    const gbsi_factors *store = &r->model->factors;
    const size_t n = store->table_start[from + (size_t)1] - store->table_start[from];
    if (r->whole[from] == GBSI_NONE) {
        double *to = NULL;
        GBSI_PASS(gbsi_reducer_new_table(r, n, &r->whole[from], &to, err));
        const double *entry = &store->table[store->table_start[from]];
        for (size_t e = 0; e < n && !gbsi_watch_stopped(r->domain->watch); e += TOGETHER) {
            const size_t some = n - e < TOGETHER ? n - e : TOGETHER;
            memcpy(to + e, entry + e, some * sizeof *to);
            (void)gbsi_watch_spend(r->domain->watch, some);
        }
        gbsi_reducer_mark_zeros(r, r->whole[from]);
    }
    *table = r->whole[from];
    return GBS_OK;
}

gbs_status gbsi_reduce_table(gbsi_reducer *reducer, size_t factor, uint32_t *table, gbs_error *err)
{
    const gbsi_factors *store = &reducer->model->factors;
    const bool potts = store->kind[factor] == GBS_FACTOR_POTTS;
    gbsi_slice *slice = NULL;
    bool whole = !potts;
    for (size_t i = store->scope_start[factor]; whole && i < store->scope_start[factor + 1]; ++i) {
        const uint32_t v = store->scope[i];
        whole = reducer->domain->size[v] == reducer->model->arity[v];
    }
    if (whole) {
        return copy_whole(reducer, store->aux[factor], table, err);
    }
    GBSI_PASS(find_slice(reducer, factor, &slice, err));
    if (slice->table == GBSI_NONE) {
        uint32_t made = GBSI_NONE;
        GBSI_PASS((potts ? tabulate_potts : slice_table)(reducer, factor, &made, err));
        gbsi_reducer_mark_zeros(reducer, made);
        *slice = (gbsi_slice){factor, made};
        ++reducer->n_slices;
    }
    *table = slice->table;
    return GBS_OK;
}
