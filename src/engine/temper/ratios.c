/* SPDX-License-Identifier: Apache-2.0 */
#include "temper/ratios.h"

#include <math.h>

#include "base/memory.h"
#include "simd/math.h"

/* Each pair of levels (t, t + 1) has two cells, with the indices hot_cell(t) and cold_cell(t). The
 * last cell of a ladder has the index valid_cell(n_levels). */
static size_t hot_cell(uint32_t t)
{
    return 2 * (size_t)t;
}

static size_t cold_cell(uint32_t t)
{
    return 2 * (size_t)t + 1;
}

static size_t valid_cell(uint32_t n_levels)
{
    return 2 * (size_t)(n_levels - 1);
}

size_t gbsi_ratios_cells(const gbsi_exchange *exchange)
{
    return valid_cell(exchange->n_levels) + 1;
}

uint64_t gbsi_ratios_bytes(uint32_t n_levels, uint32_t n_ladders)
{
    const uint64_t n_lanes = (uint64_t)n_levels * n_ladders;
    return sizeof(gbsi_ratios) + (3 * (uint64_t)n_levels + GBSI_RATIOS_ROWS * (n_lanes + 1) +
                                  2 * GBSI_RATIOS_ROWS * (uint64_t)n_ladders) *
                                     sizeof(double);
}

gbs_status gbsi_ratios_new(const gbsi_exchange *e, gbsi_ratios **ratios, gbs_error *err)
{
    const size_t n_lanes = (size_t)e->n_levels * e->n_ladders;
    gbsi_ratios *r = gbsi_alloc_zero(sizeof *r);
    GBSI_PASS(GBSI_HAVE(err, "log_z", r));
    r->n_levels = e->n_levels;
    r->n_ladders = e->n_ladders;
    r->c = gbsi_alloc_array_zero(e->n_levels, sizeof *r->c);
    r->weight = gbsi_alloc_array_zero(gbsi_ratios_cells(e), sizeof *r->weight);
    r->row = gbsi_alloc_array(GBSI_RATIOS_ROWS * n_lanes, sizeof *r->row);
    if (r->c == NULL || r->weight == NULL || r->row == NULL) {
        gbsi_ratios_free(r);
        return gbsi_no_memory(err, "log_z", GBSI_RATIOS_ROWS * n_lanes * sizeof *r->row);
    }
    *ratios = r;
    return GBS_OK;
}

void gbsi_ratios_free(gbsi_ratios *ratios)
{
    if (ratios != NULL) {
        GBSI_FREE(ratios->c, ratios->weight, ratios->row, ratios);
    }
}

/* ---- the constants --------------------------------------------------------------------------- */

void gbsi_ratios_learn(gbsi_ratios *r, const double *density)
{
    const size_t n_lanes = (size_t)r->n_levels * r->n_ladders;
    double *row = r->row + (r->n_rows % GBSI_RATIOS_ROWS) * n_lanes;
    for (size_t lane = 0; lane < n_lanes; ++lane) {
        row[lane] = density[lane];
    }
    ++r->n_rows;
}

gbs_status gbsi_ratios_fix(gbsi_ratios *r, const gbsi_exchange *e, gbs_error *err)
{
    const size_t n_rows = r->n_rows < GBSI_RATIOS_ROWS ? (size_t)r->n_rows : GBSI_RATIOS_ROWS;
    const size_t n_lanes = (size_t)r->n_levels * r->n_ladders;
    const size_t n = n_rows * r->n_ladders;
    if (n == 0) { /* the run had no iteration of burn-in, and therefore keeps no iteration */
        return GBS_OK;
    }
    double *u = gbsi_alloc_array(2 * n, sizeof *u);
    GBSI_PASS(GBSI_HAVE(err, "log_z", u));
    for (uint32_t t = 0; t + 1 < r->n_levels; ++t) {
        for (size_t i = 0; i < n; ++i) {
            const uint32_t ladder = (uint32_t)(i % r->n_ladders);
            const double *row = r->row + i / r->n_ladders * n_lanes;
            u[i] = (e->beta[t + 1] - e->beta[t]) * row[gbsi_exchange_lane(e, ladder, t)];
            u[n + i] = (e->beta[t + 1] - e->beta[t]) * row[gbsi_exchange_lane(e, ladder, t + 1)];
        }
        r->c[t] = gbsi_bar(u, n, u + n, n);
    }
    gbsi_free(u);
    return GBS_OK;
}

