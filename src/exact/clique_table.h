/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops over tables, compiled once per instruction set: all give the same bits. */
#ifndef GBSI_EXACT_CLIQUE_TABLE_H
#define GBSI_EXACT_CLIQUE_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_table_loops {
    /* t[i] += c; t[i] += m[i]; t[i] += m[map[i]] */
    void (*add_constant)(double *t, size_t n, double c);
    void (*add_dense)(double *t, const double *m, size_t n);
    void (*add_mapped)(double *t, const double *m, const uint32_t *map, size_t n);
    /* out[map[i]] += t[i], i ascending */
    void (*scatter)(double *out, const double *t, const uint32_t *map, size_t n);
    /* The sum of t by sixteen running sums, added at the end; the order depends on n only. */
    double (*sum)(const double *t, size_t n);
    double (*max)(const double *t, size_t n);
    /* t[i] = exp(t[i] - max), max above minus infinity; @return their sum(). */
    double (*exp_sum)(double *t, size_t n, double max);
    /* t[i] *= c */
    void (*scale)(double *t, size_t n, double c);
    /* For each row of n_columns log-weights: message = ln of the sum of their exponentials; the row
     * becomes exp(t - message), or zeros if the message is minus infinity. */
    void (*sum_rows)(double *t, size_t n_rows, size_t n_columns, double *message);
    /* message = the largest entry of the row. */
    void (*max_rows)(const double *t, size_t n_rows, size_t n_columns, double *message);
    /* Multiplies row r by m[r]. */
    void (*scale_rows)(double *t, size_t n_rows, size_t n_columns, const double *m);
} gbsi_table_loops;

/* The loops for the instruction set in use. */
const gbsi_table_loops *gbsi_table_loops_now(void);

#endif
