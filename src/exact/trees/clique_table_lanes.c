/* SPDX-License-Identifier: Apache-2.0 */
/* Plain C loops over contiguous doubles, which the compiler vectorises. The loops use only IEEE +,
 * -, *, / and comparisons, and never reorder a sum. Every instruction set therefore gives the same
 * bits.
 *
 * exp() is computed by the method of math.c, but with half a decimal digit less precision.
 * Arguments of exp() are at most 0. For arguments below -708 the result is 0, which is an error of
 * at most 1e-307 of the largest entry. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd/lanes.h"
#include "simd/math.h"
#include "simd/math_pair.h"
#include "trees/clique_table.h"

enum {
    SUMS = 16,     /* number of running sums of a long sum */
    PIECE = 1024,  /* number of entries processed at once, which stay in the L1 cache */
    MOST_ROWS = 64 /* number of rows processed at once; each row needs a logarithm or a quotient */
};

#define LEAST_EXPONENT (-708.0)

static void add_constant(double *t, size_t n, double c)
{
    for (size_t i = 0; i < n; i++) {
        t[i] += c;
    }
}

static void add_dense(double *restrict t, const double *restrict m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t[i] += m[i];
    }
}

static void multiply_constant(double *t, size_t n, double c)
{
    for (size_t i = 0; i < n; i++) {
        t[i] *= c;
    }
}

static void multiply_dense(double *restrict t, const double *restrict m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t[i] *= m[i];
    }
}

/* Calls f with a run length that is a compile-time constant for a few common lengths, and with the
 * variable `run` for all other lengths. */
#define BY_LENGTH(run, f, ...) \
    switch (run) {             \
    case 1:                    \
        f(__VA_ARGS__, 1);     \
        break;                 \
    case 2:                    \
        f(__VA_ARGS__, 2);     \
        break;                 \
    case 4:                    \
        f(__VA_ARGS__, 4);     \
        break;                 \
    case 8:                    \
        f(__VA_ARGS__, 8);     \
        break;                 \
    default:                   \
        f(__VA_ARGS__, run);   \
        break;                 \
    }

