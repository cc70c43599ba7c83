/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the names, labels and numbers of a result, and makes the result. Variables have names.
 * States have labels in marginals, and in assignments that are CSV. Only a model can turn these
 * labels into numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/result_table.h"
#include "base/memory.h"
#include "decimal/decimal.h"

bool gbsi_table_is(const gbsi_table *r, const char *name)
{
    return r->n == strlen(name) && memcmp(r->field, name, r->n) == 0;
}

/* ---- what the CSV and JSON readers add ------------------------------------------------------- */

static gbs_status add_text(gbsi_table *r, void **pool, size_t *capacity, size_t *n, gbs_error *err)
{
    gbs_status status = gbsi_reserve(pool, capacity, *n + r->n + 1, 1, r->text->name, err);
    if (status == GBS_OK) {
        memcpy((char *)*pool + *n, r->field, r->n);
        ((char *)*pool)[*n + r->n] = 0;
        *n += r->n + 1;
    }
    return status;
}

/* Adds the field as the name of the next variable. */
gbs_status gbsi_table_add_variable(gbsi_table *r, gbs_error *err)
{
    if (r->n_variables == GBS_MAX_VARIABLES) {
        return gbsi_text_unexpected(r->text, r->shown, "no more variables", err);
    }
    r->last_name = r->n_name_bytes;
    GBSI_PASS(add_text(r, &r->name, &r->name_capacity, &r->n_name_bytes, err));
    GBSI_PASS(gbsi_reserve(&r->offset, &r->offset_capacity, (size_t)r->n_variables + 2,
                           sizeof(size_t), r->text->name, err));
    ((size_t *)r->offset)[r->n_variables++] = r->n_p;
    return GBS_OK;
}

bool gbsi_table_is_last_variable(const gbsi_table *r)
{
    return r->n_variables > 0 && strlen((const char *)r->name + r->last_name) == r->n &&
           memcmp((const char *)r->name + r->last_name, r->field, r->n) == 0;
}

/* Reads the field as a number. A decimal comma is allowed if commas do not separate columns. */
static bool field_number(gbsi_table *r, double *number)
{
    char *comma = r->separator == ';' || r->separator == '\t' ? memchr(r->field, ',', r->n) : NULL;
    if (comma != NULL) {
        *comma = '.';
    }
    return gbsi_decimal_read(r->field, r->n, number) != GBSI_DECIMAL_BAD;
}

gbs_status gbsi_table_add_probability(gbsi_table *r, gbs_error *err)
{
    double p = 0.0;
    if (!field_number(r, &p) || !(p >= 0.0 && p <= 1.0)) {
        return gbsi_text_unexpected(r->text, r->shown, "a probability", err);
    }
    GBSI_PASS(gbsi_reserve(&r->p, &r->p_capacity, r->n_p + 1, sizeof p, r->text->name, err));
    ((double *)r->p)[r->n_p++] = p;
    return GBS_OK;
}

/* Adds the field as the label of a state. */
gbs_status gbsi_table_add_label(gbsi_table *r, gbs_error *err)
{
    r->n_labels++;
    return add_text(r, &r->label, &r->label_capacity, &r->n_label_bytes, err);
}

/* Adds a standard error. An empty field in CSV, or null in JSON, means that the error is not
 * known. */
gbs_status gbsi_table_add_error(gbsi_table *r, gbs_error *err)
{
    double error = NAN;
    if (r->n > 0 && !gbsi_table_is(r, "null") && (!field_number(r, &error) || !(error >= 0.0))) {
        return gbsi_text_unexpected(r->text, r->shown, "a standard error", err);
    }
    GBSI_PASS(gbsi_reserve(&r->error, &r->error_capacity, r->n_errors + 1, sizeof error,
                           r->text->name, err));
    ((double *)r->error)[r->n_errors++] = error;
    return GBS_OK;
}

/* ---- texts other than the last field --------------------------------------------------------- */

