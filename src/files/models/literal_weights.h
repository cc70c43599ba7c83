/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of literals, as programs that count the models of a CNF formula write them. */
#ifndef GBSI_MODELS_LITERAL_WEIGHTS_H
#define GBSI_MODELS_LITERAL_WEIGHTS_H

#include "models/clauses.h"

/* The entries of all lines read until now. To be initialised with zeros. */
typedef struct gbsi_literal_weights {
    void *entry;
    size_t n, capacity;
    size_t n_in_one_line; /* number of weights in the line of miniC2D */
    bool told;            /* a sampling set was already reported */
} gbsi_literal_weights;

/* Reads a line that begins with c (a comment) or w and may contain weights. */
gbs_status gbsi_literal_weights_line(gbsi_literal_weights *w, gbsi_text line, gbs_error *err);
/* Adds clauses for the weights of the lines, behind the other clauses.
 * @param counting whether the clauses have no weights of their own; otherwise such lines are
 *   refused.
 * @return GBS_ERR_UNSUPPORTED for a projected count. */
gbs_status gbsi_literal_weights_end(gbsi_literal_weights *w, gbsi_clauses *c, const gbsi_text *text,
                                    bool counting, gbs_error *err);
void gbsi_literal_weights_free(gbsi_literal_weights *w);

#endif
