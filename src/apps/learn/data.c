/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/plural.h"
#include "store/builder.h"

void gbs_data_free(gbs_data *data)
{
    if (data != NULL) {
        GBSI_FREE(data->column, data->n_missing, data->state, data->count, data->weight,
                  data->first, data->slot, data);
    }
}

static gbs_status take_columns(gbs_data *d, const uint32_t *column, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint8_t *seen = gbsi_alloc_array_zero(d->model->n_variables, 1);
    d->column = gbsi_alloc_array(d->n_columns, sizeof *d->column);
    d->n_missing = gbsi_alloc_array_zero(d->n_columns, sizeof *d->n_missing);
    GBSI_TRY(GBSI_HAVE(err, "data", seen, d->column, d->n_missing));
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        if (column[k] >= d->model->n_variables || seen[column[k]] != 0) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "data: column %" PRIu32 " is variable %" PRIu32
                               ", expected distinct ids below %" PRIu32,
                               k, column[k], d->model->n_variables));
        }
        seen[column[k]] = 1;
        d->column[k] = column[k];
    }

cleanup:
    gbsi_free(seen);
    return status;
}

gbs_status gbs_data_new(const gbs_model *model, uint32_t n_columns, const uint32_t *column,
                        gbs_data **data, gbs_error *err)
{
    GBSI_NEED(model, data);
    if (n_columns > 0) {
        GBSI_NEED(column);
    }
    gbs_status status = GBS_OK;
    gbs_data *d = gbsi_alloc_zero(sizeof *d);
    GBSI_PASS(GBSI_HAVE(err, "data", d));
    d->model = model;
    d->n_columns = n_columns;
    GBSI_TRY(take_columns(d, column, err));
    *data = d;
    d = NULL;

cleanup:
    gbs_data_free(d);
    return status;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static size_t hash_of(const uint16_t *state, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; ++i) { /* a step of the finaliser of SplitMix64 */
        h = (h ^ state[i]) * UINT64_C(0xBF58476D1CE4E5B9);
        h ^= h >> 29;
    }
    return (size_t)h;
}

/* @return the slot of an equal row, or the free slot for the row. */
static size_t *find_slot(const gbs_data *d, const uint16_t *row)
{
    const size_t bytes = d->n_columns * sizeof *row;
    size_t k = hash_of(row, d->n_columns) & (d->n_slots - 1);
    while (d->slot[k] != SIZE_MAX &&
           (bytes > 0 && memcmp(d->state + d->slot[k] * d->n_columns, row, bytes) != 0)) {
        k = (k + 1) & (d->n_slots - 1);
    }
    return &d->slot[k];
}

static gbs_status grow_slots(gbs_data *d, gbs_error *err)
{
    const size_t n = d->n_slots == 0 ? 64 : 2 * d->n_slots;
    size_t *slot = gbsi_alloc_array(n, sizeof *slot);
    GBSI_PASS(GBSI_HAVE(err, "data", slot));
    memset(slot, 0xff, n * sizeof *slot);
    gbsi_free(d->slot);
    d->slot = slot;
    d->n_slots = n;
    for (size_t i = 0; i < d->n_distinct; ++i) {
        *find_slot(d, d->state + i * d->n_columns) = i;
    }
    return GBS_OK;
}

