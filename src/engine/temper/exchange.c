/* SPDX-License-Identifier: Apache-2.0 */
#include "temper/exchange.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

/* rejection rate that is assumed for a pair of levels that never rejected a swap; with a rate of 0
 * the two levels would coincide */
#define LEAST_RATE 1e-4

/* The end of the ladder at which a replica was last. A round trip is counted when a replica that
 * visited the hot end last arrives at the cold end. */
enum { FROM_NOWHERE, FROM_COLD, FROM_HOT };

uint64_t gbsi_exchange_bytes(uint32_t n_levels, uint32_t n_ladders)
{
    return sizeof(gbsi_exchange) + n_levels * 2 * sizeof(double) + (uint64_t)n_levels * n_ladders +
           n_ladders * sizeof(uint64_t);
}

static gbs_status take(uint32_t n_levels, uint32_t n_ladders, gbsi_exchange **exchange,
                       gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exchange *e = gbsi_alloc_zero(sizeof *e);
    GBSI_PASS(GBSI_HAVE(err, "temperatures", e));
    e->n_levels = n_levels;
    e->n_ladders = n_ladders;
    e->beta = gbsi_alloc_array_zero(n_levels, sizeof *e->beta);
    e->rejection = gbsi_alloc_array_zero(n_levels, sizeof *e->rejection);
    e->heading = gbsi_alloc_array_zero(n_levels, n_ladders);
    e->n_trips = gbsi_alloc_array_zero(n_ladders, sizeof *e->n_trips);
    GBSI_TRY(GBSI_HAVE(err, "temperatures", e->beta, e->rejection, e->heading, e->n_trips));
    *exchange = e;
    e = NULL;
cleanup:
    gbsi_exchange_free(e);
    return status;
}

gbs_status gbsi_exchange_new(uint32_t n_levels, uint32_t n_ladders, gbsi_exchange **exchange,
                             gbs_error *err)
{
    const gbs_status status = take(n_levels, n_ladders, exchange, err);
    for (uint32_t t = 0; status >= 0 && t < n_levels; ++t) {
        const double u = n_levels > 1 ? (double)t / (n_levels - 1) : 1.0;
        (*exchange)->beta[t] = u * gbsi_sqrt(u);
    }
    return status;
}

void gbsi_exchange_free(gbsi_exchange *exchange)
{
    if (exchange != NULL) {
        GBSI_FREE(exchange->beta, exchange->rejection, exchange->heading, exchange->n_trips,
                  exchange);
    }
}

/* ---- swaps ----------------------------------------------------------------------------------- */

/* Proposes to exchange levels t and t + 1 of one ladder. The joint law changes by the ratio
 * exp((b_t - b_(t+1)) (U(x_(t+1)) - U(x_t))). The swap is accepted with probability min(1, ratio).
 */
static void propose(gbsi_exchange *e, uint64_t seed, uint64_t iteration, uint32_t ladder,
                    uint32_t t, double *density, gbsi_swap *swap, void *context)
{
    const uint32_t hot = gbsi_exchange_lane(e, ladder, t);
    const uint32_t cold = gbsi_exchange_lane(e, ladder, t + 1);
    const double d = (e->beta[t] - e->beta[t + 1]) * (density[cold] - density[hot]);
    const double accept = d >= 0.0 ? 1.0 : gbsi_exp(d);
    uint32_t word[4];
    gbsi_philox(seed, ladder, iteration, t, GBSI_PURPOSE_SWAP, word);
    e->rejection[t] += 1.0 - accept;
    if (gbsi_uniform(word[0], word[1]) < accept) {
        const double of_hot = density[hot];
        const uint8_t heading = e->heading[hot];
        density[hot] = density[cold];
        density[cold] = of_hot;
        e->heading[hot] = e->heading[cold];
        e->heading[cold] = heading;
        swap(context, hot, cold);
    }
}

/* Counts round trips from the replicas that are at the two ends of a ladder. */
static void count_trips(gbsi_exchange *e, uint32_t ladder)
{
    uint8_t *hot = &e->heading[gbsi_exchange_lane(e, ladder, 0)];
    uint8_t *cold = &e->heading[gbsi_exchange_lane(e, ladder, e->n_levels - 1)];
    if (*cold == FROM_HOT) {
        ++e->n_trips[ladder];
    }
    *cold = FROM_COLD;
    if (e->n_levels > 1 && *hot == FROM_COLD) {
        *hot = FROM_HOT;
    }
}

void gbsi_exchange_step(gbsi_exchange *e, uint64_t seed, uint64_t iteration, double *density,
                        gbsi_swap *swap, void *context)
{
    const uint32_t parity = (uint32_t)(iteration & 1);
    for (uint32_t ladder = 0; ladder < e->n_ladders; ++ladder) {
        for (uint32_t t = parity; t + 1 < e->n_levels; t += 2) {
            propose(e, seed, iteration, ladder, t, density, swap, context);
        }
        count_trips(e, ladder);
    }
    e->n_proposed[parity] += e->n_ladders;
}

