/* SPDX-License-Identifier: Apache-2.0 */
/* The pseudo-likelihood or likelihood of rows, such as held-out ones, at any tied weights. */
#ifndef GBSI_WEIGHTS_JUDGE_H
#define GBSI_WEIGHTS_JUDGE_H

#include "weights/likelihood.h"
#include "weights/pseudo.h"

typedef struct gbsi_judge {
    gbsi_learnt learnt;
    gbsi_pseudo pseudo;          /* of one of these, as of the objective that is learnt */
    gbsi_likelihood *likelihood; /* NULL: the pseudo-likelihood */
} gbsi_judge;

/* Whether the data are of a model with these variables, and have rows. */
gbs_status gbsi_judge_check(const gbs_model *model, const gbs_data *data, gbs_error *err);

/* All is borrowed. Zero-initialise; free in any case; does not move.
 * @param exact true for the likelihood, false for the pseudo-likelihood. @param memory_limit limit
 * on the bytes of its junction tree.
 * @param pool pool for the pseudo-likelihood, NULL: this thread alone.
 * @param watch NULL: nobody waits. @return errors are those of gbs_learn_weights(). */
gbs_status gbsi_judge_init(gbsi_judge *judge, const gbs_model *model, const gbs_data *data,
                           bool exact, uint64_t memory_limit, gbsi_pool *pool, gbsi_watch *watch,
                           gbs_error *err);
void gbsi_judge_free(gbsi_judge *judge);

/* @param w [learnt.n]. @param sum out: over rows, of weight times ln PL or ln P. */
gbs_status gbsi_judge_at(gbsi_judge *judge, const double *w, double *sum, gbs_error *err);

#endif
