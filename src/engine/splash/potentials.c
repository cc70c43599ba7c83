/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/potentials.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* ---- tables of pairs, each stored once ------------------------------------------------------- */

typedef struct pair_key {
    uint64_t weight; /* the bits of the weight, which is a double */
    uint32_t kind, aux, arity[2];
} pair_key;

typedef struct pair_table {
    pair_key key;
    /* index of the table for the first variable of the scope, and for the second variable */
    uint32_t table[2];
    float least;
} pair_table;

typedef struct pair_pool {
    gbsi_potentials *p;
    pair_table *pair;
    size_t n_pairs, pair_capacity;
    uint32_t *hashed; /* [n_hashed] hash table of pairs by key: number of a pair; GBSI_NONE if the
                         place is free; n_hashed is a power of two */
    size_t n_hashed;
    size_t capacity; /* capacity of log64 */
} pair_pool;

static size_t hash(const pair_key *key)
{
    uint64_t h = key->weight * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ key->kind ^ (uint64_t)key->aux << 8) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 29 ^ key->arity[0] ^ (uint64_t)key->arity[1] << 32) *
        UINT64_C(0x94D049BB133111EB);
    return (size_t)(h ^ h >> 31);
}

static bool same(const pair_key *a, const pair_key *b)
{
    return a->weight == b->weight && a->kind == b->kind && a->aux == b->aux &&
           a->arity[0] == b->arity[0] && a->arity[1] == b->arity[1];
}

/* Returns the place of the pair with this key, or a free place if no pair has this key. */
static size_t find(const pair_pool *pool, const pair_key *key)
{
    size_t at = hash(key) & (pool->n_hashed - 1);
    while (pool->hashed[at] != GBSI_NONE && !same(&pool->pair[pool->hashed[at]].key, key)) {
        at = (at + 1) & (pool->n_hashed - 1);
    }
    return at;
}

static gbs_status rehash(pair_pool *pool, size_t n, gbs_error *err)
{
    gbsi_free(pool->hashed);
    pool->hashed = gbsi_alloc_array(n, sizeof *pool->hashed);
    GBSI_PASS(GBSI_HAVE(err, "splash", pool->hashed));
    memset(pool->hashed, 0xFF, n * sizeof *pool->hashed);
    pool->n_hashed = n;
    for (size_t i = 0; i < pool->n_pairs; ++i) {
        pool->hashed[find(pool, &pool->pair[i].key)] = (uint32_t)i;
    }
    return GBS_OK;
}

/* Fills the two tables of a new pair, one in the order that each of the two variables uses, with
 * the entries minus their maximum. */
static gbs_status fill_pair(pair_pool *pool, size_t f, pair_table *pair, gbs_error *err)
{
    const gbsi_conditioned *model = pool->p->plan->model;
    const uint32_t k0 = pair->key.arity[0];
    const uint32_t k1 = pair->key.arity[1];
    const size_t n = (size_t)k0 * k1;
    const size_t first = pool->p->n_pool;
    if (first + 2 * n > INT32_MAX) { /* gathers take signed 32-bit indices */
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "the tables of two variables have more than %d entries together: too many "
                         "for --scan splash",
                         INT32_MAX);
    }
    GBSI_PASS(gbsi_reserve((void **)&pool->p->log64, &pool->capacity, first + 2 * n, sizeof(double),
                           "splash", err));
    double *from_second = pool->p->log64 + first; /* [x0][x1] */
    double *from_first = from_second + n;         /* [x1][x0] */
    double top = -INFINITY;
    double least = 0.0;
    for (uint32_t i = 0; i < k0; ++i) {
        for (uint32_t j = 0; j < k1; ++j) {
            const uint32_t x[2] = {i, j};
            const double v = gbsi_factor_value_at(&model->factors, model->arity, f, x);
            from_second[(size_t)i * k1 + j] = v;
            top = v > top ? v : top;
        }
    }
    for (uint32_t i = 0; i < k0; ++i) {
        for (uint32_t j = 0; j < k1; ++j) {
            const double v = from_second[(size_t)i * k1 + j] - (top > -INFINITY ? top : 0.0);
            from_second[(size_t)i * k1 + j] = v;
            from_first[(size_t)j * k0 + i] = v;
            least = v > -INFINITY && v < least ? v : least;
        }
    }
    pair->table[0] = (uint32_t)(first + n);
    pair->table[1] = (uint32_t)first;
    assert(least <= 0.0); /* the maximum was subtracted */
    pair->least = (float)gbsi_exp(least);
    pool->p->n_pool += 2 * n;
    return GBS_OK;
}

