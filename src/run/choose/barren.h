/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that can be summed out before anything is answered, where all variables are asked for
 * and the others are answered exactly: they are drawn given independent draws of the others. */
#ifndef GBSI_CHOOSE_BARREN_H
#define GBSI_CHOOSE_BARREN_H

#include "condition/prune.h"

typedef struct gbsi_barren {
    gbsi_conditioned *full; /* the model given evidence, with the barren variables; owned */
    gbsi_pruning pruning;
    uint32_t *full_variable; /* [variables that stay] numbers of these variables in `full` */
    uint32_t *x;             /* [full variables] the last draw */
    double *p;               /* [largest arity] scratch */
    double *mean;            /* [full states] mean conditional of a pruned variable over n_draws */
    double *square;          /* [full states] sum of squared distances from the mean */
    uint64_t n_draws;
} gbsi_barren;

/* @param full taken, also after a failure. @param pruning taken, also on failure.
 * @param part the remaining part of full. */
gbs_status gbsi_barren_new(gbsi_conditioned *full, gbsi_pruning *pruning,
                           const gbsi_conditioned *part, gbsi_barren **out, gbs_error *err);
void gbsi_barren_free(gbsi_barren *barren);

/* Draws all pruned variables in reverse order of their removal, each given the variables drawn
 * before it, and adds their conditionals to the averages [M7].
 * @param x [variables that stay] an independent draw of them. */
void gbsi_barren_draw(gbsi_barren *barren, const uint32_t *x, uint64_t seed, uint32_t chain,
                      uint64_t draw);

/* The estimate of state a of variable v of `full`, and its standard error. */
double gbsi_barren_p(const gbsi_barren *barren, uint32_t v, uint32_t a, double *mcse);

#endif
