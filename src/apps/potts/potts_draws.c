/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of chains at fixed weights [M62]. Counts are whole numbers, and one thread computes the
 * table of a site or pair; the number of threads therefore changes no bit. */
#include "potts/potts_draws.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/split_rhat.h"
#include "simd/math.h"

/* Sums over the entries of the gradient of one site or of all sites. Sums of sites are added up in
 * the order of sites. */
typedef struct found {
    double rhat;    /* largest R-hat */
    double square;  /* sum of the squares of the gradient's entries */
    double chance;  /* expected value of `square` if the gradient is 0 */
    double of_rows; /* sum of the variances of the rows' frequencies */
} found;

typedef struct judging {
    const gbsi_potts_draws *draws;
    found *found;    /* [n_sites] sums over a site and its pairs with later sites */
    uint64_t *count; /* [members][3][q^2] for each thread: counts in half of a chain, sums of such
                        counts over all halves, and sums of the squares of such counts */
    _Atomic size_t next;
} judging;

/* Adds an entry of the gradient, P_rows - P_chains - shrink x, to the sums f, and takes its R-hat
 * into account. @param sum, square sums over the halves of all chains: of the counts in the n draws
 * of a half, and of the squares of these counts. */
static void add_entry(const gbsi_potts_draws *d, size_t at, uint64_t sum, uint64_t square, found *f)
{
    const size_t n_of_half = d->n_draws / 2;
    const double n = (double)n_of_half;
    const double n_halves = 2.0 * (double)d->n_chains;
    double between = 0.0;
    const double rhat = gbsi_split_rhat(sum, square, n, n_halves, &between);
    const double slope = d->data[at] - (double)sum / (n * n_halves) - d->shrink * d->x[at];
    f->rhat = rhat > f->rhat ? rhat : f->rhat;
    f->square += slope * slope;
    f->chance += between / n_halves;
    f->of_rows += d->data[at] * (1.0 - d->data[at]) / d->weight;
}

/* Adds the table of site i or, if j > i, of the pair (i, j). @param count [3][q^2] scratch; zeros
 * before and after the call. */
static void add_table(const gbsi_potts_draws *d, size_t i, size_t j, uint64_t *count, found *f)
{
    const gbsi_potts *p = d->potts;
    const size_t q = p->n_states;
    const size_t size = j == i ? q : q * q;
    const size_t first = j == i ? i * q : gbsi_potts_pair(p, i, j);
    uint64_t *sum = count + q * q;
    uint64_t *square = sum + q * q;
    for (size_t c = 0; c < 2 * d->n_chains; ++c) {
        const size_t from = c % 2 * (d->n_draws / 2);
        const uint8_t *x = d->state + (from * d->n_chains + c / 2) * p->n_sites;
        const size_t stride = d->n_chains * p->n_sites;
        for (size_t t = 0; t < d->n_draws / 2; ++t) {
            ++count[j == i ? x[t * stride + i] : x[t * stride + i] * q + x[t * stride + j]];
        }
        for (size_t t = 0; t < d->n_draws / 2; ++t) {
            uint64_t *own =
                &count[j == i ? x[t * stride + i] : x[t * stride + i] * q + x[t * stride + j]];
            sum[own - count] += *own;
            square[own - count] += *own * *own;
            *own = 0;
        }
    }
    for (size_t a = 0; a < size; ++a) {
        add_entry(d, first + a, sum[a], square[a], f);
        sum[a] = square[a] = 0;
    }
}

static void add_sites(void *context, uint32_t member)
{
    judging *g = context;
    const gbsi_potts *p = g->draws->potts;
    uint64_t *count = g->count + 3 * member * (size_t)p->n_states * p->n_states;
    gbsi_watch *watch = &p->work->watch;
    const size_t per_table = 4 * g->draws->n_draws * g->draws->n_chains;
    size_t i = 0;
    while ((i = g->next++) < p->n_sites) {
        for (size_t j = i; j < p->n_sites; ++j) {
            if (member == 0 ? gbsi_watch_spend(watch, per_table) : gbsi_watch_stopped(watch)) {
                return;
            }
            add_table(g->draws, i, j, count, &g->found[i]);
        }
    }
}

gbs_status gbsi_potts_judge_draws(const gbsi_potts_draws *draws, double *rhat, double *misfit,
                                  gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_potts *p = draws->potts;
    const size_t table = 3 * (size_t)p->n_states * p->n_states;
    found all = {.rhat = 1.0};
    judging g = {.draws = draws};
    g.found = gbsi_alloc_array_zero(p->n_sites, sizeof *g.found);
    g.count = gbsi_alloc_array_zero(gbsi_pool_size(p->work->pool) * table, sizeof *g.count);
    GBSI_TRY(GBSI_HAVE(err, "moments", g.found, g.count));
    gbsi_pool_run(p->work->pool, add_sites, &g);
    for (size_t i = 0; i < p->n_sites; ++i) {
        const found *f = &g.found[i];
        all.rhat = f->rhat > all.rhat ? f->rhat : all.rhat;
        all.square += f->square;
        all.chance += f->chance;
        all.of_rows += f->of_rows;
    }
    const double left = all.square > all.chance ? all.square - all.chance : 0.0;
    *rhat = all.rhat;
    *misfit = all.of_rows > 0.0 ? gbsi_sqrt(left / all.of_rows) : left > 0.0 ? INFINITY : 0.0;

cleanup:
    GBSI_FREE(g.found, g.count);
    return status;
}