static gbs_status pair_of(pair_pool *pool, size_t f, const pair_table **out, gbs_error *err)
{
    const gbsi_conditioned *model = pool->p->plan->model;
    const gbsi_factors *factors = &model->factors;
    const size_t e = factors->scope_start[f];
    pair_table made = {
        .key = {.kind = factors->kind[f],
                .aux = factors->aux[f],
                .arity = {model->arity[factors->scope[e]], model->arity[factors->scope[e + 1]]}}};
    memcpy(&made.key.weight, &factors->weight[f], sizeof made.key.weight);
    /* literals differ between logical factors, so that their tables are never shared */
    if (factors->kind[f] == GBS_FACTOR_LOGICAL) {
        made.key.weight = f;
        made.key.aux = GBSI_NONE;
    }
    size_t at = find(pool, &made.key);
    if (pool->hashed[at] == GBSI_NONE) {
        GBSI_PASS(gbsi_reserve((void **)&pool->pair, &pool->pair_capacity, pool->n_pairs + 1,
                               sizeof *pool->pair, "splash", err));
        GBSI_PASS(fill_pair(pool, f, &made, err));
        pool->pair[pool->n_pairs] = made;
        pool->hashed[at] = (uint32_t)pool->n_pairs++;
        if (2 * pool->n_pairs > pool->n_hashed) {
            GBSI_PASS(rehash(pool, 2 * pool->n_hashed, err));
        }
        at = find(pool, &made.key);
    }
    *out = &pool->pair[pool->hashed[at]];
    return GBS_OK;
}

/* ---- incidence ------------------------------------------------------------------------------- */

static size_t scope_of(const gbsi_factors *factors, size_t f)
{
    return factors->scope_start[f + 1] - factors->scope_start[f];
}

/* Computes the starts of links and long factors of each slot from their counts. */
static gbs_status count_ends(gbsi_potentials *p, gbs_error *err)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    size_t n_long = 0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t m = scope_of(factors, f);
        if (m > 2 && gbsi_is_noisy(factors->kind[f]) && SIZE_MAX < UINT64_MAX) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "--scan splash: noisy factors need a machine of 64 bits");
        }
        n_long += m > 2;
        for (size_t e = factors->scope_start[f]; m > 1 && e < factors->scope_start[f + 1]; ++e) {
            ++(m == 2 ? p->link_start : p->many_start)[gbsi_scope_slot(p->plan, e) + 1];
        }
    }
    for (uint32_t s = 0; s < p->n; ++s) {
        p->link_start[s + 1] += p->link_start[s];
        p->many_start[s + 1] += p->many_start[s];
        p->field_start[s + 1] = p->field_start[s] + gbsi_plan_arity(p->plan, s);
    }
    if (n_long >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%zu factors of three or more variables: too many for --scan splash",
                         n_long);
    }
    p->n_long = (uint32_t)n_long;
    p->long_factor = gbsi_alloc_array(n_long, sizeof *p->long_factor);
    p->link = gbsi_alloc_array(p->link_start[p->n], sizeof *p->link);
    p->many = gbsi_alloc_array(p->many_start[p->n], sizeof *p->many);
    p->field64 = gbsi_alloc_array_zero(p->field_start[p->n], sizeof *p->field64);
    p->field = gbsi_alloc_lanes(p->field_start[p->n], sizeof *p->field);
    return GBSI_HAVE(err, "splash", p->link, p->many, p->long_factor, p->field64, p->field);
}

