/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the fields and terms of the classes that store whole factors: TABLE, LOGICAL and PRECISE.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"

typedef struct growth {
    size_t term_capacity, link_capacity, n_terms;
    uint32_t *
        counter_of; /* [n_factors] counter of each factor; GBSI_NONE: the factor keeps no counter */
    uint64_t *key;  /* sort keys of the terms of a slot: lowest neighbour << 32 | number of
                       the term */
    size_t key_capacity;
} growth;

static gbs_status add_links(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                            uint32_t position, const uint32_t *aux, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t *scope = c->factors->scope + c->factors->scope_start[f];
    const uint32_t n = gbsi_scope_size(c->factors, f);
    /* A factor with a counter has only a link to its head; otherwise 300 literals would become 90
     * 000 links. */
    const uint32_t from = term->counter == GBSI_NONE ? 0 : (term->head ? n - 1 : n);
    void *links = plan->link;
    GBSI_PASS(gbsi_reserve(&links, &g->link_capacity, plan->n_links + n - from, sizeof *plan->link,
                           "plan", err));
    plan->link = links;
    term->first = plan->n_links;
    term->n_others = n - 1;
    for (uint32_t q = from; q < n; ++q) {
        if (q != position) {
            plan->link[plan->n_links++] =
                (gbsi_link){.slot = plan->slot_of[scope[q]], .aux = aux == NULL ? 0 : aux[q]};
        }
    }
    term->n = (uint32_t)(plan->n_links - term->first);
    return GBS_OK;
}

/* Makes a term of kind GBSI_TERM_TABLE. The strides fit the order of the derived table: the other
 * variables are in the order of the scope, the later ones vary faster, and the own state varies
 * fastest. */
static gbs_status table_term(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                             uint32_t position, unsigned form, gbs_error *err)
{
    const uint32_t *scope = c->factors->scope + c->factors->scope_start[f];
    GBSI_PASS(gbsi_derive(c, f, position, form, &term->base, err));
    size_t stride = (form & GBSI_ODDS) != 0 ? 1 : c->model->arity[scope[position]];
    for (uint32_t q = gbsi_scope_size(c->factors, f); q-- > 0;) {
        if (q != position) {
            c->at[q] = (uint32_t)stride;
            stride *= c->model->arity[scope[q]];
        }
    }
    term->kind = GBSI_TERM_TABLE;
    return add_links(c, g, term, f, position, c->at, err);
}

/* Stores the values of a logical factor [M5], indexed by the number of true body neighbours and the
 * head. */
static void put_logical(gbsi_compile *c, const gbsi_term *term, size_t f, uint32_t n_body,
                        unsigned form)
{
    const gbsi_factors *factors = c->factors;
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    const bool own_head = !term->own_body;
    const uint32_t n_heads = term->head ? 2 : 1;
    size_t index = term->base;
    for (uint32_t i = 0; i < (n_body + 1) * n_heads; ++i) {
        const uint32_t count = i / n_heads;
        double value[2]; /* value[0]: the own literal is false; value[1]: the own literal is true */
        for (uint32_t own = 0; own < 2; ++own) {
            bool head = logical->head == GBSI_HEAD_TRUE;
            if (logical->head == GBSI_HEAD_FREE) {
                head = own_head ? own != 0 : i % n_heads != 0;
            }
            uint32_t n_true = logical->n_body_true + count + (own_head ? 0 : own);
            value[own] = gbsi_logical_value(logical, factors->weight[f], n_true, head);
        }
        if ((form & GBSI_ODDS) != 0) {
            gbsi_pool_put(c, form, index++,
                          term->literal == 1 ? value[1] - value[0] : value[0] - value[1]);
        } else {
            const double top = value[0] > value[1] ? value[0] : value[1];
            const double off =
                top > -INFINITY ? top : 0.0; /* the maximum cancels in the conditional */
            gbsi_pool_put(c, form, index++, value[0] - off);
            gbsi_pool_put(c, form, index++, value[1] - off);
        }
    }
}

