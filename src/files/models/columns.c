/* SPDX-License-Identifier: Apache-2.0 */
#include "models/tables.h"

#include <math.h>

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

/* ln of the sum of exp(value - largest): 0 to ln(arity). */
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

/* In two steps: beside a large logarithm the rest would be lost to rounding. */
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

gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad)
{
    for (size_t c = 0; c < n_columns; c++) {
        double *column = value + c * arity;
        double total = in_logs ? log_sum(column, arity) : plain_sum(column, arity);
        *bad = c;
        if (total == (in_logs ? -INFINITY : 0)) {
            return GBSI_COLUMN_ZERO;
        }
        if (total == INFINITY) {
            return GBSI_COLUMN_OVERFLOW;
        }
        const double sum = in_logs ? gbsi_exp(total) : total;
        const double off = sum < 1 ? 1 - sum : sum - 1;
        if (columns->normalize && off != 0) {
            if (in_logs) {
                scale_logs(column, arity);
            } else {
                scale(column, arity, total);
            }
        } else if (off > GBSI_COLUMN_ROUNDING * arity + GBSI_COLUMN_TOLERANCE &&
                   !columns->lenient && !columns->normalize) {
            columns->sum = sum;
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