/* Enters links and long factors. @param at_link, at_many [n] places of each slot's next link and
 * next long factor. */
static gbs_status place_factors(gbsi_potentials *p, pair_pool *pool, size_t *at_link,
                                size_t *at_many, gbs_error *err)
{
    const gbsi_conditioned *model = p->plan->model;
    const gbsi_factors *factors = &model->factors;
    uint32_t number = 0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t m = scope_of(factors, f);
        const size_t e = factors->scope_start[f];
        const uint32_t s = gbsi_scope_slot(p->plan, e);
        if (m == 1) {
            for (uint32_t a = 0; a < gbsi_plan_arity(p->plan, s); ++a) {
                p->field64[p->field_start[s] + a] +=
                    gbsi_factor_value_at(factors, model->arity, f, &a);
            }
        } else if (m == 2) {
            const pair_table *pair = NULL;
            const uint32_t t = gbsi_scope_slot(p->plan, e + 1);
            GBSI_PASS(pair_of(pool, f, &pair, err));
            p->link[at_link[s]++] = (gbsi_splash_link){t, pair->table[0], pair->least};
            p->link[at_link[t]++] = (gbsi_splash_link){s, pair->table[1], pair->least};
        } else {
            for (size_t i = 0; i < m; ++i) {
                p->many[at_many[gbsi_scope_slot(p->plan, e + i)]++] =
                    (gbsi_splash_member){number, (uint32_t)i};
            }
            p->long_factor[number++] = f;
        }
    }
    assert(number == p->n_long);
    return GBS_OK;
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Returns the largest minus the smallest finite entry of n entries. */
static double span_of(const double *log, size_t n)
{
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < n; ++i) {
        low = log[i] > -INFINITY && log[i] < low ? log[i] : low;
        high = log[i] > high ? log[i] : high;
    }
    return high > low ? high - low : 0.0;
}

static double span_of_many(const gbsi_factors *factors, size_t f)
{
    if (gbsi_is_noisy(factors->kind[f])) {
        return INFINITY; /* variables of noisy factors are summed in double */
    }
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        const size_t first = factors->table_start[factors->aux[f]];
        return span_of(factors->table + first,
                       factors->table_start[factors->aux[f] + (size_t)1] - first);
    }
    const double w = fabs(factors->weight[f]);
    return w < INFINITY ? 2.0 * w : 0.0;
}

/* Marks variables with (d + 2) 2^-24 S > 1e-4 [M13]. @param span [n_factors] span of the entries of
 * each long factor. */