static gbs_status logical_term(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                               uint32_t position, unsigned form, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t *literal = factors->literal + factors->scope_start[f];
    const uint32_t n = gbsi_scope_size(factors, f);
    const bool head_free = factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE;
    const bool own_head = head_free && position == n - 1;
    bool found = false;
    term->kind = GBSI_TERM_LOGICAL;
    term->head = head_free && !own_head;
    term->own_body = !own_head;
    term->literal = literal[position];
    term->counter = g->counter_of[f];
    const uint32_t n_body = n - 1 - term->head; /* number of literals of neighbours in the body */
    const size_t n_values =
        ((size_t)n_body + 1) * (term->head ? 2 : 1) * ((form & GBSI_ODDS) != 0 ? 1 : 2);
    const uint32_t key =
        GBSI_BY_COUNT + 2u * own_head + ((form & GBSI_ODDS) != 0 && term->literal == 1);
    GBSI_PASS(gbsi_shared_find(c, f, key, form, &found, &term->base, err));
    if (!found) {
        GBSI_PASS(gbsi_pool_take(c, form, n_values, &term->base, err));
        put_logical(c, term, f, n_body, form);
        gbsi_shared_add(c, f, key, form, term->base);
    }
    return add_links(c, g, term, f, position, literal, err);
}

static gbs_status spin_term(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                            uint32_t position, unsigned form, gbs_error *err)
{
    const double j = c->factors->weight[f];
    term->kind = GBSI_TERM_SPIN;
    term->counter = g->counter_of[f];
    term->own_body = 1;
    term->literal = 1;
    GBSI_PASS(gbsi_pool_take(c, form, 2, &term->base, err));
    /* With odds, the first entry applies if the product of the other spins is +1, the second entry
     * if the product is -1. With weights, the two entries are for own states 0 and 1, if the
     * product of the other spins is +1. */
    const bool odds = (form & GBSI_ODDS) != 0;
    const double top = odds ? 0.0 : fabs(j);
    gbsi_pool_put(c, form, term->base, odds ? 2.0 * j : -j - top);
    gbsi_pool_put(c, form, term->base + 1, odds ? -2.0 * j : j - top);
    return add_links(c, g, term, f, position, NULL, err);
}

static gbs_status potts_term(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                             uint32_t position, unsigned form, gbs_error *err)
{
    const double j = c->factors->weight[f];
    const double top = j > 0.0 ? j : 0.0;
    term->kind = GBSI_TERM_POTTS;
    GBSI_PASS(gbsi_pool_take(c, form, 2, &term->base, err));
    gbsi_pool_put(c, form, term->base, -top);
    gbsi_pool_put(c, form, term->base + 1, j - top);
    return add_links(c, g, term, f, position, NULL, err);
}

/* Makes the term of a noisy factor. The term of a parent has a single link, which leads to the
 * child; the term of the child has none. */
static gbs_status noisy_term(gbsi_compile *c, growth *g, gbsi_term *term, size_t f,
                             uint32_t position, gbs_error *err)
{
    const gbsi_noisy noisy = gbsi_noisy_of(c->factors, f);
    term->kind = GBSI_TERM_NOISY;
    term->counter = c->plan->noisy_of[f];
    term->own_body = position < noisy.n_parents;
    term->head = term->own_body && noisy.child != GBSI_NONE;
    term->base = term->own_body ? c->plan->cost_at[c->factors->scope_start[f] + position] : 0;
    return add_links(c, g, term, f, position, NULL, err);
}

/* Adds the term of one factor to a slot. @param end index of the factor in c->incident.factor. */
static gbs_status add_term(gbsi_compile *c, growth *g, size_t end, uint32_t slot, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t v = plan->variable_of[slot];
    const uint32_t k = c->model->arity[v];
    const size_t f = c->incident.factor[end];
    const uint32_t position = gbsi_incident_position(&c->incident, c->factors, end, v);
    const unsigned form = gbsi_plan_form(plan, slot) |
                          (gbsi_plan_class(plan, slot) == GBSI_CLASS_PRECISE ? GBSI_DOUBLE : 0u);
    gbsi_term term = {.counter = GBSI_NONE};
    gbs_status status = GBS_OK;
    switch (c->factors->kind[f]) {
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBSI_FACTOR_EFFECT:
    case GBSI_FACTOR_RISING:
    case GBSI_FACTOR_FALLING:
        status = noisy_term(c, g, &term, f, position, err);
        break;
    case GBS_FACTOR_LOGICAL:
        status = gbsi_is_tabulated(c, f) ? table_term(c, g, &term, f, position, form, err)
                                         : logical_term(c, g, &term, f, position, form, err);
        break;
    case GBS_FACTOR_SPIN:
        status = gbsi_is_tabulated(c, f) ? table_term(c, g, &term, f, position, form, err)
                                         : spin_term(c, g, &term, f, position, form, err);
        break;
    case GBS_FACTOR_POTTS:
        status = k > 16 ? potts_term(c, g, &term, f, position, form, err)
                        : table_term(c, g, &term, f, position, form, err);
        break;
    default:
        status = table_term(c, g, &term, f, position, form, err);
        break;
    }
    if (status < 0) {
        return status;
    }
    void *terms = plan->term;
    status = gbsi_reserve(&terms, &g->term_capacity, g->n_terms + 1, sizeof term, "plan", err);
    if (status == GBS_OK) {
        plan->term = terms;
        plan->term[g->n_terms++] = term;
    }
    return status;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t lowest_neighbour(const gbsi_plan *plan, const gbsi_term *term)
{
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < term->n; ++i) {
        const uint32_t slot = plan->link[term->first + i].slot;
        lowest = slot < lowest ? slot : lowest;
    }
    return lowest;
}

