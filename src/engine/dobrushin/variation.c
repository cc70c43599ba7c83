/* SPDX-License-Identifier: Apache-2.0 */
/* The forward pass of Mitliagkas & Mackey (2017), theorem 8, with q_t = e_{i_t} or q_t uniform.
 * After an update of i, two coupled chains differ at i with probability at most sum_j C_ij b_j. */
#include "dobrushin/variation.h"

#include <math.h>
#include <string.h>

/* Returns sum + x, and adds the rounding error of the addition to *lost. */
static double plus(double sum, double x, double *lost)
{
    const double more = sum + x;
    *lost += fabs(sum) >= fabs(x) ? (sum - more) + x : (x - more) + sum;
    return more;
}

double gbsi_weigh(const double *d, const double *b, uint32_t n)
{
    double sum = 0.0;
    double lost = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        sum = plus(sum, d == NULL ? b[i] : d[i] * b[i], &lost);
    }
    return sum + lost;
}

void gbsi_variation_begin(const gbsi_influences *c, double *b)
{
    for (uint32_t i = 0; i < c->n; ++i) {
        b[i] = 1.0;
    }
}

static double next_value(const gbsi_influences *c, uint32_t i, const double *b)
{
    const double sum = gbsi_influences_times(c, i, b);
    return sum < GBSI_VARIATION_CEILING ? sum : GBSI_VARIATION_CEILING;
}

/* Applies the update of a variable drawn uniformly, b_t = (I - diag(q_t) (I - C)) b_{t-1} with
 * every q_t(i) = 1/n. @param b [2 n]. @return false if the watch stopped. */
static bool follow_uniform(const gbsi_influences *c, double *b, gbsi_watch *watch)
{
    double *next = b + c->n;
    for (uint32_t i = 0; i < c->n; ++i) {
        const double value = b[i] + (gbsi_influences_times(c, i, b) - b[i]) / c->n;
        next[i] = value < GBSI_VARIATION_CEILING ? value : GBSI_VARIATION_CEILING;
        if (gbsi_watch_spend(watch, gbsi_influences_work(c, i))) {
            return false;
        }
    }
    memcpy(b, next, c->n * sizeof *b);
    return true;
}

bool gbsi_variation_follow(const gbsi_influences *c, const uint32_t *sequence, size_t n, double *b,
                           gbsi_watch *watch)
{
    for (size_t t = 0; t < n; ++t) {
        const uint32_t i = sequence[t];
        if (i == GBSI_NONE) {
            if (!follow_uniform(c, b, watch)) {
                return false;
            }
            continue;
        }
        b[i] = next_value(c, i, b);
        if (gbsi_watch_spend(watch, gbsi_influences_work(c, i))) {
            return false;
        }
    }
    return true;
}
