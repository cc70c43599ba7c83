/* SPDX-License-Identifier: Apache-2.0 */
#include "io/columns.h"

#include <math.h>

#include "simd/math.h"

static void scale(double *value, uint32_t arity, double by, bool in_logs)
{
    for (uint32_t a = 0; a < arity; a++) {
        value[a] = in_logs ? value[a] - by : value[a] / by;
    }
}

/* ln of the sum of exponentials, the largest taken out first. */
static double log_sum(const double *value, uint32_t arity)
{
    double largest = -INFINITY;
    for (uint32_t a = 0; a < arity; a++) {
        largest = value[a] > largest ? value[a] : largest;
    }
    if (largest == -INFINITY) {
        return largest;
    }
    double sum = 0;
    for (uint32_t a = 0; a < arity; a++) {
        sum += gbsi_exp(value[a] - largest);
    }
    return largest + gbsi_log(sum);
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
        double off = (in_logs ? gbsi_exp(total) : total) - 1;
        off = off < 0 ? -off : off;
        if (columns->normalize && off != 0) {
            scale(column, arity, total, in_logs);
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
