/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-likelihood of complete rows as a function of the tied weights [M61]. */
#ifndef GBSI_WEIGHTS_PSEUDO_H
#define GBSI_WEIGHTS_PSEUDO_H

#include "parallel/pool.h"
#include "weights/likelihood.h"

/* The variables that a sweep draws. */
typedef struct gbsi_sweep_order {
    const uint32_t *variable; /* [n] variables that are drawn one after the other */
    size_t n;
    bool random; /* whether a sweep draws n variables that are chosen at random from the list */
} gbsi_sweep_order;

/* Scratch memory of one thread of the pool. */
typedef struct gbsi_pseudo_room {
    uint32_t *x; /* [n_variables] states of the current row */
    double *p;   /* [largest arity] conditional distribution of the current variable; logarithms at
                    first */
    double *feature; /* [arity][weights of the variable] sums of features */
    double *mean;    /* [weights of the variable] means of the features */
} gbsi_pseudo_room;

typedef struct gbsi_pseudo {
    const gbs_model *model;
    const gbs_data *data;
    const gbsi_learnt *learnt;
    size_t *start;  /* [n_variables + 1] where the entries of each variable begin in `factor` and
                       `slot` */
    size_t *factor; /* factors whose scopes have each variable */
    /* index of the factor's weight in the variable's part of `local`, or GBSI_NONE */
    uint32_t *slot;
    size_t *local_start; /* [n_variables + 1] where the part of each variable begins in `local` */
    uint32_t
        *local;   /* learnt weights, 0 to n - 1, of the factors whose scopes have each variable */
    size_t *work; /* [n_variables] operations for one state of the variable */
    gbsi_pseudo_room *room; /* [members] scratch memory of each thread */
    uint32_t n_rooms;
    gbsi_pool *pool;
    gbsi_watch *watch;
} gbsi_pseudo;

/* Borrows all arguments. @param whole whether every row must be complete; an incomplete row is then
 * refused with GBS_ERR_ARGUMENT. Only sweeps and features work with incomplete rows. @param pool
 * NULL: only the calling thread works. @param watch NULL: the call cannot be stopped. */
gbs_status gbsi_pseudo_init(gbsi_pseudo *pseudo, const gbs_model *model, const gbsi_learnt *learnt,
                            const gbs_data *data, bool whole, gbsi_pool *pool, gbsi_watch *watch,
                            gbs_error *err);
void gbsi_pseudo_free(gbsi_pseudo *pseudo);

/* Adds scale times ln PL(x) of distinct row i, its gradient, and the information (minus its second
 * derivatives) to the outputs that are not NULL. The value is minus infinity if the row is
 * impossible. @param member number of the member of the pool. Members may call this function and
 * gbsi_pseudo_sweep() at the same time. @param w [n]. @param information [n][n], the lower
 * triangle. */
void gbsi_pseudo_row(const gbsi_pseudo *pseudo, uint32_t member, const double *w, size_t i,
                     double scale, double *value, double *gradient, double *information);

/* Draws the variables one by one given all other variables; the state must have positive weight.
 * @param clamped [n_variables] 1: the variable keeps its state; NULL: all variables are drawn.
 * @param x [n_variables] in and out. */
void gbsi_pseudo_sweep(const gbsi_pseudo *pseudo, uint32_t member, const double *w,
                       const gbsi_sweep_order *order, const uint8_t *clamped, uint64_t seed,
                       uint32_t chain, uint64_t pass, uint32_t *x);
/* Adds the features of the joint state x to the sums. @param sum [n] */
void gbsi_pseudo_features(const gbsi_pseudo *pseudo, const uint32_t *x, double *sum);

/* @return the number of rows of a block, whose sums are computed by one thread. */
size_t gbsi_pseudo_block(const gbsi_pseudo *pseudo);
/* @return whether the watch stops the work. Only member 0 spends operations of the watch
 * (base/watch.h). */
static inline bool gbsi_pseudo_stops(const gbsi_pseudo *pseudo, uint32_t member,
                                     uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(pseudo->watch, n_operations)
                       : gbsi_watch_stopped(pseudo->watch);
}

/* Computes the sums over all rows, each row times its weight. @return GBS_ERR_STOPPED if the watch
 * stopped the computation. */
gbs_status gbsi_pseudo_sum(const gbsi_pseudo *pseudo, const double *w, double *value,
                           double *gradient, double *information, gbs_error *err);

/* Computes the sum over rows of `weight`, which may have any sign, times the gradient of ln PL.
 * @param weight [n_distinct]. @param sum [n] out. */
gbs_status gbsi_pseudo_scores(const gbsi_pseudo *pseudo, const double *w, const double *weight,
                              double *sum, gbs_error *err);
/* The first function computes the product of the information with the vector `along`. The second
 * function computes the diagonal of the information.
 * @param along [n].
 * @param product, diagonal [n] out. */
gbs_status gbsi_pseudo_product(const gbsi_pseudo *pseudo, const double *w, const double *along,
                               double *product, gbs_error *err);
gbs_status gbsi_pseudo_diagonal(const gbsi_pseudo *pseudo, const double *w, double *diagonal,
                                gbs_error *err);

#endif
