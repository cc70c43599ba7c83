/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-likelihood of a dense Potts model and its gradient [M62], with the same bits on any
 * number of threads. One thread computes the sums of a site over all rows, in their order. Only
 * this thread writes the part of each pair's gradient that the site contributes. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "potts/potts.h"

gbs_status gbsi_potts_init(const gbs_rows *rows, gbsi_work *work, gbsi_potts *potts, gbs_error *err)
{
    const size_t n_sites = rows->n_sites;
    const size_t q = rows->n_states;
    *potts = (gbsi_potts){.rows = rows,
                          .work = work,
                          .n_sites = rows->n_sites,
                          .n_states = rows->n_states,
                          .width = gbsi_potts_width(rows->n_states)};
    potts->n = n_sites * q + n_sites * (n_sites - 1) / 2 * q * q; /* the number is below 2^47 */
    potts->n_block = n_sites * q * potts->width;
    return potts->n <= INT_MAX - 16
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_LIMIT, "found %zu parameter%s, expected at most 2^31 - 17",
                           potts->n, gbsi_plural(potts->n));
}

gbs_status gbsi_potts_take_memory(gbsi_potts *potts, bool gradients, gbs_error *err)
{
    const size_t n_members = gbsi_pool_size(potts->work->pool);
    potts->log_p = gbsi_alloc_array_zero(potts->n_sites, sizeof *potts->log_p);
    potts->scratch = gbsi_alloc_array_zero(3 * n_members * potts->n_block, sizeof *potts->scratch);
    potts->other = gbsi_alloc_array_zero(gradients ? potts->n : 1, sizeof *potts->other);
    return GBSI_HAVE(err, "a gradient", potts->log_p, potts->scratch, potts->other);
}

void gbsi_potts_free(gbsi_potts *potts)
{
    GBSI_FREE(potts->log_p, potts->scratch, potts->other);
}

/* ---- between tables and blocks --------------------------------------------------------------- */

void gbsi_potts_gather(const gbsi_potts *potts, const double *x, uint32_t i, double *block)
{
    const size_t q = potts->n_states;
    memcpy(block + i * q * potts->width, x + i * q, q * sizeof *block);
    for (uint32_t j = 0; j < potts->n_sites; ++j) {
        double *to = block + j * q * potts->width;
        const double *table =
            i == j ? NULL : x + gbsi_potts_pair(potts, i < j ? i : j, i < j ? j : i);
        for (size_t b = 0; j < i && b < q; ++b) {
            memcpy(to + b * potts->width, table + b * q, q * sizeof *to);
        }
        for (size_t b = 0; j > i && b < q; ++b) {
            for (size_t a = 0; a < q; ++a) {
                to[b * potts->width + a] = table[a * q + b];
            }
        }
    }
}

void gbsi_potts_scatter(const gbsi_potts *potts, const double *block, uint32_t i)
{
    const size_t q = potts->n_states;
    memcpy(potts->gradient + i * q, block + i * q * potts->width, q * sizeof *block);
    for (uint32_t j = 0; j < potts->n_sites; ++j) {
        const double *from = block + j * q * potts->width;
        double *second = j < i ? potts->other + gbsi_potts_pair(potts, j, i) : NULL;
        double *first = j > i ? potts->gradient + gbsi_potts_pair(potts, i, j) : NULL;
        for (size_t b = 0; j < i && b < q; ++b) {
            memcpy(second + b * q, from + b * potts->width, q * sizeof *from);
        }
        for (size_t b = 0; j > i && b < q; ++b) {
            for (size_t a = 0; a < q; ++a) {
                first[a * q + b] = from[b * potts->width + a];
            }
        }
    }
}

/* ---- sums over rows -------------------------------------------------------------------------- */

static bool stops(const gbsi_potts *p, uint32_t member, uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(&p->work->watch, n_operations)
                       : gbsi_watch_stopped(&p->work->watch);
}

bool gbsi_potts_sum_rows(const gbsi_potts *p, uint32_t member, gbsi_potts_site *site)
{
    const size_t per_row =
        (size_t)p->n_sites * p->width / 4 + 64; /* approximate operations for one row */
    const size_t at_once = GBSI_WATCH_EVERY / per_row + GBSI_POTTS_ROWS;
    site->n_sites = p->n_sites;
    site->n_states = p->n_states;
    site->width = p->width;
    site->state = p->rows->state;
    site->weight = site->weight != NULL ? site->weight : p->rows->weight;
    if (site->slope != NULL) {
        memset(site->slope, 0, p->n_block * sizeof *site->slope);
    }
    for (size_t from = 0; from < p->rows->n; from += at_once) {
        const size_t end = p->rows->n - from < at_once ? p->rows->n : from + at_once;
        gbsi_potts_add_rows(site, from, end);
        if (stops(p, member, (end - from) * per_row)) {
            return false;
        }
    }
    return true;
}