/* Permutes terms in place: the new term[k] is the old term[low half of key[k]]. The keys are
 * overwritten. */
static void rearrange(gbsi_term *term, uint64_t *key, uint32_t n)
{
    for (uint32_t k = 0; k < n; ++k) {
        const gbsi_term kept = term[k];
        uint32_t to = k;
        for (uint32_t from = (uint32_t)key[to]; from != k; from = (uint32_t)key[to]) {
            term[to] = term[from];
            key[to] = to;
            to = from;
        }
        term[to] = kept;
        key[to] = to;
    }
}

/* Sorts the terms of a slot into the order of summation: by the lowest neighbour of each term, and
 * for equal lowest neighbours by the number of the factor. */
static gbs_status sort_terms(gbsi_plan *plan, growth *g, size_t first, gbs_error *err)
{
    const uint32_t n = (uint32_t)(g->n_terms - first);
    void *keys = g->key;
    bool sorted = true;
    GBSI_PASS(gbsi_reserve(&keys, &g->key_capacity, n, sizeof *g->key, "plan", err));
    g->key = keys;
    for (uint32_t k = 0; k < n; ++k) {
        g->key[k] = (uint64_t)lowest_neighbour(plan, &plan->term[first + k]) << 32 | k;
        sorted &= k == 0 || g->key[k - 1] < g->key[k];
    }
    if (!sorted) {
        qsort(g->key, n, sizeof *g->key, ascending);
        rearrange(plan->term + first, g->key, n);
    }
    return GBS_OK;
}

/* The range in c->incident.factor of the factors of a slot's variable: from `first` to end - 1. */
typedef struct span {
    size_t first, end;
} span;

static span factors_of(const gbsi_compile *c, uint32_t slot)
{
    const size_t v = c->plan->variable_of[slot];
    return (span){gbsi_offset(&c->incident.start, v), gbsi_offset(&c->incident.start, v + 1)};
}

static gbs_status compile_slot(gbsi_compile *c, growth *g, uint32_t slot, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const span of = factors_of(c, slot);
    const size_t first = g->n_terms;
    memset(c->own, 0, gbsi_plan_arity(plan, slot) * sizeof *c->own);
    for (size_t i = of.first; i < of.end; ++i) {
        if (gbsi_scope_size(c->factors, c->incident.factor[i]) == 1) {
            gbsi_add_unary(c, c->incident.factor[i], (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0,
                           c->own);
        }
    }
    gbsi_store_field(plan, slot, c->own);
    for (size_t i = of.first; i < of.end; ++i) {
        if (gbsi_scope_size(c->factors, c->incident.factor[i]) > 1) {
            GBSI_PASS(add_term(c, g, i, slot, err));
        }
    }
    return g->n_terms > first ? sort_terms(plan, g, first, err) : GBS_OK;
}

/* Whether a factor keeps a count of its true literals, as long logical factors and spin products do
 * [M5]. Every variable of such a factor changes the count, independent of the variable's class. */
static bool keeps_counter(const gbsi_factors *factors, size_t f)
{
    return (factors->kind[f] == GBS_FACTOR_LOGICAL || factors->kind[f] == GBS_FACTOR_SPIN) &&
           gbsi_scope_size(factors, f) > GBSI_LONG_TERM;
}

/* Consecutive cardinality factors over the same literals share one counter. */
static bool shares_counter(const gbsi_factors *factors, size_t f)
{
    return f > 0 && keeps_counter(factors, f) && gbsi_are_cardinalities_alike(factors, f - 1, f);
}

static gbs_status make_counters(gbsi_compile *c, growth *g, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const gbsi_factors *factors = c->factors;
    size_t n_links = 0;
    g->counter_of = gbsi_alloc_array(factors->n_factors, sizeof *g->counter_of);
    GBSI_PASS(GBSI_HAVE(err, "plan", g->counter_of));
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (shares_counter(factors, f)) {
            g->counter_of[f] = g->counter_of[f - 1];
            continue;
        }
        if (gbsi_compile_spend(c, 8, err) < 0) {
            return GBS_ERR_STOPPED;
        }
        g->counter_of[f] = keeps_counter(factors, f) ? plan->n_counters++ : GBSI_NONE;
        n_links += g->counter_of[f] != GBSI_NONE ? gbsi_scope_size(factors, f) : 0;
    }
    if (plan->n_counters == 0) {
        return GBS_OK;
    }
    plan->counter_start =
        gbsi_alloc_array_zero((size_t)plan->n_slots + 1, sizeof *plan->counter_start);
    plan->counter_link = gbsi_alloc_array(n_links, sizeof *plan->counter_link);
    GBSI_PASS(GBSI_HAVE(err, "plan", plan->counter_start, plan->counter_link));
    size_t at = 0;
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        const span of = factors_of(c, s);
        if (gbsi_compile_spend(c, 4 * (uint64_t)(of.end - of.first), err) < 0) {
            return GBS_ERR_STOPPED;
        }
        for (size_t i = of.first; i < of.end; ++i) {
            const size_t f = c->incident.factor[i];
            if (g->counter_of[f] == GBSI_NONE || shares_counter(factors, f)) {
                continue;
            }
            bool spin = factors->kind[f] == GBS_FACTOR_SPIN;
            uint32_t q = gbsi_incident_position(&c->incident, factors, i, plan->variable_of[s]);
            bool head = !spin && q == gbsi_scope_size(factors, f) - 1 &&
                        factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE;
            if (!head) {
                plan->counter_link[at++] = (gbsi_counter_link){
                    .counter = g->counter_of[f],
                    .literal = spin ? 1 : factors->literal[factors->scope_start[f] + q]};
            }
        }
        plan->counter_start[s + 1] = at;
        assert(at <= n_links);
    }
    return GBS_OK;
}

