/* SPDX-License-Identifier: Apache-2.0 */
/* Replica exchange. The levels of a ladder are chains at inverse temperatures b_0 < ... < b_(T-1) =
 * 1. Chains of neighbouring levels swap their states.
 *
 * Level t of a ladder has the law pi_b(x) proportional to exp(b_t U(x)), where U is the log
 * density. The swaps follow Syed, Bouchard-Cote, Deligiannidis & Doucet (2022), JRSS B
 * 84(2):321-350. Even and odd pairs of neighbours take turns. Taking turns carries replicas through
 * the ladder in one direction, while random pairs would let replicas diffuse. [M50] */
#ifndef GBSI_TEMPER_EXCHANGE_H
#define GBSI_TEMPER_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

typedef struct gbsi_exchange {
    uint32_t n_levels, n_ladders;
    double *beta;      /* [n_levels] in ascending order; the last entry is 1 */
    double *rejection; /* [n_levels - 1] for each pair of levels t and t + 1: sum of 1 - acceptance
                          probability */
    uint64_t
        n_proposed[2]; /* number of terms in each sum of `rejection`, for even t and for odd t */
    /* [n_levels * n_ladders] for each lane: end of the ladder that its replica visited last */
    uint8_t *heading;
    /* [n_ladders] number of round trips of replicas from the cold end to the hot end and back */
    uint64_t *n_trips;
} gbsi_exchange;

/* Swaps the states of lanes a and b. */
typedef void gbsi_swap(void *context, uint32_t a, uint32_t b);

/* @param n_levels number T of levels, at least 1. Level t has the inverse temperature (t / (T -
 *   1))^(3/2), so that hot levels are closer together. */
gbs_status gbsi_exchange_new(uint32_t n_levels, uint32_t n_ladders, gbsi_exchange **exchange,
                             gbs_error *err);
void gbsi_exchange_free(gbsi_exchange *exchange);
uint64_t gbsi_exchange_bytes(uint32_t n_levels, uint32_t n_ladders);

/* Returns the lane of a level of a ladder. Lanes are numbered from the coldest levels on, so that
 * lane r has the cold state of ladder r. */
static inline uint32_t gbsi_exchange_lane(const gbsi_exchange *exchange, uint32_t ladder,
                                          uint32_t level)
{
    return (exchange->n_levels - 1 - level) * exchange->n_ladders + ladder;
}

/* Proposes the swaps of one iteration: even pairs if `iteration` is even, else odd pairs.
 * @param density [n_levels * n_ladders] log density U of each lane; swapped together with the
 *   states.
 * @param swap function that swaps the states of two lanes; not NULL. */
void gbsi_exchange_step(gbsi_exchange *exchange, uint64_t seed, uint64_t iteration, double *density,
                        gbsi_swap *swap, void *context);

/* Mean rejection rate of swaps between levels t and t + 1. */
double gbsi_exchange_rate(const gbsi_exchange *exchange, uint32_t t);
/* Communication barrier between two levels, which is the sum of the rejection rates of the pairs of
 * levels between the two. */
double gbsi_exchange_barrier(const gbsi_exchange *exchange, uint32_t from, uint32_t to);
/* Communication barrier from a point between two levels to the cold end, interpolated linearly
 * between levels. */
double gbsi_exchange_barrier_from(const gbsi_exchange *exchange, double from);

/* Makes a new ladder whose hot end is at position `first` of the ladder `from`. Position t + r lies
 * between levels t and t + 1. The new levels are placed so that all pairs of neighbours reject
 * swaps equally often, according to the rates that `from` has counted. The new ladder counts rates
 * and trips from 0. */
gbs_status gbsi_exchange_remade(const gbsi_exchange *from, double first, uint32_t n_levels,
                                uint32_t n_ladders, gbsi_exchange **exchange, gbs_error *err);

/* Save and load everything except the numbers of levels and ladders, which the caller stores.
 * @return GBS_ERR_FORMAT if the loaded values cannot belong to a ladder. */
gbs_status gbsi_exchange_save(const gbsi_exchange *exchange, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_exchange_load(gbsi_exchange *exchange, const gbsi_source *source, gbs_error *err);

#endif
