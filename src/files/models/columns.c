/* SPDX-License-Identifier: Apache-2.0 */
#include "models/tables.h"

#include <math.h>
#include <stdio.h>

#include "simd/math.h"
#include "store/model.h"

static double largest_of(const double *value, uint32_t arity)
{
    double largest = -INFINITY;
    for (uint32_t a = 0; a < arity; a++) {
        largest = value[a] > largest ? value[a] : largest;
    }
    return largest;
}

/* @return ln of the sum of exp(value - largest), which is between 0 and ln(arity). */
static double log_sum_below(const double *value, uint32_t arity, double largest)
{
    double sum = 0;
    for (uint32_t a = 0; a < arity; a++) {
        sum += gbsi_exp(value[a] - largest);
    }
    return gbsi_log(sum);
}

static double log_sum(const double *value, uint32_t arity)
{
    double largest = largest_of(value, arity);
    return largest == -INFINITY ? largest : largest + log_sum_below(value, arity, largest);
}

static void scale(double *value, uint32_t arity, double sum)
{
    for (uint32_t a = 0; a < arity; a++) {
        value[a] /= sum;
    }
}

/* Scales a column of logarithms in two steps. In one step, rounding would lose small terms beside a
 * large logarithm. */
static void scale_logs(double *value, uint32_t arity)
{
    double largest = largest_of(value, arity);
    double rest = log_sum_below(value, arity, largest);
    for (uint32_t a = 0; a < arity; a++) {
        value[a] = value[a] - largest - rest;
    }
}

static double plain_sum(const double *value, uint32_t arity)
{
    double sum = 0;
    for (uint32_t a = 0; a < arity; a++) {
        sum += value[a];
    }
    return sum;
}

gbsi_columns gbsi_columns_begin(const gbs_read_options *options)
{
    const bool forces = options->normalize_cpts != 0 || options->lenient != 0;
    return (gbsi_columns){.normalize = options->normalize_cpts != 0,
                          .lenient = options->lenient != 0,
                          .insists = forces && gbsi_table_order_typed(options)};
}

static double most_off(uint32_t arity)
{
    return GBSI_COLUMN_ROUNDING * arity + GBSI_COLUMN_TOLERANCE;
}

/* Whether all columns sum to 1 if the child runs slowest instead of fastest in the file, or fastest
 * instead of slowest. */
static bool fits_turned(const gbsi_columns *columns, size_t n_columns, uint32_t arity, bool in_logs)
{
    const bool contiguous = (columns->order & GBSI_CHILD_SLOWEST) != 0;
    if (columns->as_read == NULL || columns->insists) {
        return false;
    }
    for (size_t c = 0; c < n_columns; c++) {
        double sum = 0;
        for (uint32_t a = 0; a < arity; a++) {
            const double value = columns->as_read[contiguous ? c * arity + a : c + a * n_columns];
            sum += in_logs ? gbsi_exp(value) : value;
        }
        if (!(fabs(sum - 1.0) <= most_off(arity))) {
            return false;
        }
    }
    return true;
}

bool gbsi_columns_rounded(gbsi_columns *columns, double *value)
{
    if (!(*value < 0 && *value >= -GBSI_COLUMN_TOLERANCE)) {
        return false;
    }
    *value = 0;
    columns->n_negative++;
    return true;
}

/* Handles a column with NaN entries. A column of NaN only becomes uniform if columns->lenient is
 * set. */
static gbsi_column_status fill_missing(gbsi_columns *columns, size_t id, double *column,
                                       uint32_t arity)
{
    for (uint32_t a = 0; a < arity; a++) {
        if (!isnan(column[a])) {
            return GBSI_COLUMN_HOLED;
        }
    }
    if (!columns->lenient) {
        return GBSI_COLUMN_MISSING;
    }
    for (uint32_t a = 0; a < arity; a++) {
        column[a] = 1.0 / arity;
    }
    if (columns->n_missing++ == 0) {
        columns->missing_id = id;
    }
    return GBSI_COLUMN_OK;
}

const char *gbsi_columns_advice(const gbsi_columns *columns, gbsi_column_status status,
                                char text[GBSI_ADVICE])
{
    if (status != GBSI_COLUMN_TURNED) {
        return "--normalize-cpts scales such columns, --lenient takes them as they are";
    }
    const unsigned other = columns->order ^ GBSI_CHILD_SLOWEST;
    const int n = snprintf(text, GBSI_ADVICE,
                           "all columns sum to one if the states of the child vary %s: "
                           "--table-order %s reads tables so",
                           (other & GBSI_CHILD_SLOWEST) != 0 ? "slowest" : "fastest",
                           gbsi_table_order_name(other));
    if (columns->has_parents) {
        (void)snprintf(text + n, GBSI_ADVICE - (size_t)n, ", or %s if the %s parent varies fastest",
                       gbsi_table_order_name(other ^ GBSI_PARENTS_REVERSED),
                       (other & GBSI_PARENTS_REVERSED) != 0 ? "last" : "first");
    }
    return text;
}

gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad)
{
    bool turned = false;
    for (size_t c = 0; c < n_columns; c++) {
        double *column = value + c * arity;
        double total = in_logs ? log_sum(column, arity) : plain_sum(column, arity);
        const bool zero = total == (in_logs ? -INFINITY : 0);
        *bad = c;
        if (isnan(total)) {
            const gbsi_column_status filled = fill_missing(columns, id, column, arity);
            if (filled != GBSI_COLUMN_OK) {
                return filled;
            }
            continue;
        }
        if (total == INFINITY) {
            return GBSI_COLUMN_OVERFLOW;
        }
        columns->sum = in_logs ? gbsi_exp(total) : total;
        const double off = fabs(columns->sum - 1.0);
        if (!turned && (zero || off > most_off(arity))) {
            turned = true; /* fits_turned() tests all columns, so one call is enough */
            if (fits_turned(columns, n_columns, arity, in_logs)) {
                return GBSI_COLUMN_TURNED;
            }
        }
        if (zero) {
            return GBSI_COLUMN_ZERO;
        }
        if (columns->normalize && off != 0) {
            if (in_logs) {
                scale_logs(column, arity);
            } else {
                scale(column, arity, total);
            }
        } else if (off > most_off(arity) && !columns->lenient && !columns->normalize) {
            return GBSI_COLUMN_OFF;
        } else if (off > GBSI_COLUMN_TOLERANCE) {
            columns->n_off++;
            if (off > columns->worst) {
                columns->worst = off;
                columns->worst_id = id;
            }
        }
    }
    return GBSI_COLUMN_OK;
}
