/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling: incidence, classes, slots, then the packed neighbourhoods. */
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"

void gbsi_plan_free(gbsi_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    void *const owned[] = {
        plan->slot_of,    plan->variable_of, plan->rank,          plan->arity,
        plan->class_id,   plan->form,        plan->field_start,   plan->field,
        plan->field64,    plan->row_start,   plan->neighbour,     plan->edge,
        plan->by_count,   plan->term_start,  plan->term,          plan->link,
        plan->pool,       plan->pool64,      plan->counter_start, plan->counter_link,
        plan->sell.slice, plan->sell.slot,   plan->sell.stride,   plan->sell.coupling,
        plan->sell.base};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
        gbsi_free(owned[i]);
    }
    gbsi_free(plan);
}

/* Factors of each variable, unary ones included, in factor order. */
static gbs_status make_incidence(gbsi_compile *c, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    const uint32_t n = c->model->n_variables;
    const size_t n_ends = factors->n_factors == 0 ? 0 : factors->scope_start[factors->n_factors];
    c->of_start = gbsi_alloc_array_zero((size_t)n + 2, sizeof *c->of_start);
    c->of = gbsi_alloc_array(n_ends, sizeof *c->of);
    if (c->of_start == NULL || c->of == NULL) {
        return gbsi_no_memory(err, "plan", n_ends * sizeof *c->of);
    }
    /* of_start[v + 1] runs ahead as the write position of v, then is where v ends. */
    for (size_t e = 0; e < n_ends; ++e) {
        ++c->of_start[factors->scope[e] + 2];
    }
    for (uint32_t v = 0; v < n; ++v) {
        c->of_start[v + 2] += c->of_start[v + 1];
    }
    size_t largest = 2;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            c->of[c->of_start[factors->scope[e] + 1]++] = f;
        }
        size_t size = factors->scope_start[f + 1] - factors->scope_start[f];
        largest = size > largest ? size : largest;
    }
    c->at = gbsi_alloc_array_zero(largest, sizeof *c->at);
    return c->at == NULL ? gbsi_no_memory(err, "plan", largest * sizeof *c->at) : GBS_OK;
}

static gbs_status make_scratch(gbsi_compile *c, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    uint32_t k = 2;
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        k = c->model->arity[v] > k ? c->model->arity[v] : k;
    }
    c->plan->max_arity = k;
    c->plan->value_bytes = k <= 256 ? 1 : 2;
    c->own = gbsi_alloc_array(k, sizeof *c->own);
    c->table_uses = gbsi_alloc_array_zero(factors->n_tables, sizeof *c->table_uses);
    c->table_spread = gbsi_alloc_array(factors->n_tables, sizeof *c->table_spread);
    c->table_potts = gbsi_alloc_array(factors->n_tables, sizeof *c->table_potts);
    if (c->own == NULL || c->table_uses == NULL || c->table_spread == NULL ||
        c->table_potts == NULL) {
        return gbsi_no_memory(err, "plan", factors->n_tables * 20);
    }
    for (size_t t = 0; t < factors->n_tables; ++t) {
        c->table_spread[t] = NAN;
        c->table_potts[t] = NAN;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (factors->kind[f] == GBS_FACTOR_TABLE && c->table_uses[factors->aux[f]] < 2) {
            ++c->table_uses[factors->aux[f]];
        }
    }
    return make_incidence(c, err);
}

/* One variable on its way to a slot. */
typedef struct place {
    uint32_t level; /* of its first use; all 0 if passes differ */
    uint32_t variable;
    uint32_t arity;
    uint8_t class_id, form;
} place;

static int by_use(const void *a, const void *b)
{
    const place *x = a;
    const place *y = b;
    if (x->level != y->level) {
        return x->level > y->level ? 1 : -1;
    }
    if (x->class_id != y->class_id) {
        return x->class_id > y->class_id ? 1 : -1;
    }
    if (x->form != y->form) {
        return x->form > y->form ? 1 : -1;
    }
    if (x->arity != y->arity) {
        return x->arity > y->arity ? 1 : -1;
    }
    return (x->variable > y->variable) - (x->variable < y->variable);
}

/* Level of every variable's first use in the sequence. */
static gbs_status first_levels(const gbsi_plan *plan, const uint32_t *sequence, size_t n, place *p,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n_levels = 0;
    uint32_t *last = gbsi_alloc_array(gbsi_graph_n_last(plan->graph), sizeof *last);
    uint32_t *level = gbsi_alloc_array(n, sizeof *level);
    if (last == NULL || level == NULL) {
        status = gbsi_no_memory(err, "plan", n * sizeof *level);
        goto cleanup;
    }
    gbsi_graph_levels(plan->graph, sequence, n, last, level, &n_levels);
    for (size_t t = n; t-- > 0;) {
        p[sequence[t]].level = level[t];
    }
cleanup:
    gbsi_free(last);
    gbsi_free(level);
    return status;
}

