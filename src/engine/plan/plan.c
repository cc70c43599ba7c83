/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a plan: chooses classes, numbers slots, allocates memory, and then packs the
 * neighbourhoods. */
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"
#include "plan/plan_check.h"

static void free_arrays(gbsi_plan *plan)
{
    void *const owned[] = {
        plan->slot_of,     plan->variable_of, plan->arity,         plan->type,
        plan->level_start, plan->field,       plan->field64,       plan->neighbour,
        plan->edge,        plan->by_count,    plan->term,          plan->link,
        plan->pool,        plan->pool64,      plan->counter_start, plan->counter_link,
        plan->sell.slice,  plan->sell.slot,   plan->sell.stride,   plan->sell.coupling,
        plan->sell.base,   plan->noisy,       plan->cost,          plan->cost_start,
        plan->cost_link,   plan->noisy_of,    plan->cost_at};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
        gbsi_free(owned[i]);
    }
    gbsi_offsets_free(&plan->field_start);
    gbsi_offsets_free(&plan->row_start);
    gbsi_offsets_free(&plan->term_start);
}

void gbsi_plan_keep_slots(gbsi_plan *plan)
{
    gbsi_plan kept = {.model = plan->model,
                      .n_slots = plan->n_slots,
                      .n_sampled = plan->n_sampled,
                      .variable_of = plan->variable_of,
                      .arity = plan->arity,
                      .type = plan->type,
                      .same_type = plan->same_type,
                      .max_arity = plan->max_arity,
                      .value_bytes = plan->value_bytes,
                      .density_units = plan->density_units,
                      .by_type = plan->by_type,
                      .by_count = plan->by_count};
    memcpy(kept.n_of_class, plan->n_of_class, sizeof kept.n_of_class);
    plan->variable_of = plan->arity = plan->by_count = NULL;
    plan->type = NULL;
    free_arrays(plan);
    *plan = kept;
}

void gbsi_plan_free(gbsi_plan *plan)
{
    if (plan != NULL) {
        free_arrays(plan);
        gbsi_free(plan);
    }
}

/* ---- scratch ------------------------------------------------------------------------------- */

gbs_status gbsi_need_incidence(gbsi_compile *c, gbs_error *err)
{
    return c->incident.factor != NULL
               ? GBS_OK
               : gbsi_incident_factors_init(c->factors, c->model->n_variables, 1, &c->incident,
                                            err);
}

static gbs_status take_tables(gbsi_compile *c, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    c->table_uses = gbsi_alloc_array_zero(factors->n_tables, sizeof *c->table_uses);
    c->table_spread = gbsi_alloc_array(factors->n_tables, sizeof *c->table_spread);
    c->table_potts = gbsi_alloc_array(factors->n_tables, sizeof *c->table_potts);
    c->table_grain = gbsi_alloc_array(factors->n_tables, sizeof *c->table_grain);
    GBSI_PASS(
        GBSI_HAVE(err, "plan", c->table_uses, c->table_spread, c->table_potts, c->table_grain));
    for (size_t t = 0; t < factors->n_tables; ++t) {
        c->table_spread[t] = NAN;
        c->table_potts[t] = NAN;
        c->table_grain[t] = GBSI_GRAIN_UNKNOWN;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (factors->kind[f] == GBS_FACTOR_TABLE && c->table_uses[factors->aux[f]] < 2) {
            ++c->table_uses[factors->aux[f]];
        }
    }
    return GBS_OK;
}

static gbs_status take_scratch(gbsi_compile *c, gbs_error *err)
{
    const gbsi_factors *factors = c->factors;
    uint32_t k = 2;
    size_t largest = 2;
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        k = c->model->arity[v] > k ? c->model->arity[v] : k;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t n = gbsi_scope_size(factors, f);
        largest = n > largest ? n : largest;
    }
    c->plan->max_arity = k;
    c->plan->value_bytes = k <= 256 ? 1 : 2;
    c->own = gbsi_alloc_array(k, sizeof *c->own);
    c->at = gbsi_alloc_array_zero(largest, sizeof *c->at);
    return c->own == NULL || c->at == NULL
               ? gbsi_no_memory(err, "plan", largest * sizeof *c->at + k * sizeof *c->own)
               : take_tables(c, err);
}

static void free_scratch(gbsi_compile *c)
{
    gbsi_incident_factors_free(&c->incident);
    GBSI_FREE(c->profile, c->table_uses, c->table_spread, c->table_potts, c->table_grain,
              c->derived, c->count_table, c->degree, c->own, c->at);
}

/* ---- the steps ----------------------------------------------------------------------------- */

