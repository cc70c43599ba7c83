/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the slots. Variables are sorted by the level of their first use, then by class, form and
 * arity, and then in an order that keeps neighbours close in memory. The last order is ascending
 * numbers of variables, unless neighbours have numbers that are far apart. The sorts are stable
 * counting sorts, so that the last criterion is sorted first. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "plan/compile.h"

/* The state of a sort of variables into slots. Each step sorts the variables from one of two arrays
 * into the other one. */
typedef struct sorting {
    uint32_t n;
    uint32_t *order;     /* [n] current order of the variables; NULL: ascending numbers */
    uint32_t *spare;     /* [n] the array into which the next step sorts; NULL until it is needed */
    uint32_t *key;       /* [n] sort key of each variable */
    uint32_t *histogram; /* [histogram_capacity] scratch */
    size_t histogram_capacity;
} sorting;

/* Sorts the variables by s->key; all keys are below n_keys. */
static gbs_status sort(sorting *s, uint32_t n_keys, gbs_error *err)
{
    void *pointer = s->histogram;
    GBSI_PASS(gbsi_reserve(&pointer, &s->histogram_capacity, (size_t)n_keys + 1,
                           sizeof *s->histogram, "plan", err));
    s->histogram = pointer;
    if (s->spare == NULL) {
        s->spare = gbsi_alloc_array(s->n, sizeof *s->spare);
    }
    GBSI_PASS(GBSI_HAVE(err, "plan", s->spare));
    gbsi_sort_by(s->key, n_keys, s->order, s->spare, s->n, s->histogram);
    uint32_t *sorted = s->spare;
    s->spare = s->order;
    s->order = sorted;
    return GBS_OK;
}

/* Passes the current order to the caller. If no sort was needed, the order is made as 0 to n - 1.
 */
static gbs_status take_order(sorting *s, uint32_t **order, gbs_error *err)
{
    if (s->order == NULL) {
        s->order = gbsi_alloc_array(s->n, sizeof *s->order);
        GBSI_PASS(GBSI_HAVE(err, "plan", s->order));
        for (uint32_t v = 0; v < s->n; ++v) {
            s->order[v] = v;
        }
    }
    *order = s->order;
    s->order = NULL;
    return GBS_OK;
}

/* ---- criteria ------------------------------------------------------------------------------ */

static bool same_arity(const gbsi_compile *c)
{
    const uint32_t n = c->model->n_variables;
    uint32_t v = 0;
    while (v < n && c->model->arity[v] == c->model->arity[0]) {
        ++v;
    }
    return v == n;
}

static bool same_type(const gbsi_compile *c)
{
    const uint32_t n = c->model->n_variables;
    uint32_t v = 0;
    while (v < n && c->profile[v].type == c->profile[0].type) {
        ++v;
    }
    return v == n;
}

static gbs_status sort_by_locality(const gbsi_compile *c, sorting *s, gbs_error *err)
{
    bool found = false;
    if (s->n < GBSI_LOCALITY_LEAST) {
        return GBS_OK;
    }
    s->order = gbsi_alloc_array(s->n, sizeof *s->order);
    GBSI_PASS(GBSI_HAVE(err, "plan", s->order));
    GBSI_PASS(gbsi_graph_local_order(c->plan->graph, s->key, s->order, &found, err));
    if (!found) {
        gbsi_free(s->order);
        s->order = NULL;
    }
    return GBS_OK;
}

static gbs_status sort_by_type(gbsi_compile *c, sorting *s, gbs_error *err)
{
    if (!same_arity(c)) {
        memcpy(s->key, c->model->arity, s->n * sizeof *s->key);
        GBSI_PASS(sort(s, c->plan->max_arity + 1, err));
    }
    if (!same_type(c)) {
        for (uint32_t v = 0; v < s->n; ++v) {
            s->key[v] = c->profile[v].type;
        }
        GBSI_PASS(sort(s, UINT8_MAX + 1, err));
    }
    return GBS_OK;
}

/* Writes the level of each variable's first use in the sequence into s->key; plan->n_levels for
 * variables that are not in the sequence.
 * @param each_once out: whether every variable is used once. */
static gbs_status find_levels(gbsi_compile *c, const uint32_t *sequence, size_t n, sorting *s,
                              bool *each_once, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    size_t n_used = 0;
    uint32_t *last = gbsi_alloc_array(gbsi_graph_n_last(plan->graph), sizeof *last);
    uint32_t *level = gbsi_alloc_array(n, sizeof *level);
    GBSI_TRY(GBSI_HAVE(err, "plan", last, level));
    gbsi_graph_schedule_levels(plan->graph, sequence, n, last, level, &plan->n_levels);
    memset(s->key, 0xff, s->n * sizeof *s->key);
    for (size_t t = 0; t < n; ++t) {
        uint32_t *key = &s->key[sequence[t]];
        n_used += *key == UINT32_MAX;
        *key = level[t] < *key
                   ? level[t]
                   : *key; /* of all uses of a variable, the first has the lowest level */
    }
    for (uint32_t v = 0; n_used < s->n && v < s->n; ++v) {
        s->key[v] = s->key[v] == UINT32_MAX ? plan->n_levels : s->key[v];
    }
    *each_once = n == s->n && n_used == n;

cleanup:
    GBSI_FREE(last, level);
    return status;
}