/* ---- where the levels lie -------------------------------------------------------------------- */

double gbsi_exchange_rate(const gbsi_exchange *e, uint32_t t)
{
    const uint64_t n = e->n_proposed[t & 1];
    const double rate = n == 0 ? 0.0 : e->rejection[t] / (double)n;
    return rate > LEAST_RATE ? rate : LEAST_RATE;
}

double gbsi_exchange_barrier(const gbsi_exchange *e, uint32_t from, uint32_t to)
{
    double sum = 0.0;
    for (uint32_t t = from; t < to; ++t) {
        sum += gbsi_exchange_rate(e, t);
    }
    return sum;
}

double gbsi_exchange_barrier_from(const gbsi_exchange *e, double from)
{
    const uint32_t t = (uint32_t)from;
    const double within = t + 1 < e->n_levels ? (from - t) * gbsi_exchange_rate(e, t) : 0.0;
    return gbsi_exchange_barrier(e, t, e->n_levels - 1) - within;
}

/* Places the new levels at equal rejection (section 5 of the paper that exchange.h cites). The
 * cumulative barrier C(b_t) is the sum of the rejection rates of the pairs s < t, and C is
 * interpolated linearly between levels. The new levels are
 *     b'_k = C^-1(C(b_first) + (C(1) - C(b_first)) k / (n - 1)). */
static void space(const gbsi_exchange *from, double first, uint32_t n, double *beta)
{
    const uint32_t last = from->n_levels - 1;
    const double left = gbsi_exchange_barrier_from(from, first);
    const double hotter = gbsi_exchange_barrier(from, 0, last) - left;
    double before = 0.0; /* C(b_t) */
    uint32_t t = 0;
    for (uint32_t k = 0; k + 1 < n; ++k) {
        const double wanted = hotter + left * k / (n - 1);
        while (t + 1 < last && before + gbsi_exchange_rate(from, t) < wanted) {
            before += gbsi_exchange_rate(from, t++);
        }
        const double share = last == 0 ? 0.0 : (wanted - before) / gbsi_exchange_rate(from, t);
        const double step = last == 0 ? 0.0 : from->beta[t + 1] - from->beta[t];
        beta[k] = from->beta[t] + (share < 1.0 ? share : 1.0) * step;
    }
    beta[n - 1] = 1.0;
}

gbs_status gbsi_exchange_remade(const gbsi_exchange *from, double first, uint32_t n_levels,
                                uint32_t n_ladders, gbsi_exchange **exchange, gbs_error *err)
{
    const gbs_status status = take(n_levels, n_ladders, exchange, err);
    if (status >= 0) {
        space(from, first, n_levels, (*exchange)->beta);
    }
    return status;
}

/* ---- saved ----------------------------------------------------------------------------------- */

gbs_status gbsi_exchange_save(const gbsi_exchange *e, const gbsi_sink *sink, gbs_error *err)
{
    GBSI_PASS(gbsi_put_numbers(sink, e->beta, e->n_levels, sizeof *e->beta, err));
    GBSI_PASS(gbsi_put_numbers(sink, e->rejection, e->n_levels, sizeof *e->rejection, err));
    GBSI_PASS(gbsi_put_numbers(sink, e->n_proposed, 2, sizeof e->n_proposed[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, e->heading, (size_t)e->n_levels * e->n_ladders,
                               sizeof *e->heading, err));
    return gbsi_put_numbers(sink, e->n_trips, e->n_ladders, sizeof *e->n_trips, err);
}

static bool is_ladder(const gbsi_exchange *e)
{
    bool ascends = e->beta[0] >= 0.0 && e->beta[e->n_levels - 1] == 1.0;
    for (uint32_t t = 0; t + 1 < e->n_levels; ++t) {
        ascends = ascends && e->beta[t] <= e->beta[t + 1];
    }
    for (size_t lane = 0; lane < (size_t)e->n_levels * e->n_ladders; ++lane) {
        ascends = ascends && e->heading[lane] <= FROM_HOT;
    }
    return ascends;
}

gbs_status gbsi_exchange_load(gbsi_exchange *e, const gbsi_source *source, gbs_error *err)
{
    GBSI_PASS(gbsi_take_numbers(source, e->beta, e->n_levels, sizeof *e->beta, err));
    GBSI_PASS(gbsi_take_numbers(source, e->rejection, e->n_levels, sizeof *e->rejection, err));
    GBSI_PASS(gbsi_take_numbers(source, e->n_proposed, 2, sizeof e->n_proposed[0], err));
    GBSI_PASS(gbsi_take_numbers(source, e->heading, (size_t)e->n_levels * e->n_ladders,
                                sizeof *e->heading, err));
    GBSI_PASS(gbsi_take_numbers(source, e->n_trips, e->n_ladders, sizeof *e->n_trips, err));
    if (!is_ladder(e)) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved ladders are damaged");
    }
    return GBS_OK;
}