#define RUNS(name, op)                                                                            \
    static inline void name##_level_of(double *restrict t, const double *restrict m,              \
                                       const uint32_t *restrict map, size_t n_runs, size_t run)   \
    {                                                                                             \
        for (size_t r = 0; r < n_runs; r++) {                                                     \
            const double c = m[map[r]];                                                           \
            for (size_t j = 0; j < run; j++) {                                                    \
                t[r * run + j] op c;                                                              \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static void name##_level_runs(double *t, const double *m, const uint32_t *map, size_t n_runs, \
                                  size_t run)                                                     \
    {                                                                                             \
        BY_LENGTH(run, name##_level_of, t, m, map, n_runs)                                        \
    }                                                                                             \
    static inline void name##_dense_of(double *restrict t, const double *restrict m,              \
                                       const uint32_t *restrict map, size_t n_runs, size_t run)   \
    {                                                                                             \
        for (size_t r = 0; r < n_runs; r++) {                                                     \
            const double *from = m + map[r];                                                      \
            for (size_t j = 0; j < run; j++) {                                                    \
                t[r * run + j] op from[j];                                                        \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    static void name##_dense_runs(double *t, const double *m, const uint32_t *map, size_t n_runs, \
                                  size_t run)                                                     \
    {                                                                                             \
        BY_LENGTH(run, name##_dense_of, t, m, map, n_runs)                                        \
    }

RUNS(add, +=)
RUNS(multiply, *=)

static void scatter_runs(double *restrict out, const double *restrict t,
                         const uint32_t *restrict map, size_t n_runs, size_t run)
{
    for (size_t r = 0; r < n_runs; r++) {
        double *to = out + map[r];
        for (size_t j = 0; j < run; j++) {
            to[j] += t[r * run + j];
        }
    }
}

/* Adds the second half of s to the first half, again and again, until one sum is left. */
static inline double fold(double *s)
{
    for (int half = SUMS / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            s[i] += s[i + half];
        }
    }
    return s[0];
}

static double sum(const double *t, size_t n)
{
    double s[SUMS] = {0.0};
    double rest = 0.0;
    size_t i = 0;
    if (n >= SUMS) {
        for (; i + SUMS <= n; i += SUMS) {
            for (int k = 0; k < SUMS; k++) {
                s[k] += t[i + (size_t)k];
            }
        }
        rest = fold(s);
    }
    for (; i < n; i++) {
        rest += t[i];
    }
    return rest;
}

static void sum_runs(double *restrict out, const double *restrict t, const uint32_t *restrict map,
                     size_t n_runs, size_t run)
{
    for (size_t r = 0; r < n_runs; r++) {
        out[map[r]] += sum(t + r * run, run);
    }
}

static double largest(const double *t, size_t n)
{
    double s[SUMS];
    double m = -INFINITY;
    size_t i = 0;
    if (n >= SUMS) {
        for (int k = 0; k < SUMS; k++) {
            s[k] = t[k];
        }
        for (i = SUMS; i + SUMS <= n; i += SUMS) {
            for (int k = 0; k < SUMS; k++) {
                s[k] = t[i + (size_t)k] > s[k] ? t[i + (size_t)k] : s[k];
            }
        }
        for (int k = 0; k < SUMS; k++) {
            m = s[k] > m ? s[k] : m;
        }
    }
    for (; i < n; i++) {
        m = t[i] > m ? t[i] : m;
    }
    return m;
}

static double least_above(const double *t, size_t n, double floor)
{
    double s[SUMS];
    double m = INFINITY;
    size_t i = 0;
    for (int k = 0; k < SUMS; k++) {
        s[k] = INFINITY;
    }
    for (; i + SUMS <= n; i += SUMS) {
        for (int k = 0; k < SUMS; k++) {
            const double x = t[i + (size_t)k] > floor ? t[i + (size_t)k] : INFINITY;
            s[k] = x < s[k] ? x : s[k];
        }
    }
    for (int k = 0; k < SUMS; k++) {
        m = s[k] < m ? s[k] : m;
    }
    for (; i < n; i++) {
        m = t[i] > floor && t[i] < m ? t[i] : m;
    }
    return m;
}

/* exp(x) for x <= 0, up to a rounding error, with the reduction and the series of math.c. */
static inline double exp_one(double x)
{
    const double shift = 0x1.8p52;
    const double y = x > LEAST_EXPONENT ? x : LEAST_EXPONENT;
    const double shifted = y * 0x1.71547652b82fep+0 + shift;
    const double whole = shifted - shift;
    const double rest = y - whole * LN2_HI;
    const double r = rest - whole * LN2_LO;
    const double z = r * r;
    double even = 1.0 / 479001600;
    double odd = 1.0 / 6227020800;
    even = even * z + 1.0 / 3628800;
    odd = odd * z + 1.0 / 39916800;
    even = even * z + 1.0 / 40320;
    odd = odd * z + 1.0 / 362880;
    even = even * z + 1.0 / 720;
    odd = odd * z + 1.0 / 5040;
    even = even * z + 1.0 / 24;
    odd = odd * z + 1.0 / 120;
    even = even * z + 1.0 / 2;
    odd = odd * z + 1.0 / 6;
    const double e = 1.0 + (r + z * (even + r * odd));
    /* 2^n: the low bits of the shifted number are n in two's complement; n >= -1022 */
    const double power = of_bits((bits_of(shifted) + 1023) << 52);
    return x > LEAST_EXPONENT ? e * power : 0.0;
}

static void exp_many(double *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t[i] = exp_one(t[i]);
    }
}

static void exp_less(double *t, size_t n, double max)
{
    for (size_t i = 0; i < n; i += PIECE) {
        const size_t k = n - i < PIECE ? n - i : PIECE;
        add_constant(t + i, k, -max);
        exp_many(t + i, k);
    }
}

static void scale_rows(double *restrict t, size_t n_rows, size_t n_columns,
                       const double *restrict m)
{
    if (n_columns == 2) {
        for (size_t r = 0; r < n_rows; r++) {
            t[2 * r] *= m[r];
            t[2 * r + 1] *= m[r];
        }
        return;
    }
    for (size_t r = 0; r < n_rows; r++) {
        multiply_constant(t + r * n_columns, n_columns, m[r]);
    }
}

static void add_rows(const double *restrict t, size_t n_rows, size_t n_columns,
                     double *restrict message)
{
    if (n_columns == 2) {
        for (size_t r = 0; r < n_rows; r++) {
            message[r] = t[2 * r] + t[2 * r + 1];
        }
        return;
    }
    for (size_t r = 0; r < n_rows && n_columns >= SUMS; r++) {
        message[r] = sum(t + r * n_columns, n_columns);
    }
    for (size_t r = 0; r < n_rows && n_columns < SUMS;
         r++) { /* the loop of sum(), written out to save the call */
        double s = 0.0;
        for (size_t k = 0; k < n_columns; k++) {
            s += t[r * n_columns + k];
        }
        message[r] = s;
    }
}

static inline void sum_axis_of(double *restrict out, const double *restrict t, size_t n,
                               size_t arity, size_t stride)
{
    for (size_t o = 0; o < n; o++) {
        const double *from = t + o * arity * stride;
        for (size_t j = 0; j < stride; j++) {
            out[o * stride + j] = from[j] + from[stride + j];
        }
        for (size_t k = 2; k < arity; k++) {
            for (size_t j = 0; j < stride; j++) {
                out[o * stride + j] += from[k * stride + j];
            }
        }
    }
}

static void sum_axis(double *out, const double *t, size_t n, size_t arity, size_t stride)
{
    if (stride == 1) {
        add_rows(t, n, arity, out);
    } else if (arity == 1) {
        memcpy(out, t, n * stride * sizeof *out);
    } else if (arity == 2) {
        BY_LENGTH(stride, sum_axis_of, out, t, n, 2)
    } else {
        BY_LENGTH(stride, sum_axis_of, out, t, n, arity)
    }
}

static void weigh_rows(double *restrict t, size_t n_rows, size_t n_columns,
                       const double *restrict m)
{
    double factor[MOST_ROWS];
    for (size_t r = 0; r < n_rows; r += MOST_ROWS) {
        const size_t n = n_rows - r < MOST_ROWS ? n_rows - r : MOST_ROWS;
        add_rows(t + r * n_columns, n, n_columns, factor);
        for (size_t k = 0; k < n; k++) {
            factor[k] = factor[k] > 0.0 ? m[r + k] / factor[k] : 0.0;
        }
        scale_rows(t + r * n_columns, n, n_columns, factor);
    }
}

static void max_rows(const double *restrict t, size_t n_rows, size_t n_columns,
                     double *restrict message)
{
    if (n_columns == 2) {
        for (size_t r = 0; r < n_rows; r++) {
            message[r] = t[2 * r] > t[2 * r + 1] ? t[2 * r] : t[2 * r + 1];
        }
        return;
    }
    for (size_t r = 0; r < n_rows; r++) {
        message[r] = largest(t + r * n_columns, n_columns);
    }
}

/* Sums at most MOST_ROWS rows of PIECE entries together, or one row of any length. */
static void sum_some_rows(double *restrict t, size_t n_rows, size_t n_columns,
                          double *restrict message)
{
    double total[MOST_ROWS];
    double inverse[MOST_ROWS] = {0}; /* zeroed because some compilers do not see that n_rows > 0 */
    max_rows(t, n_rows, n_columns, message);
    for (size_t r = 0; r < n_rows; r++) {
        const double m = message[r] > -INFINITY ? message[r] : 0.0;
        add_constant(t + r * n_columns, n_columns, -m);
    }
    exp_many(t, n_rows * n_columns);
    for (size_t r = 0; r < n_rows; r++) {
        total[r] = sum(t + r * n_columns, n_columns);
        inverse[r] = total[r] > 0.0 ? 1.0 / total[r] : 0.0;
    }
    scale_rows(t, n_rows, n_columns, inverse);
    gbsi_log_many(total, n_rows);
    for (size_t r = 0; r < n_rows; r++) {
        message[r] = message[r] > -INFINITY ? message[r] + total[r] : -INFINITY;
    }
}

static void sum_rows(double *t, size_t n_rows, size_t n_columns, double *message)
{
    const size_t fit = PIECE / n_columns;
    const size_t step = fit == 0 ? 1 : fit < MOST_ROWS ? fit : MOST_ROWS;
    for (size_t r = 0; r < n_rows; r += step) {
        const size_t n = n_rows - r < step ? n_rows - r : step;
        sum_some_rows(t + r * n_columns, n, n_columns, message + r);
    }
}

extern const gbsi_table_loops GBSI_V(gbsi_table_loops);
const gbsi_table_loops GBSI_V(gbsi_table_loops) = {
    .add = {0.0, add_constant, add_dense, add_level_runs, add_dense_runs},
    .multiply = {1.0, multiply_constant, multiply_dense, multiply_level_runs, multiply_dense_runs},
    .sum_runs = sum_runs,
    .scatter_runs = scatter_runs,
    .sum_axis = sum_axis,
    .sum = sum,
    .max = largest,
    .least_above = least_above,
    .exp_less = exp_less,
    .sum_rows = sum_rows,
    .max_rows = max_rows,
    .add_rows = add_rows,
    .weigh_rows = weigh_rows,
};