/* Reserves room for all terms and links at once, because an array that grows takes its memory twice
 * while it is copied. */
static gbs_status reserve_terms(gbsi_compile *c, growth *g, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    size_t n_terms = 0;
    size_t n_links = 0;
    uint32_t *size = gbsi_alloc_array((size_t)plan->n_slots + 1, sizeof *size);
    GBSI_PASS(GBSI_HAVE(err, "plan", size));
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        const span of = factors_of(c, s);
        GBSI_TRY(gbsi_compile_spend(c, 4 * (uint64_t)(of.end - of.first), err));
        size[s] = 0;
        for (size_t i = of.first; !gbsi_is_row_class(gbsi_plan_class(plan, s)) && i < of.end; ++i) {
            const size_t f = c->incident.factor[i];
            const uint32_t n = gbsi_scope_size(c->factors, f);
            const bool noisy = gbsi_is_noisy(c->factors->kind[f]);
            size[s] += n > 1;
            n_links += n > 1 ? (g->counter_of[f] == GBSI_NONE && !noisy ? n - 1 : 1) : 0;
        }
        n_terms += size[s];
    }
    status = gbsi_offsets_take(size, plan->n_slots, &plan->term_start, "plan", err);
    size = NULL; /* the plan owns the array now */
    GBSI_TRY(status);
    void *terms = plan->term;
    GBSI_TRY(gbsi_reserve(&terms, &g->term_capacity, n_terms + 1, sizeof *plan->term, "plan", err));
    plan->term = terms;
    void *links = plan->link;
    GBSI_TRY(gbsi_reserve(&links, &g->link_capacity, n_links, sizeof *plan->link, "plan", err));
    plan->link = links;

cleanup:
    gbsi_free(size);
    return status;
}

gbs_status gbsi_compile_terms(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    growth g = {0};
    bool any = false;
    for (unsigned k = 0; k < GBSI_N_CLASSES; ++k) {
        any |= plan->n_of_class[k] > 0 && !gbsi_is_row_class((gbsi_class)k);
    }
    if (!any) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_need_incidence(c, err));
    GBSI_TRY(make_counters(c, &g, err));
    GBSI_TRY(gbsi_compile_sums(c, err));
    GBSI_TRY(reserve_terms(c, &g, err));
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        if (!gbsi_is_row_class(gbsi_plan_class(plan, s))) {
            const span of = factors_of(c, s);
            GBSI_TRY(gbsi_compile_spend(c, 32 * (uint64_t)(of.end - of.first), err));
            GBSI_TRY(compile_slot(c, &g, s, err));
        }
    }

cleanup:
    GBSI_FREE(g.counter_of, g.key);
    return status;
}
