/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-likelihood of complete rows as a function of the tied weights [M61]. */
#ifndef GBSI_WEIGHTS_PSEUDO_H
#define GBSI_WEIGHTS_PSEUDO_H

#include "parallel/pool.h"
#include "weights/likelihood.h"

/* The variables that a sweep draws. */
typedef struct gbsi_sweep_order {
    const uint32_t *variable; /* [n] drawn one after the other, or in random order */
    size_t n;
    bool random; /* draw a random one of them, n times */
} gbsi_sweep_order;

/* The memory in which a thread of the pool works. */
typedef struct gbsi_pseudo_room {
    uint32_t *x;     /* [n_variables] the row */
    double *p;       /* [largest arity] conditional of the current variable, logarithms at first */
    double *feature; /* [arity][weights of the variable] sums of features */
    double *mean;    /* [weights of the variable] */
} gbsi_pseudo_room;

typedef struct gbsi_pseudo {
    const gbs_model *model;
    const gbs_data *data;
    const gbsi_learnt *learnt;
    size_t *start;  /* [n_variables + 1] rows of factor and slot */
    size_t *factor; /* factors next to each variable */
    uint32_t *slot; /* the place of its weight in the variable's row of `local`, or GBSI_NONE */
    size_t *local_start;    /* [n_variables + 1] */
    uint32_t *local;        /* the learnt weights that meet a variable, 0 to n - 1 */
    size_t *work;           /* [n_variables] operations for one state */
    gbsi_pseudo_room *room; /* [members] */
    uint32_t n_rooms;
    gbsi_pool *pool;
    gbsi_watch *watch;
} gbsi_pseudo;

/* All is borrowed. @param whole whether every row must have all values, GBS_ERR_ARGUMENT, which all
 * of this but sweeps and features needs. @param pool NULL: this thread alone.
 * @param watch NULL: nobody waits. */
gbs_status gbsi_pseudo_init(gbsi_pseudo *pseudo, const gbs_model *model, const gbsi_learnt *learnt,
                            const gbs_data *data, bool whole, gbsi_pool *pool, gbsi_watch *watch,
                            gbs_error *err);
void gbsi_pseudo_free(gbsi_pseudo *pseudo);

/* Adds scale * ln PL(x), scale * its gradient and scale * the information, minus its second
 * derivatives, of distinct row i to those outputs that are not NULL. Minus infinity: the row is
 * impossible.
 * @param member number of the member of the pool; members may call this at the same time, and a
 * sweep as well.
 * @param w [n]. @param information [n][n], the lower triangle. */
void gbsi_pseudo_row(const gbsi_pseudo *pseudo, uint32_t member, const double *w, size_t i,
                     double scale, double *value, double *gradient, double *information);

/* Draws the variables one by one given all other variables; the state must have positive weight.
 * @param clamped [n_variables] those that stay, or NULL. @param x [n_variables] in and out. */
void gbsi_pseudo_sweep(const gbsi_pseudo *pseudo, uint32_t member, const double *w,
                       const gbsi_sweep_order *order, const uint8_t *clamped, uint64_t seed,
                       uint32_t chain, uint64_t pass, uint32_t *x);
/* Adds the features of a state. @param sum [n] */
void gbsi_pseudo_features(const gbsi_pseudo *pseudo, const uint32_t *x, double *sum);

/* @return the number of rows of a block, whose sums are computed by one thread. */
size_t gbsi_pseudo_block(const gbsi_pseudo *pseudo);
/* Whether to stop. Member 0 spends, see base/watch.h. */
static inline bool gbsi_pseudo_stops(const gbsi_pseudo *pseudo, uint32_t member,
                                     uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(pseudo->watch, n_operations)
                       : gbsi_watch_stopped(pseudo->watch);
}

/* Computes the sums over all rows, each times its weight.
 * @return GBS_ERR_STOPPED by the watch. */
gbs_status gbsi_pseudo_sum(const gbsi_pseudo *pseudo, const double *w, double *value,
                           double *gradient, double *information, gbs_error *err);

/* Computes the sum over rows of these weights, of any sign, times the gradient of ln PL.
 * @param weight [n_distinct].
 * @param sum [n] out. */
gbs_status gbsi_pseudo_scores(const gbsi_pseudo *pseudo, const double *w, const double *weight,
                              double *sum, gbs_error *err);
/* Computes the information times a vector, and its diagonal.
 * @param along [n].
 * @param product, diagonal [n] out. */
gbs_status gbsi_pseudo_product(const gbsi_pseudo *pseudo, const double *w, const double *along,
                               double *product, gbs_error *err);
gbs_status gbsi_pseudo_diagonal(const gbsi_pseudo *pseudo, const double *w, double *diagonal,
                                gbs_error *err);

#endif