static void find_precise(gbsi_potentials *p)
{
    const gbsi_factors *factors = &p->plan->model->factors;
    for (uint32_t s = 0; s < p->n; ++s) {
        const size_t n_links = p->link_start[s + 1] - p->link_start[s];
        const size_t n_many = p->many_start[s + 1] - p->many_start[s];
        const uint32_t k = gbsi_plan_arity(p->plan, s);
        double sum = span_of(p->field64 + p->field_start[s], k);
        for (size_t i = p->link_start[s]; i < p->link_start[s + 1]; ++i) {
            sum -= gbsi_log((double)p->link[i].least > 0.0 ? (double)p->link[i].least : 1e-45);
        }
        for (size_t i = p->many_start[s]; i < p->many_start[s + 1]; ++i) {
            sum += span_of_many(factors, p->long_factor[p->many[i].number]);
        }
        p->precise[s] = (double)(n_links + n_many + 2) * 0x1p-24 * sum > GBSI_ROUNDING_LIMIT;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void round_fields(gbsi_potentials *p)
{
    for (uint32_t s = 0; s < p->n; ++s) {
        double *field = p->field64 + p->field_start[s];
        const uint32_t k = gbsi_plan_arity(p->plan, s);
        double top = -INFINITY;
        for (uint32_t a = 0; a < k; ++a) {
            top = field[a] > top ? field[a] : top;
        }
        for (uint32_t a = 0; a < k; ++a) {
            field[a] -= top > -INFINITY ? top : 0.0;
            p->field[p->field_start[s] + a] = (float)field[a];
        }
    }
}

static gbs_status round_pool(gbsi_potentials *p, gbs_error *err)
{
    p->log = gbsi_alloc_lanes(p->n_pool, sizeof *p->log);
    p->weight = gbsi_alloc_lanes(p->n_pool, sizeof *p->weight);
    GBSI_PASS(GBSI_HAVE(err, "splash", p->log, p->weight));
    for (size_t i = 0; i < p->n_pool; ++i) {
        p->log[i] = (float)p->log64[i];
        p->weight[i] = (float)gbsi_exp(p->log64[i]);
    }
    return GBS_OK;
}

gbsi_long_counts gbsi_count_long(const gbsi_plan *plan)
{
    const gbsi_factors *factors = &plan->model->factors;
    gbsi_long_counts counts = {0, 0};
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t m = scope_of(factors, f);
        counts.n += m > 2;
        counts.n_ends += m > 2 ? m : 0;
    }
    return counts;
}

uint64_t gbsi_potentials_bytes(const gbsi_plan *plan)
{
    const gbsi_conditioned *model = plan->model;
    const gbsi_factors *factors = &model->factors;
    uint64_t bytes = sizeof(gbsi_potentials) + (uint64_t)plan->n_slots * 25 +
                     model->state_offset[plan->n_slots] * 12;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t m = scope_of(factors, f);
        const size_t e = factors->scope_start[f];
        if (m == 2) {
            bytes += 2 * sizeof(gbsi_splash_link) + sizeof(pair_table) + 2 * sizeof(uint32_t) +
                     (uint64_t)model->arity[factors->scope[e]] *
                         model->arity[factors->scope[e + 1]] * 2 * 24;
        } else if (m > 2) {
            bytes += m * sizeof(gbsi_splash_member) + sizeof(size_t);
        }
    }
    return bytes;
}

static gbs_status fill(gbsi_potentials *p, pair_pool *pool, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t *at = NULL;
    GBSI_TRY(count_ends(p, err));
    at = gbsi_alloc_array(2 * (size_t)p->n, sizeof *at);
    GBSI_TRY(GBSI_HAVE(err, "splash", at));
    memcpy(at, p->link_start, p->n * sizeof *at);
    memcpy(at + p->n, p->many_start, p->n * sizeof *at);
    GBSI_TRY(place_factors(p, pool, at, at + p->n, err));
    round_fields(p);
    GBSI_TRY(round_pool(p, err));
    find_precise(p);
cleanup:
    gbsi_free(at);
    return status;
}

gbs_status gbsi_potentials_new(const gbsi_plan *plan, gbsi_potentials **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    pair_pool pool = {0};
    gbsi_potentials *p = gbsi_alloc_zero(sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "splash", p));
    pool.p = p;
    p->plan = plan;
    p->n = plan->n_slots;
    p->field_start = gbsi_alloc_array_zero((size_t)p->n + 1, sizeof *p->field_start);
    p->link_start = gbsi_alloc_array_zero((size_t)p->n + 1, sizeof *p->link_start);
    p->many_start = gbsi_alloc_array_zero((size_t)p->n + 1, sizeof *p->many_start);
    p->precise = gbsi_alloc_array_zero(p->n, 1);
    GBSI_TRY(GBSI_HAVE(err, "splash", p->field_start, p->link_start, p->many_start, p->precise));
    GBSI_TRY(rehash(&pool, 64, err));
    GBSI_TRY(fill(p, &pool, err));
    p->bytes = gbsi_potentials_bytes(plan);
    *out = p;
    p = NULL;
cleanup:
    GBSI_FREE(pool.pair, pool.hashed);
    gbsi_potentials_free(p);
    return status;
}

void gbsi_potentials_free(gbsi_potentials *p)
{
    if (p == NULL) {
        return;
    }
    GBSI_FREE(p->field_start, p->field64, p->field, p->link_start, p->link, p->many_start, p->many,
              p->long_factor, p->log64, p->log, p->weight, p->precise, p);
}