gbs_status gbsi_table_add_text(gbsi_table *r, gbsi_table_add *add, const char *text, size_t n,
                               gbs_error *err)
{
    char *field = r->field;
    r->field = (char *)(uintptr_t)text; /* add() only reads the field */
    r->n = n;
    const gbs_status status = add(r, err);
    r->field = field;
    return status;
}

gbs_status gbsi_table_add_number(gbsi_table *r, gbsi_table_add *add, uint64_t number,
                                 gbs_error *err)
{
    char text[24];
    const int n = snprintf(text, sizeof text, "%" PRIu64, number);
    return gbsi_table_add_text(r, add, text, (size_t)n, err);
}

gbs_status gbsi_table_number_rest(gbsi_table *r, gbs_error *err)
{
    const gbsi_result_arrays *a = r->arrays;
    const bool named = r->n_variables > 0;
    const bool labelled = r->n_labels > 0;
    for (uint32_t i = 0; i < a->n; i++) {
        GBSI_PASS(named ? GBS_OK
                        : gbsi_table_add_number(r, gbsi_table_add_variable, a->id[i], err));
        for (size_t k = 0; !labelled && k < a->offset[i + 1] - a->offset[i]; k++) {
            GBSI_PASS(gbsi_table_add_number(r, gbsi_table_add_label, k, err));
        }
    }
    return GBS_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Sets the number of each state. A label that is a whole number is taken as this number; for other
 * labels the number is GBSI_NO_NUMBER. */
static gbs_status number_states(const gbsi_table *r, gbs_result *result, gbs_error *err)
{
    result->n = r->n_variables;
    result->state = gbsi_alloc_array(result->n, sizeof *result->state);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, result->state));
    for (uint32_t i = 0; i < result->n; ++i) {
        uint64_t state = 0;
        bool too_large = false;
        const char *label = result->label[i];
        result->state[i] =
            gbsi_integer_read(label, strlen(label), GBS_MAX_ARITY - 1, &state, &too_large)
                ? (uint32_t)state
                : GBSI_NO_NUMBER;
    }
    return GBS_OK;
}

/* Whether the standard error of any entry is known. A column that has only empty fields contains no
 * known error. */
static bool knows_errors(const gbsi_table *r)
{
    bool known = false;
    for (size_t i = 0; i < r->n_errors && !known; i++) {
        known = !isnan(((const double *)r->error)[i]);
    }
    return known;
}

gbs_status gbsi_table_take(gbsi_table *r, bool is_map, gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (r->n_name_bytes > 0) {
        GBSI_TRY(gbsi_result_texts(r->name, r->n_name_bytes, r->n_variables, &result->name, err));
    }
    GBSI_TRY(gbsi_result_texts(r->label, r->n_label_bytes, r->n_labels, &result->label, err));
    if (is_map) {
        result->task = GBS_TASK_MAP;
        status = number_states(r, result, err);
        if (r->n_name_bytes == 0) { /* states in JSON are numbers, not labels */
            gbsi_free(result->label);
            result->label = NULL;
        }
        return status;
    }
    result->task = GBS_TASK_MAR;
    GBSI_TRY(gbsi_reserve(&r->offset, &r->offset_capacity, (size_t)r->n_variables + 1,
                          sizeof(size_t), r->text->name, err));
    ((size_t *)r->offset)[r->n_variables] = r->n_p;
    result->marginals =
        (gbs_marginals){.n_variables = r->n_variables, .offset = r->offset, .p = r->p};
    r->offset = NULL;
    r->p = NULL;
    if (r->n_errors == r->n_p && knows_errors(r)) { /* otherwise some variables have no errors */
        result->marginals.error = r->error;
        r->error = NULL;
    }

cleanup:
    return status;
}

void gbsi_table_free(gbsi_table *r)
{
    GBSI_FREE(r->field, r->name, r->label, r->offset, r->p, r->error);
    GBSI_FREE(r->names.pool, r->names.at, r->states.pool, r->states.at);
    GBSI_FREE(r->first, r->order, r->picked, r->joined);
}