static void sum_sites(void *context, uint32_t member)
{
    gbsi_potts *p = context;
    double *block = p->scratch + 3 * member * p->n_block;
    double *slope = p->gradient == NULL ? NULL : block + p->n_block;
    double *along = p->along == NULL ? NULL : block + 2 * p->n_block;
    uint32_t i = 0;
    while ((i = p->next++) < p->n_sites && !stops(p, member, p->n_block)) {
        gbsi_potts_site site = {
            .site = i, .block = block, .slope = slope, .along = along, .weight = p->weight};
        memset(block, 0, p->n_block * sizeof *block);
        gbsi_potts_gather(p, p->x, i, block);
        if (along != NULL) {
            memset(along, 0, p->n_block * sizeof *along);
            gbsi_potts_gather(p, p->along, i, along);
        }
        if (!gbsi_potts_sum_rows(p, member, &site)) {
            return;
        }
        p->log_p[i] = site.log_p;
        if (slope != NULL) {
            gbsi_potts_scatter(p, slope, i);
        }
    }
}

/* Adds up the two parts of each entry of the gradient, and adds the derivative of the penalty. */
static void join_parts(void *context, uint32_t member)
{
    gbsi_potts *p = context;
    const size_t n_fields = (size_t)p->n_sites * p->n_states;
    const double *penalised = p->along != NULL ? p->along : p->x;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(p->n, 8, member, gbsi_pool_size(p->work->pool), &first, &end);
    for (size_t k = first; k < end; ++k) {
        p->gradient[k] += (k < n_fields ? 0.0 : p->other[k]) + p->l2 * penalised[k];
    }
}

/* Computes the gradient at parameters x by sum_sites(), and adds the gradient of the penalty. */
static void find_slopes(gbsi_potts *p, const double *x, double l2, double *gradient)
{
    p->x = x;
    p->gradient = gradient;
    p->l2 = l2;
    p->next = 0;
    gbsi_pool_run(p->work->pool, sum_sites, p);
    if (!gbsi_watch_stopped(&p->work->watch)) {
        gbsi_pool_run(p->work->pool, join_parts, p);
    }
}

double gbsi_potts_log_pl(gbsi_potts *potts, const double *x)
{
    double sum = 0.0;
    potts->x = x;
    potts->gradient = NULL;
    potts->next = 0;
    gbsi_pool_run(potts->work->pool, sum_sites, potts);
    for (uint32_t i = 0; i < potts->n_sites; ++i) {
        sum += potts->log_p[i];
    }
    return sum;
}

double gbsi_potts_held_out_pl(gbsi_potts *potts, const double *x)
{
    const gbs_rows *rows = potts->rows;
    if (potts->held_out == NULL) {
        return (double)NAN;
    }
    potts->rows = potts->held_out;
    const double log_pl = gbsi_potts_log_pl(potts, x);
    potts->rows = rows;
    return log_pl;
}

void gbsi_potts_tell(gbsi_potts *potts, const gbs_potts_options *options, uint64_t iteration,
                     const double *x, double objective, double gradient)
{
    gbs_learn_point point = {
        .size = sizeof point, .iteration = iteration, .objective = objective, .gradient = gradient};
    if (options->point == NULL || gbsi_watch_stopped(&potts->work->watch)) {
        return;
    }
    point.held_out = gbsi_potts_held_out_pl(potts, x);
    if (!gbsi_watch_stopped(&potts->work->watch)) {
        options->point(options->point_context, &point);
    }
}

double gbsi_potts_objective(gbsi_potts *potts, const double *x, double l2, double *gradient)
{
    double square = 0.0;
    double log_pl = 0.0;
    find_slopes(potts, x, l2, gradient);
    if (gbsi_watch_stopped(&potts->work->watch)) {
        memset(gradient, 0, potts->n * sizeof *gradient);
        return INFINITY;
    }
    for (size_t k = 0; k < potts->n; ++k) {
        square += x[k] * x[k];
    }
    for (uint32_t i = 0; i < potts->n_sites; ++i) {
        log_pl += potts->log_p[i];
    }
    return 0.5 * l2 * square - log_pl;
}

void gbsi_potts_scores(gbsi_potts *potts, const double *x, const double *weight, double *sum)
{
    potts->weight = weight;
    find_slopes(potts, x, 0.0, sum);
    potts->weight = NULL;
}

void gbsi_potts_product(gbsi_potts *potts, const double *x, const double *along, double l2,
                        double *product)
{
    potts->along = along;
    find_slopes(potts, x, l2, product);
    potts->along = NULL;
}
