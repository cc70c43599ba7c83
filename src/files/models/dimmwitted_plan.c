/* SPDX-License-Identifier: Apache-2.0 */
#include "models/dimmwitted.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "store/model.h"

/* Files of the text form that are open at once, each with its arguments. */
enum { MOST_GROUPS = 100 };

/* ---- values -------------------------------------------------------------------------------- */

/* A label as a domain value: digits without a leading zero. */
static bool value_of_label(const char *label, uint64_t *value)
{
    bool too_large = false;
    const size_t n = label == NULL ? 0 : strlen(label);
    return n > 0 && label[0] != '+' && (label[0] != '0' || n == 1) &&
           gbsi_integer_read(label, n, UINT64_MAX, value, &too_large);
}

uint64_t gbsi_dw_value(const gbsi_dw_plan *plan, uint32_t variable, uint32_t state)
{
    uint64_t value = state;
    if (plan->own_values[variable] != 0) {
        (void)value_of_label(gbs_model_state_label(plan->model, variable, state), &value);
    }
    return value;
}

/* States are in the order of their values in a file, so labels are values only if ascending. */
static void plan_values(gbsi_dw_plan *p)
{
    const gbs_model *m = p->model;
    for (uint32_t v = 0; m->label != NULL && v < m->n_variables; v++) {
        uint64_t last = 0;
        bool values = true;
        bool dense = true;
        for (uint32_t a = 0; a < m->arity[v] && values; a++) {
            uint64_t value = 0;
            values =
                value_of_label(gbs_model_state_label(m, v, a), &value) && (a == 0 || value > last);
            dense = dense && value == a;
            last = value;
        }
        p->own_values[v] = values && !dense;
        p->any_own_values |= values && !dense;
        p->n_labels_lost += !values && gbs_model_state_label(m, v, 0) != NULL;
    }
}

/* ---- groups -------------------------------------------------------------------------------- */

/* A factor as it is sought among the groups. */
typedef struct candidate {
    const gbsi_dw_plan *plan;
    gbsi_dw_rule rule;
    const gbsi_dw_rule *first; /* [n_groups] one of each */
} candidate;

uint64_t gbsi_dw_fixed_value(const gbsi_dw_plan *plan, const gbsi_dw_rule *rule, uint32_t i)
{
    if (rule->function == GBS_LOGICAL_AND_CATEGORICAL) {
        return 1; /* what is written there, and not read */
    }
    return gbsi_dw_value(plan, rule->scope[i], rule->literal == NULL ? 1 : rule->literal[i]);
}

static bool in_group(const void *context, size_t id)
{
    const candidate *c = context;
    const gbsi_dw_rule *other = &c->first[id];
    bool equal = other->function == c->rule.function && other->n == c->rule.n;
    for (uint32_t i = 0; equal && i < other->n; i++) {
        equal = gbsi_dw_fixed_value(c->plan, other, i) == gbsi_dw_fixed_value(c->plan, &c->rule, i);
    }
    return equal;
}

static uint64_t hash_of(const candidate *c)
{
    uint64_t hash = gbsi_dw_hash(c->rule.function, c->rule.n);
    for (uint32_t i = 0; i < c->rule.n; i++) {
        hash = gbsi_dw_hash(hash, gbsi_dw_fixed_value(c->plan, &c->rule, i));
    }
    return hash;
}

/* Sorts what is written by group: factor f is in group[f], SIZE_MAX for none. */
static gbs_status sort_by_group(gbsi_dw_plan *p, const size_t *group, gbs_error *err)
{
    const size_t n = p->model->factors.n_factors;
    p->group_start = gbsi_alloc_array_zero(p->n_groups + 2, sizeof *p->group_start);
    p->order = gbsi_alloc_array(n, sizeof *p->order);
    if (p->group_start == NULL || p->order == NULL) {
        return gbsi_no_memory(err, "writing a model", n * sizeof *p->order);
    }
    size_t *fill = p->group_start + 1; /* counted one place on, moved back by filling */
    for (size_t f = 0; f < n; f++) {
        if (group[f] != SIZE_MAX) {
            fill[group[f] + 1]++;
        }
    }
    for (size_t g = 0; g < p->n_groups; g++) {
        fill[g + 1] += fill[g];
    }
    for (size_t f = 0; f < n; f++) {
        if (group[f] != SIZE_MAX) {
            p->order[fill[group[f]]++] = f;
        }
    }
    return GBS_OK;
}

static gbs_status find_group(const gbsi_dw_plan *p, gbsi_dw_index *index, gbsi_dw_rule *first,
                             const gbsi_dw_rule *rule, size_t *group, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool added = false;
    const candidate c = {.plan = p, .rule = *rule, .first = first};
    GBSI_TRY(gbsi_dw_index_find(index, hash_of(&c), in_group, &c, group, &added, err));
    if (added && *group == MOST_GROUPS) {
        status = gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "factors of more than %d kinds (function, arity and literals), each of "
                           "which needs a file in text form; write the format dimmwitted",
                           (int)MOST_GROUPS);
    } else if (added) {
        first[*group] = *rule;
    }

cleanup:
    return status;
}

static gbs_status plan_factors(gbsi_dw_plan *p, bool grouped, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = p->model->factors.n_factors;
    gbsi_dw_index index = {0};
    gbsi_dw_rule first[MOST_GROUPS];
    size_t *group = gbsi_alloc_array(n, sizeof *group);
    if (group == NULL) {
        return gbsi_no_memory(err, "writing a model", n * sizeof *group);
    }
    for (size_t f = 0; f < n; f++) {
        gbsi_dw_rule rule;
        GBSI_TRY(gbsi_dw_rule_of(p->model, p->clamped, f, &rule, err));
        group[f] = rule.how == GBSI_DW_NOT ? SIZE_MAX : 0;
        p->n_shifted += rule.shifted;
        p->n_rewritten += rule.rewritten && rule.how != GBSI_DW_NOT;
        if (grouped && rule.how != GBSI_DW_NOT) {
            GBSI_TRY(find_group(p, &index, first, &rule, &group[f], err));
        }
    }
    p->n_groups = grouped ? index.n : 1;
    GBSI_TRY(sort_by_group(p, group, err));

cleanup:
    gbsi_dw_index_free(&index);
    gbsi_free(group);
    return status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

gbs_status gbsi_dw_plan_init(gbsi_dw_plan *plan, const gbs_model *model, bool grouped,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = model->n_variables;
    *plan = (gbsi_dw_plan){.model = model};
    plan->clamped = gbsi_alloc_array(n, sizeof *plan->clamped);
    plan->own_values = gbsi_alloc_array_zero(n, sizeof *plan->own_values);
    if (plan->clamped == NULL || plan->own_values == NULL) {
        return gbsi_no_memory(err, "writing a model", n * sizeof *plan->clamped);
    }
    gbs_model_clamped(model, plan->clamped);
    plan_values(plan);
    GBSI_TRY(plan_factors(plan, grouped, err));

cleanup:
    return status;
}

void gbsi_dw_plan_free(gbsi_dw_plan *plan)
{
    gbsi_free(plan->clamped);
    gbsi_free(plan->own_values);
    gbsi_free(plan->group_start);
    gbsi_free(plan->order);
    *plan = (gbsi_dw_plan){0};
}
