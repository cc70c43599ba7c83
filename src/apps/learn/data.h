/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of states, in which equal rows are kept once. */
#ifndef GBSI_LEARN_DATA_H
#define GBSI_LEARN_DATA_H

#include "gibbsite/fit.h"
#include "store/model.h"

#define GBSI_MISSING UINT16_MAX /* in place of a state: these are below GBS_MAX_ARITY */

struct gbs_data {
    const gbs_model *model;
    uint32_t n_columns;
    uint32_t *column;    /* [n_columns] variables */
    uint64_t *n_missing; /* [n_columns] rows without a value */
    uint64_t n_rows;     /* all */
    size_t n_distinct;   /* distinct rows in the order of their first occurrence: */
    uint16_t *state;     /* [n_distinct][n_columns] */
    uint64_t *count;     /* [n_distinct] rows that are equal ... */
    double *weight;      /* [n_distinct] ... and the sum of their weights */
    double sum;          /* sum of all weights: n_rows if no weights were given */
    uint64_t *first;     /* [n_distinct] the first of them, from 0 */
    size_t state_capacity, count_capacity, weight_capacity, first_capacity;
    size_t *slot; /* [n_slots] distinct rows by hash, SIZE_MAX: free; a power of two, half free */
    size_t n_slots;
};

#endif
