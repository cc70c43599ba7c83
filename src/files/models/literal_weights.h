/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of literals in files for programs that count the models of a CNF formula. */
#ifndef GBSI_MODELS_LITERAL_WEIGHTS_H
#define GBSI_MODELS_LITERAL_WEIGHTS_H

#include "models/clauses.h"

/* The entries of all lines read until now. The struct must be initialised with zeros. */
typedef struct gbsi_literal_weights {
    void *entry;
    size_t n, capacity;
    size_t n_in_one_line; /* number of weights in miniC2D's line */
    bool told;            /* a warning about a sampling set was given */
} gbsi_literal_weights;

/* Reads a line that begins with w, or with c as a comment, and that may contain weights. */
gbs_status gbsi_literal_weights_line(gbsi_literal_weights *w, gbsi_text line, gbs_error *err);
/* Adds clauses for the weights of literals, behind the other clauses.
 * @param counting whether the clauses of the file have no weights. If they have weights, weights of
 *   literals are refused.
 * @return GBS_ERR_UNSUPPORTED for a projected count. */
gbs_status gbsi_literal_weights_end(gbsi_literal_weights *w, gbsi_clauses *c, const gbsi_text *text,
                                    bool counting, gbs_error *err);
void gbsi_literal_weights_free(gbsi_literal_weights *w);

#endif