static size_t bytes_of(const gbsi_plan *plan, const gbsi_compile *c)
{
    const size_t n = plan->n_slots;
    const size_t n_terms = plan->term == NULL ? 0 : gbsi_offset(&plan->term_start, n);
    const size_t n_moves = plan->counter_start == NULL ? 0 : plan->counter_start[n];
    const size_t n_costs = plan->cost_start == NULL ? 0 : plan->cost_start[n];
    const gbsi_sell *sell = &plan->sell;
    size_t bytes = sizeof *plan + n * sizeof *plan->slot_of + n * sizeof *plan->variable_of;
    bytes += plan->arity == NULL ? 0 : n * sizeof *plan->arity;
    bytes += plan->type == NULL ? 0 : n * sizeof *plan->type;
    bytes += plan->by_count == NULL ? 0 : n * sizeof *plan->by_count;
    bytes += plan->level_start == NULL ? 0 : plan->n_levels * sizeof *plan->level_start;
    bytes += gbsi_offsets_bytes(&plan->field_start) + gbsi_offsets_bytes(&plan->row_start) +
             gbsi_offsets_bytes(&plan->term_start);
    bytes += gbsi_offset(&plan->field_start, n) * (plan->field64 == NULL ? 4 : 12);
    bytes += plan->n_ends * (sizeof *plan->neighbour + (plan->has_edges ? sizeof *plan->edge : 0));
    bytes += n_terms * sizeof *plan->term + plan->n_links * sizeof *plan->link;
    bytes += c->pool_capacity * sizeof *plan->pool + c->pool64_capacity * sizeof *plan->pool64;
    bytes += n_moves * sizeof *plan->counter_link;
    bytes += plan->counter_start == NULL ? 0 : n * sizeof *plan->counter_start;
    bytes += plan->n_noisy * sizeof *plan->noisy + plan->n_costs * sizeof *plan->cost;
    bytes += n_costs * sizeof *plan->cost_link;
    if (plan->n_noisy > 0) {
        const gbsi_factors *f = &plan->model->factors;
        bytes += f->n_factors * sizeof *plan->noisy_of;
        bytes += f->scope_start[f->n_factors] * sizeof *plan->cost_at;
    }
    bytes += plan->cost_start == NULL ? 0 : n * sizeof *plan->cost_start;
    bytes += sell->slice == NULL ? 0 : (n + 15) / 16 * sizeof *sell->slice;
    bytes += sell->n_links * (sizeof *sell->slot + (sell->has_terms ? sizeof *sell->stride : 0));
    return bytes + sell->n_couplings * sizeof *sell->coupling + sell->n_bases * sizeof *sell->base;
}

static bool is_sliced(const gbsi_compile *c)
{
    return c->options.sell && c->options.repeats;
}

/* Whether the neighbourhoods can be left out because the plan is only measured (see
 * gbsi_plan_options.measure). Bytes and counts do not depend on neighbourhoods if all slots have
 * only couplings and no two factors of the same variables are merged. Slices of POTTS slots are an
 * exception. Their numbers of neighbours are stored beside the neighbours, and are needed to tell
 * which updates are long. */
static bool is_measured(const gbsi_plan *plan, const gbsi_compile *c)
{
    const uint32_t n_couplings =
        plan->n_of_class[GBSI_CLASS_ISING] + plan->n_of_class[GBSI_CLASS_POTTS];
    return c->options.measure && n_couplings == plan->n_slots &&
           (!is_sliced(c) || plan->n_of_class[GBSI_CLASS_POTTS] == 0) &&
           !gbsi_graph_may_repeat(plan->graph);
}

static gbs_status compile(gbsi_compile *c, const uint32_t *sequence, size_t n, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const bool sliced = is_sliced(c);
    GBSI_PASS(take_scratch(c, err));
    GBSI_PASS(gbsi_classify(c, err));
    GBSI_PASS(gbsi_number_slots(c, sequence, n, err));
    GBSI_PASS(gbsi_count_neighbours(c, err));
    gbsi_free(c->profile);
    c->profile = NULL;
    GBSI_PASS(gbsi_compile_terms(c, err));
    if (sliced) {
        GBSI_PASS(gbsi_lay_out_slices(c, err));
    } else {
        GBSI_PASS(gbsi_lay_out_rows(c, err));
    }
    if (!is_measured(plan, c)) {
        GBSI_PASS(gbsi_take_rows(plan, err));
        if (sliced) {
            GBSI_PASS(gbsi_take_slices(c, err));
        }
        GBSI_PASS(gbsi_compile_rows(c, err));
    }
    gbsi_plan_check(plan, !is_measured(plan, c));
    plan->bytes = bytes_of(plan, c);
    return GBS_OK;
}

gbs_status gbsi_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                         const uint32_t *sequence, size_t n, gbsi_plan_options options,
                         gbsi_plan **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_plan *plan = gbsi_alloc_zero(sizeof *plan);
    gbsi_compile c = {.model = model,
                      .factors = &model->factors,
                      .plan = plan,
                      .options = options,
                      .watch = gbsi_watch_current()};
    GBSI_PASS(GBSI_HAVE(err, "plan", plan));
    plan->model = model;
    plan->graph = graph;
    plan->n_slots = model->n_variables;
    plan->at_once = options.at_once;
    plan->n_sampled = options.n_sampled > 0 ? options.n_sampled : model->n_variables;
    plan->density_units =
        options.density_units.high > 0.0
            ? options.density_units
            : gbsi_sum_units_of(gbsi_factors_magnitude(&model->factors), model->factors.n_factors);
    GBSI_TRY(compile(&c, sequence, n, err));
    *out = plan;
    plan = NULL;

cleanup:
    gbsi_plan_free(plan);
    free_scratch(&c);
    return status;
}
