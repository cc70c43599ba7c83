/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/local.h"

#include <assert.h>

#include "base/memory.h"

#define TABLE_ENTRIES ((size_t)1 << 12) /* limit on the table entries of one group */
#define ALL_ENTRIES   ((size_t)1 << 20) /* limit on table entries of all groups */

static uint32_t last_variable(const gbsi_factors *factors, size_t f)
{
    assert(factors->scope_start[f] < factors->scope_start[f + 1]);
    uint32_t last = 0;
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        last = factors->scope[i] > last ? factors->scope[i] : last;
    }
    return last;
}

/* Sorts the factors by their last variable, with a counting sort that keeps the order of factors of
 * the same variable. */
static void sort_factors(gbsi_local *local)
{
    const gbsi_factors *factors = &local->model->factors;
    const size_t n = local->model->n_variables;
    size_t *first = local->first; /* until the factors are sorted, the count for a variable is
                                     stored two places after the variable */
    for (size_t f = 0; f < factors->n_factors; f++) {
        first[(size_t)last_variable(factors, f) + 2]++;
    }
    for (size_t v = 2; v <= n; v++) {
        first[v] += first[v - 1];
    }
    for (size_t f = 0; f < factors->n_factors; f++) {
        local->factor[first[(size_t)last_variable(factors, f) + 1]++] = f;
    }
}

/* Returns a mask whose bit v is set if variable v is in the scope. */
static uint32_t scope_mask(const gbsi_factors *factors, size_t f)
{
    uint32_t mask = 0;
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        mask |= UINT32_C(1) << factors->scope[i];
    }
    return mask;
}

/* Returns the number of joint states of the variables of a mask. */
static size_t mask_states(const gbsi_conditioned *model, uint32_t mask)
{
    size_t n = 1;
    for (uint32_t v = 0; v < model->n_variables; v++) {
        n *= (mask >> v & 1) != 0 ? model->arity[v] : 1;
    }
    return n;
}

static void set_strides(const gbsi_conditioned *model, gbsi_local_group *group, uint32_t v,
                        uint32_t mask)
{
    size_t stride = model->arity[v];
    group->n_others = (uint32_t)__builtin_popcount(mask) - 1;
    uint32_t at = group->n_others;
    for (uint32_t u = v; u > 0; u--) {
        if ((mask >> (u - 1) & 1) != 0) {
            at--;
            group->other[at] = u - 1;
            group->stride[at] = stride;
            stride *= model->arity[u - 1];
        }
    }
}

static gbsi_sum sum_factors(const gbsi_local *local, const gbsi_local_group *group, gbsi_sum sum)
{
    const gbsi_conditioned *model = local->model;
    for (size_t i = group->first; i < group->first + group->n; i++) {
        const double value =
            gbsi_factor_value(&model->factors, model->arity, local->factor[i], local->x);
        if (value == -INFINITY) { /* this also holds if the sum of the other values is infinite */
            return (gbsi_sum){.high = -INFINITY, .low = 0.0};
        }
        sum = gbsi_sum_add(sum, (gbsi_sum){.high = value, .low = 0.0});
    }
    return sum;
}

static gbs_status make_table(gbsi_local *local, gbsi_local_group *group, uint32_t v,
                             size_t n_entries, gbs_error *err)
{
    group->table = gbsi_alloc_array(n_entries, sizeof *group->table);
    GBSI_PASS(GBSI_HAVE(err, "enumeration", group->table));
    const uint32_t *arity = local->model->arity;
    for (size_t e = 0; e < n_entries; e++) {
        local->x[v] = (uint32_t)(e % arity[v]);
        for (uint32_t i = 0; i < group->n_others; i++) {
            local->x[group->other[i]] = (uint32_t)(e / group->stride[i] % arity[group->other[i]]);
        }
        group->table[e] = sum_factors(local, group, (gbsi_sum){0});
    }
    return GBS_OK;
}