/* Makes room for one more distinct row, within the memory limit of the process. */
static gbs_status make_room(gbs_data *d, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    const size_t n = d->n_distinct + 1;
    const size_t n_states =
        n * d->n_columns + 1; /* distinct rows, then the row that is being read */
    if (n_states <= d->state_capacity && n <= d->count_capacity && n <= d->weight_capacity &&
        n <= d->first_capacity && 2 * n <= d->n_slots) {
        return GBS_OK;
    }
    gbsi_budget *before = gbsi_budget_enter_default(
        &budget,
        gbs_model_bytes(d->model) + d->state_capacity * sizeof *d->state +
            (d->count_capacity + d->weight_capacity + d->first_capacity) * sizeof *d->count +
            d->n_slots * sizeof *d->slot);
    GBSI_TRY(gbsi_reserve((void **)(void *)&d->state, &d->state_capacity, n_states,
                          sizeof *d->state, "data", err));
    GBSI_TRY(gbsi_reserve((void **)(void *)&d->count, &d->count_capacity, n, sizeof *d->count,
                          "data", err));
    GBSI_TRY(gbsi_reserve((void **)(void *)&d->weight, &d->weight_capacity, n, sizeof *d->weight,
                          "data", err));
    GBSI_TRY(gbsi_reserve((void **)(void *)&d->first, &d->first_capacity, n, sizeof *d->first,
                          "data", err));
    if (2 * n > d->n_slots) {
        GBSI_TRY(grow_slots(d, err));
    }

cleanup:
    gbsi_budget_leave(before);
    return status;
}

static gbs_status add_row(gbs_data *d, const uint32_t *state, double weight, gbs_error *err)
{
    GBSI_PASS(make_room(d, err));
    uint16_t *row = d->state + d->n_distinct * d->n_columns;
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        row[k] = state[k] == GBS_UNOBSERVED ? GBSI_MISSING : (uint16_t)state[k];
        d->n_missing[k] += state[k] == GBS_UNOBSERVED;
    }
    size_t *slot = find_slot(d, row);
    if (*slot == SIZE_MAX) {
        *slot = d->n_distinct++;
        d->count[*slot] = 0;
        d->weight[*slot] = 0.0;
        d->first[*slot] = d->n_rows;
    }
    ++d->count[*slot];
    d->weight[*slot] += weight;
    d->sum += weight;
    ++d->n_rows;
    return GBS_OK;
}

/* Checks weights, which are numbers of rows. Their sum must not exceed the largest count that a
 * double represents exactly. */
static gbs_status check_weights(size_t n, const double *weight, gbs_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        if (!(weight[i] >= 0.0 && weight[i] <= GBS_MAX_ROW_WEIGHT)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "data, row %zu: found the weight %g, expected 0 to %g", i, weight[i],
                             GBS_MAX_ROW_WEIGHT);
        }
    }
    return GBS_OK;
}

gbs_status gbs_data_add(gbs_data *data, size_t n, const uint32_t *state, const double *weight,
                        gbs_error *err)
{
    GBSI_NEED(data);
    const uint32_t n_columns = data->n_columns;
    if (n > 0 && n_columns > 0) {
        GBSI_NEED(state);
    }
    gbs_status status = weight == NULL ? GBS_OK : check_weights(n, weight, err);
    for (size_t i = 0; status >= 0 && i < n * n_columns; ++i) {
        const uint32_t v = data->column[i % n_columns];
        if (state[i] != GBS_UNOBSERVED && state[i] >= data->model->arity[v]) {
            char name[128];
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "data, row %zu: variable %s has %" PRIu32
                             " state%s, found state %" PRIu32,
                             i / n_columns, gbsi_variable_text(data->model, v, name, sizeof name),
                             data->model->arity[v], gbsi_plural(data->model->arity[v]), state[i]);
        }
    }
    for (size_t i = 0; i < n && status >= 0; ++i) {
        const double of_row = weight == NULL ? 1.0 : weight[i];
        if (of_row > 0.0) {
            status = add_row(data, n_columns == 0 ? NULL : state + i * n_columns, of_row, err);
        }
    }
    return status;
}

uint64_t gbs_data_n_rows(const gbs_data *data)
{
    return data == NULL ? 0 : data->n_rows;
}

uint64_t gbs_data_n_distinct(const gbs_data *data)
{
    return data == NULL ? 0 : data->n_distinct;
}

uint64_t gbs_data_n_missing(const gbs_data *data)
{
    uint64_t n = 0;
    for (uint32_t k = 0; data != NULL && k < data->n_columns; ++k) {
        n += data->n_missing[k];
    }
    return n;
}
