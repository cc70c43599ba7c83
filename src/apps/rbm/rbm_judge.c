/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-likelihood of rows under a restricted Boltzmann machine [M63]. Hidden units are summed
 * out: with x_j = b_j + sum over i of v_i W_ij the free energy is
 *     F(v) = -a.v - sum over j of ln(1 + exp(x_j)),    ln p(v_i | others) = -ln(1 + exp(F(v) -
 * F(v'))) where v' is v with unit i changed. */
#include <math.h>
#include <string.h>

#include "rbm/rbm.h"
#include "simd/math.h"

enum { MOST_UNITS = 10, ROWS_AT_ONCE = 16 };

static double log_pl(const gbsi_rbm *r, uint32_t member, size_t row)
{
    const uint8_t *v = gbsi_row(r->judged, row);
    uint32_t *list = r->list + member * r->n_list;
    double *x = r->p + member * r->wide;
    const size_t n_units = r->n < MOST_UNITS ? r->n : MOST_UNITS;
    const size_t n_on = gbsi_rbm_list(v, r->n, list);
    double sum = 0.0;
    memcpy(x, r->b, r->wide_m * sizeof *x);
    r->layers->sum_rows(r->w, r->wide_m, list, n_on, x);
    const double here = r->layers->softplus(x, x, 0.0, r->wide_m);
    for (size_t k = 0; k < n_units; ++k) {
        const size_t i = (row + k * (r->n / n_units)) % r->n;
        const double change = v[i] ? -1.0 : 1.0;
        const double there = r->layers->softplus(x, r->w + i * r->wide_m, change, r->wide_m);
        const double d = change * r->a[i] + there - here; /* F(v) - F(v') */
        sum -= (d > 0.0 ? d : 0.0) + gbsi_log1p(gbsi_exp(d > 0.0 ? -d : d));
    }
    return sum * (double)r->n / (double)n_units;
}

static void judge_rows(void *context, uint32_t member)
{
    gbsi_rbm *r = context;
    size_t first = 0;
    while ((first = atomic_fetch_add(&r->next, ROWS_AT_ONCE)) < r->judged->n) {
        for (size_t k = first; k < first + ROWS_AT_ONCE && k < r->judged->n; ++k) {
            r->log_pl[k] = log_pl(r, member, k);
        }
        if (gbsi_rbm_stops(r, member, ROWS_AT_ONCE * (r->n + 8 * MOST_UNITS) * r->wide_m / 8)) {
            return;
        }
    }
}

double gbsi_rbm_mean_pl(gbsi_rbm *rbm, const gbs_rows *rows)
{
    double sum = 0.0;
    rbm->judged = rows;
    rbm->next = 0;
    gbsi_pool_run(rbm->work->pool, judge_rows, rbm);
    if (gbsi_watch_stopped(&rbm->work->watch)) {
        return (double)NAN;
    }
    for (size_t k = 0; k < rows->n; ++k) {
        sum += rbm->log_pl[k];
    }
    return sum / (double)rows->n;
}