/* Groups the factors whose last variable is v. A group includes the next factor as long as the
 * joint table of the group stays small.
 * @param n_left table entries that may still be used. */
static gbs_status group_factors(gbsi_local *local, uint32_t v, size_t *n_left, gbs_error *err)
{
    const gbsi_conditioned *model = local->model;
    size_t n_groups = local->group_start[v];
    size_t i = local->first[v];
    while (i < local->first[v + 1]) {
        const size_t most = *n_left < TABLE_ENTRIES ? *n_left : TABLE_ENTRIES;
        gbsi_local_group *group = &local->group[n_groups++];
        uint32_t mask = UINT32_C(1) << v;
        *group = (gbsi_local_group){.first = i};
        for (; i < local->first[v + 1]; i++) {
            const uint32_t joint = mask | scope_mask(&model->factors, local->factor[i]);
            if (mask_states(model, joint) > most) {
                break;
            }
            mask = joint;
        }
        group->n = i - group->first;
        if (group->n ==
            0) { /* a factor too large for a table forms a group of its own, without a table */
            group->n = 1;
            i++;
            continue;
        }
        const size_t n_entries = mask_states(model, mask);
        set_strides(model, group, v, mask);
        GBSI_PASS(make_table(local, group, v, n_entries, err));
        *n_left -= n_entries;
    }
    local->group_start[v + 1] = n_groups;
    return GBS_OK;
}

gbs_status gbsi_local_new(const gbsi_conditioned *model, gbsi_local **local, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = model->n_variables;
    const size_t n_factors = model->factors.n_factors;
    assert(n <= GBSI_LOCAL_DEPTH);
    gbsi_local *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "enumeration", made));
    made->model = model;
    made->first = gbsi_alloc_array_zero(n + 2, sizeof *made->first);
    made->factor = gbsi_alloc_array(n_factors, sizeof *made->factor);
    made->group_start = gbsi_alloc_array_zero(n + 1, sizeof *made->group_start);
    made->group = gbsi_alloc_array_zero(n_factors, sizeof *made->group);
    made->x = gbsi_alloc_array_zero(n, sizeof *made->x);
    GBSI_TRY(GBSI_HAVE(err, "enumeration", made->first, made->factor, made->group_start,
                       made->group, made->x));
    sort_factors(made);
    size_t n_left = ALL_ENTRIES;
    for (uint32_t v = 0; v < n; v++) {
        GBSI_TRY(group_factors(made, v, &n_left, err));
    }
    *local = made;
    made = NULL;

cleanup:
    gbsi_local_free(made);
    return status;
}

void gbsi_local_free(gbsi_local *local)
{
    if (local == NULL) {
        return;
    }
    for (size_t g = 0; local->group != NULL && g < local->model->factors.n_factors; g++) {
        gbsi_free(local->group[g].table);
    }
    GBSI_FREE(local->first, local->factor, local->group_start, local->group, local->x, local);
}

void gbsi_local_begin(gbsi_local *local, uint32_t v)
{
    for (size_t g = local->group_start[v]; g < local->group_start[v + 1]; g++) {
        gbsi_local_group *group = &local->group[g];
        const gbsi_sum *row = group->table;
        for (uint32_t i = 0; row != NULL && i < group->n_others; i++) {
            row += local->x[group->other[i]] * group->stride[i];
        }
        group->row = row;
    }
}

gbsi_sum gbsi_local_extend(const gbsi_local *local, uint32_t v, gbsi_sum logw)
{
    const uint32_t a = local->x[v];
    for (size_t g = local->group_start[v]; g < local->group_start[v + 1]; g++) {
        const gbsi_local_group *group = &local->group[g];
        if (group->row == NULL) {
            logw = sum_factors(local, group, logw);
        } else if (group->row[a].high == -INFINITY) {
            return group->row[a];
        } else {
            logw = gbsi_sum_add(logw, group->row[a]);
        }
        if (logw.high == -INFINITY) {
            return logw;
        }
    }
    return logw;
}
