/* SPDX-License-Identifier: Apache-2.0 */
/* Replica exchange: ladders of chains at inverse temperatures b_0 < ... < b_(T-1) = 1, whose
 * neighbours swap states.
 *
 * Level t of a ladder has the law pi_b(x) proportional to exp(b_t U(x)), U the log density. Swaps
 * are those of Syed, Bouchard-Cote, Deligiannidis & Doucet (2022), JRSS B 84(2):321-350: even and
 * odd pairs of neighbours take turns, which carries replicas through the ladder instead of letting
 * them diffuse. [M50] */
#ifndef GBSI_TEMPER_EXCHANGE_H
#define GBSI_TEMPER_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

typedef struct gbsi_exchange {
    uint32_t n_levels, n_ladders;
    double *beta;      /* [n_levels] ascending, the last is 1 */
    double *rejection; /* [n_levels - 1] sums of 1 - acceptance probability between levels t and t +
                          1 */
    uint64_t n_proposed[2]; /* number of terms in those sums, for even t and for odd t */
    uint8_t *heading;       /* [n_levels * n_ladders] by lane: the end of the ladder that its
                               replica visited last */
    uint64_t *n_trips; /* [n_ladders] replicas that went from the cold end to the hot and back */
} gbsi_exchange;

/* Called for two lanes whose states are to be swapped. */
typedef void gbsi_swap(void *context, uint32_t a, uint32_t b);

/* @param n_levels >= 1. Inverse temperatures t / (T - 1) to the power 3/2, closer where it is hot.
 */
gbs_status gbsi_exchange_new(uint32_t n_levels, uint32_t n_ladders, gbsi_exchange **exchange,
                             gbs_error *err);
void gbsi_exchange_free(gbsi_exchange *exchange);
uint64_t gbsi_exchange_bytes(uint32_t n_levels, uint32_t n_ladders);

/* The lane of a level: cold levels first, so that ladder r has its cold state in lane r. */
static inline uint32_t gbsi_exchange_lane(const gbsi_exchange *exchange, uint32_t ladder,
                                          uint32_t level)
{
    return (exchange->n_levels - 1 - level) * exchange->n_ladders + ladder;
}

/* The swaps of one iteration: even pairs if it is even, else odd ones.
 * @param density [n_levels * n_ladders] by lane: U, swapped along. @param swap not NULL. */
void gbsi_exchange_step(gbsi_exchange *exchange, uint64_t seed, uint64_t iteration, double *density,
                        gbsi_swap *swap, void *context);

/* The mean rejection rate of levels t and t + 1. */
double gbsi_exchange_rate(const gbsi_exchange *exchange, uint32_t t);
/* The communication barrier between two levels: the sum of their rates. */
double gbsi_exchange_barrier(const gbsi_exchange *exchange, uint32_t from, uint32_t to);
/* The communication barrier from a point between two levels to the cold end, interpolated linearly
 * between the levels. */
double gbsi_exchange_barrier_from(const gbsi_exchange *exchange, double from);

/* Levels of equal rejection between `first`, in levels, and the cold end, by the rates so far.
 * Nothing else is kept: rates and trips are counted from 0 again. */
gbs_status gbsi_exchange_remade(const gbsi_exchange *from, double first, uint32_t n_levels,
                                uint32_t n_ladders, gbsi_exchange **exchange, gbs_error *err);

/* Saves and loads everything except the shape, which the caller stores. @return GBS_ERR_FORMAT for
 * what no ladder has. */
gbs_status gbsi_exchange_save(const gbsi_exchange *exchange, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_exchange_load(gbsi_exchange *exchange, const gbsi_source *source, gbs_error *err);

#endif