gbs_status gbsi_ratios_save(const gbsi_ratios *r, const gbsi_sink *sink, gbs_error *err)
{
    const size_t n_rows = r->n_rows < GBSI_RATIOS_ROWS ? (size_t)r->n_rows : GBSI_RATIOS_ROWS;
    GBSI_PASS(gbsi_put_numbers(sink, &r->n_rows, 1, sizeof r->n_rows, err));
    return gbsi_put_numbers(sink, r->row, n_rows * r->n_levels * r->n_ladders, sizeof *r->row, err);
}

gbs_status gbsi_ratios_load(gbsi_ratios *r, const gbsi_source *source, gbs_error *err)
{
    GBSI_PASS(gbsi_take_numbers(source, &r->n_rows, 1, sizeof r->n_rows, err));
    const size_t n_rows = r->n_rows < GBSI_RATIOS_ROWS ? (size_t)r->n_rows : GBSI_RATIOS_ROWS;
    return gbsi_take_numbers(source, r->row, n_rows * r->n_levels * r->n_ladders, sizeof *r->row,
                             err);
}

/* ---- averages -------------------------------------------------------------------------------- */

/* 1 / (1 + exp(-y)) */
static double fermi(double y)
{
    return y < -700.0 ? 0.0 : 1.0 / (1.0 + gbsi_exp(-y));
}

static uint64_t whole(double p)
{
    return (uint64_t)(p * (double)GBSI_MEANS_ONE + 0.5);
}

void gbsi_ratios_add(const gbsi_ratios *r, const gbsi_exchange *e, uint32_t ladder,
                     const double *density, bool valid, gbsi_means *means)
{
    uint64_t *sum = gbsi_means_row(means, ladder);
    for (uint32_t t = 0; t + 1 < r->n_levels; ++t) {
        const double step = e->beta[t + 1] - e->beta[t];
        const double of_hot = step * density[gbsi_exchange_lane(e, ladder, t)];
        const double of_cold = step * density[gbsi_exchange_lane(e, ladder, t + 1)];
        sum[hot_cell(t)] += whole(fermi(of_hot - r->c[t]));
        sum[cold_cell(t)] += whole(fermi(r->c[t] - of_cold));
    }
    sum[valid_cell(r->n_levels)] += valid ? GBSI_MEANS_ONE : 0;
}

/* Computes ln Z = sum over t of c_t + ln E_t - ln E_(t+1), and adds the logarithm of the share of
 * valid cold states. To first order, the error of ln Z is the error of a weighted sum of the cells:
 * the weight of a cell is 1 / (its mean) or -1 / (its mean). */
gbsi_log_ratio gbsi_ratios_total(const gbsi_ratios *r, const gbsi_means *means)
{
    const size_t valid = valid_cell(r->n_levels);
    const double share = gbsi_means_cell(means, valid).p;
    gbsi_log_ratio total = {.value = share > 0.0 ? gbsi_log(share) : -INFINITY, .error = NAN};
    r->weight[valid] = 1.0 / share;
    bool met = share > 0.0;
    for (uint32_t t = 0; t + 1 < r->n_levels; ++t) {
        const double hot = gbsi_means_cell(means, hot_cell(t)).p;
        const double cold = gbsi_means_cell(means, cold_cell(t)).p;
        met = met && hot > 0.0 && cold > 0.0;
        total.value += r->c[t] + (hot > 0.0 && cold > 0.0 ? gbsi_log(hot / cold) : 0.0);
        r->weight[hot_cell(t)] = 1.0 / hot;
        r->weight[cold_cell(t)] = -1.0 / cold;
    }
    if (met) {
        total.error = gbsi_means_error(means, r->weight);
    }
    return total;
}