static gbs_status number_slots(gbsi_compile *c, const uint32_t *sequence, size_t n, bool repeats,
                               gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t n_slots = plan->n_slots;
    gbs_status status = GBS_OK;
    uint8_t *class_id = gbsi_alloc_array(n_slots, 1);
    uint8_t *form = gbsi_alloc_array(n_slots, 1);
    place *p = gbsi_alloc_array_zero(n_slots, sizeof *p);
    if (class_id == NULL || form == NULL || p == NULL) {
        status = gbsi_no_memory(err, "plan", n_slots * (2 + sizeof *p));
        goto cleanup;
    }
    gbsi_classify(c, class_id, form);
    for (uint32_t v = 0; v < n_slots; ++v) {
        p[v] = (place){.level = UINT32_MAX,
                       .variable = v,
                       .arity = c->model->arity[v],
                       .class_id = class_id[v],
                       .form = form[v]};
    }
    if (repeats) {
        GBSI_TRY(first_levels(plan, sequence, n, p, err));
    }
    qsort(p, n_slots, sizeof *p, by_use);
    for (uint32_t s = 0; s < n_slots; ++s) {
        plan->slot_of[p[s].variable] = s;
        plan->variable_of[s] = p[s].variable;
        plan->arity[s] = p[s].arity;
        plan->class_id[s] = p[s].class_id;
        plan->form[s] = p[s].form;
        ++plan->n_of_class[p[s].class_id];
        p[s].level = 0;
        p[s].variable = s; /* from here on the order inside batches: ties by slot */
    }
    qsort(p, n_slots, sizeof *p, by_use);
    for (uint32_t r = 0; r < n_slots; ++r) {
        plan->rank[p[r].variable] = r;
    }
cleanup:
    gbsi_free(class_id);
    gbsi_free(form);
    gbsi_free(p);
    return status;
}

static gbs_status take_fields(gbsi_plan *plan, gbs_error *err)
{
    plan->field_start = gbsi_alloc_array((size_t)plan->n_slots + 1, sizeof *plan->field_start);
    if (plan->field_start == NULL) {
        return gbsi_no_memory(err, "plan", plan->n_slots * sizeof *plan->field_start);
    }
    size_t n = 0;
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        plan->field_start[s] = n;
        n += (plan->form[s] & GBSI_ODDS) != 0 ? 1 : plan->arity[s];
    }
    plan->field_start[plan->n_slots] = n;
    plan->field = gbsi_alloc_lanes(n, sizeof *plan->field);
    bool precise = plan->n_of_class[GBSI_CLASS_PRECISE] > 0;
    plan->field64 = precise ? gbsi_alloc_array_zero(n, sizeof *plan->field64) : NULL;
    return plan->field == NULL || (precise && plan->field64 == NULL)
               ? gbsi_no_memory(err, "plan", n * sizeof *plan->field64)
               : GBS_OK;
}

static gbs_status take_slots(gbsi_plan *plan, gbs_error *err)
{
    const size_t n = plan->n_slots;
    plan->slot_of = gbsi_alloc_array(n, sizeof *plan->slot_of);
    plan->variable_of = gbsi_alloc_array(n, sizeof *plan->variable_of);
    plan->rank = gbsi_alloc_array(n, sizeof *plan->rank);
    plan->arity = gbsi_alloc_array(n, sizeof *plan->arity);
    plan->class_id = gbsi_alloc_array(n, 1);
    plan->form = gbsi_alloc_array(n, 1);
    return plan->slot_of == NULL || plan->variable_of == NULL || plan->rank == NULL ||
                   plan->arity == NULL || plan->class_id == NULL || plan->form == NULL
               ? gbsi_no_memory(err, "plan", n * 18)
               : GBS_OK;
}

static void sum_bytes(gbsi_plan *plan, const gbsi_compile *c)
{
    const size_t n = plan->n_slots;
    const size_t n_terms = plan->term_start == NULL ? 0 : plan->term_start[n];
    const size_t n_moves = plan->counter_start == NULL ? 0 : plan->counter_start[n];
    const gbsi_sell *sell = &plan->sell;
    const size_t sell_bytes = sell->slice == NULL
                                  ? 0
                                  : (n + 15) / 16 * sizeof *sell->slice + sell->n_links * 4 +
                                        (sell->stride == NULL ? 0 : sell->n_links * 4) +
                                        sell->n_couplings * 4 + sell->n_bases * 4;
    plan->bytes = sizeof *plan + n * (5 * sizeof(uint32_t) + 2 + 3 * sizeof(size_t)) +
                  plan->field_start[n] * (plan->field64 == NULL ? 4 : 12) + plan->row_start[n] * 8 +
                  n_terms * sizeof *plan->term + plan->n_links * sizeof *plan->link +
                  c->pool_capacity * 4 + c->pool64_capacity * 8 +
                  n_moves * sizeof *plan->counter_link + sell_bytes;
}

gbs_status gbsi_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                         const uint32_t *sequence, size_t n, gbsi_plan_options options,
                         gbsi_plan **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_plan *plan = gbsi_alloc_zero(sizeof *plan);
    gbsi_compile c = {.model = model, .factors = &model->factors, .plan = plan, .options = options};
    if (plan == NULL) {
        return gbsi_no_memory(err, "plan", sizeof *plan);
    }
    plan->model = model;
    plan->graph = graph;
    plan->n_slots = model->n_variables;
    GBSI_TRY(take_slots(plan, err));
    GBSI_TRY(make_scratch(&c, err));
    GBSI_TRY(number_slots(&c, sequence, n, options.repeats, err));
    GBSI_TRY(take_fields(plan, err));
    GBSI_TRY(gbsi_compile_rows(&c, err));
    GBSI_TRY(gbsi_compile_terms(&c, err));
    if (options.sell) {
        GBSI_TRY(gbsi_compile_sell(&c, err));
    }
    sum_bytes(plan, &c);
    *out = plan;
    plan = NULL;
cleanup:
    gbsi_plan_free(plan);
    gbsi_free(c.of_start);
    gbsi_free(c.of);
    gbsi_free(c.at);
    gbsi_free(c.own);
    gbsi_free(c.table_uses);
    gbsi_free(c.table_spread);
    gbsi_free(c.table_potts);
    gbsi_free(c.derived);
    gbsi_free(c.count_table);
    return status;
}