static gbs_status sort_by_level(gbsi_compile *c, const uint32_t *sequence, size_t n, sorting *s,
                                gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    bool each_once = false;
    GBSI_PASS(find_levels(c, sequence, n, s, &each_once, err));
    GBSI_PASS(sort(s, plan->n_levels + 1, err));
    if (each_once) {
        plan->level_start = gbsi_alloc_array((size_t)plan->n_levels + 1, sizeof *plan->level_start);
        GBSI_PASS(GBSI_HAVE(err, "plan", plan->level_start));
        plan->level_start[0] = 0;
        memcpy(plan->level_start + 1, s->histogram, plan->n_levels * sizeof *s->histogram);
    }
    return GBS_OK;
}

/* ---- data that follow from the slots -------------------------------------------------------- */

static gbs_status describe_slots(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const uint32_t n = plan->n_slots;
    const bool arities_differ = !same_arity(c);
    const bool types_differ = !same_type(c);
    plan->slot_of = gbsi_alloc_array(n, sizeof *plan->slot_of);
    plan->arity = arities_differ ? gbsi_alloc_array(n, sizeof *plan->arity) : NULL;
    plan->type = types_differ ? gbsi_alloc_array(n, sizeof *plan->type) : NULL;
    if (plan->slot_of == NULL || (arities_differ && plan->arity == NULL) ||
        (types_differ && plan->type == NULL)) {
        return gbsi_no_memory(err, "plan", (size_t)n * 9);
    }
    for (uint32_t s = 0; s < n; ++s) {
        const uint32_t v = plan->variable_of[s];
        plan->slot_of[v] = s;
        plan->same_type = c->profile[v].type;
        if (arities_differ) {
            plan->arity[s] = c->model->arity[v];
        }
        if (types_differ) {
            plan->type[s] = c->profile[v].type;
        }
        ++plan->n_of_class[c->profile[v].type >> 4];
    }
    plan->by_type =
        (!arities_differ && !types_differ) || (plan->n_levels <= 1 && c->options.order == NULL);
    return GBS_OK;
}

static gbs_status take_fields(gbsi_plan *plan, gbs_error *err)
{
    const size_t n = plan->n_slots;
    uint32_t *size = gbsi_alloc_array(n + 1, sizeof *size);
    GBSI_PASS(GBSI_HAVE(err, "plan", size));
    for (uint32_t s = 0; s < n; ++s) {
        size[s] = (gbsi_plan_form(plan, s) & GBSI_ODDS) != 0 ? 1 : gbsi_plan_arity(plan, s);
    }
    GBSI_PASS(gbsi_offsets_take(size, n, &plan->field_start, "plan", err));
    const size_t n_fields = gbsi_offset(&plan->field_start, n);
    const bool precise = plan->n_of_class[GBSI_CLASS_PRECISE] > 0;
    plan->field = gbsi_alloc_lanes(n_fields, sizeof *plan->field);
    plan->field64 = precise ? gbsi_alloc_array_zero(n_fields, sizeof *plan->field64) : NULL;
    if (plan->field == NULL || (precise && plan->field64 == NULL)) {
        return gbsi_no_memory(err, "plan", n_fields * sizeof *plan->field64);
    }
    return GBS_OK;
}

/* Fills c->degree: for each slot that has a row, the number of its factors of two variables. */
static gbs_status find_degrees(gbsi_compile *c, gbs_error *err)
{
    const gbsi_plan *plan = c->plan;
    c->degree = gbsi_alloc_array((size_t)plan->n_slots + 1, sizeof *c->degree);
    GBSI_PASS(GBSI_HAVE(err, "plan", c->degree));
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        c->degree[s] = gbsi_is_row_class(gbsi_plan_class(plan, s))
                           ? c->profile[plan->variable_of[s]].n_pairs
                           : 0;
    }
    return GBS_OK;
}

gbs_status gbsi_number_slots(gbsi_compile *c, const uint32_t *sequence, size_t n, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    sorting s = {.n = plan->n_slots};
    s.key = gbsi_alloc_array(s.n, sizeof *s.key);
    GBSI_TRY(GBSI_HAVE(err, "plan", s.key));
    if (c->options.order == NULL) {
        GBSI_TRY(sort_by_locality(c, &s, err));
        GBSI_TRY(sort_by_type(c, &s, err));
        if (c->options.repeats) {
            GBSI_TRY(sort_by_level(c, sequence, n, &s, err));
        }
    }
    GBSI_TRY(take_order(&s, &plan->variable_of, err));
    if (c->options.order != NULL) {
        memcpy(plan->variable_of, c->options.order, s.n * sizeof *plan->variable_of);
    }
    GBSI_TRY(describe_slots(c, err));
    GBSI_TRY(take_fields(plan, err));
    GBSI_TRY(find_degrees(c, err));

cleanup:
    GBSI_FREE(s.order, s.spare, s.key, s.histogram);
    return status;
}
