/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops over tables of cliques. The loops are compiled once per instruction set, and all
 * versions give the same bits. */
#ifndef GBSI_TREES_CLIQUE_TABLE_H
#define GBSI_TREES_CLIQUE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Functions that combine a table t with an operand m. There is a set of these functions that adds
 * logarithms and a set that multiplies weights. */
typedef struct gbsi_take_in {
    double nothing; /* initial value of all entries: 0 for logarithms, 1 for weights */
    /* constant: t[i] += c; dense: t[i] += m[i]. The set that multiplies weights has *= in place of
     * += */
    void (*constant)(double *t, size_t n, double c);
    void (*dense)(double *t, const double *m, size_t n);
    /* level_runs: t[r run + j] += m[map[r]]; dense_runs: t[r run + j] += m[map[r] + j], for all j <
     * run and r < n_runs; or *= in place of += */
    void (*level_runs)(double *t, const double *m, const uint32_t *map, size_t n_runs, size_t run);
    void (*dense_runs)(double *t, const double *m, const uint32_t *map, size_t n_runs, size_t run);
} gbsi_take_in;

typedef struct gbsi_table_loops {
    gbsi_take_in add, multiply;
    /* sum_runs: out[map[r]] += sum of run r of t; scatter_runs: out[map[r] + j] += t[r run + j].
     * The loops go through r in ascending order */
    void (*sum_runs)(double *out, const double *t, const uint32_t *map, size_t n_runs, size_t run);
    void (*scatter_runs)(double *out, const double *t, const uint32_t *map, size_t n_runs,
                         size_t run);
    /* out[o][j] = sum over k of t[o][k][j], t = [n][arity][stride] */
    void (*sum_axis)(double *out, const double *t, size_t n, size_t arity, size_t stride);
    /* Returns the sum of t. Sixteen running sums are added up at the end, in an order that depends
     * on n only. */
    double (*sum)(const double *t, size_t n);
    double (*max)(const double *t, size_t n);
    /* Returns the smallest entry above `floor`, or infinity if no entry is above `floor`. */
    double (*least_above)(const double *t, size_t n, double floor);
    /* t[i] = exp(t[i] - max), where max is finite and no t[i] is larger than max. */
    void (*exp_less)(double *t, size_t n, double max);
    /* For each row of n_columns log-weights, message[r] becomes ln of the sum of the exponentials
     * of the row. The row then becomes exp(t - message[r]), or zeros if message[r] is minus
     * infinity. */
    void (*sum_rows)(double *t, size_t n_rows, size_t n_columns, double *message);
    /* message[r] = the largest entry of row r (max_rows), or the sum of its entries (add_rows). */
    void (*max_rows)(const double *t, size_t n_rows, size_t n_columns, double *message);
    void (*add_rows)(const double *t, size_t n_rows, size_t n_columns, double *message);
    /* Multiplies row r by m[r] / (sum of row r); a row of zeros is not changed. */
    void (*weigh_rows)(double *t, size_t n_rows, size_t n_columns, const double *m);
} gbsi_table_loops;

/* Returns the loops for the instruction set in use. */
const gbsi_table_loops *gbsi_table_loops_now(void);

#endif
