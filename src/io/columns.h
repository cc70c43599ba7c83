/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of conditional probability tables: the child's states for one state of its parents. They
 * should sum to one, which files keep to a few digits only. */
#ifndef GBSI_IO_COLUMNS_H
#define GBSI_IO_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_columns {
    bool normalize;  /* scale columns to sum to one instead of counting */
    size_t n_off;    /* columns off by more than GBSI_COLUMN_TOLERANCE */
    double worst;    /* by how much the worst is off */
    size_t worst_id; /* its factor or child, as given */
} gbsi_columns;

#define GBSI_COLUMN_TOLERANCE 1e-6

typedef enum gbsi_column_status {
    GBSI_COLUMN_OK,
    GBSI_COLUMN_ZERO,     /* nothing but zeros: no distribution */
    GBSI_COLUMN_OVERFLOW, /* the sum is beyond the largest double */
} gbsi_column_status;

/* Checks a table whose columns are stored one after the other (child fastest).
 * @param value [n_columns * arity] probabilities, or their logarithms if in_logs.
 * @param bad   out: the column in question unless GBSI_COLUMN_OK. */
gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad);

#endif
