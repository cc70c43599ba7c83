/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of literals, as programs that count the models of a CNF write them. */
#ifndef GBSI_MODELS_LITERAL_WEIGHTS_H
#define GBSI_MODELS_LITERAL_WEIGHTS_H

#include "models/clauses.h"

/* The entries of all lines read so far. Zero-initialise. */
typedef struct gbsi_literal_weights {
    void *entry;
    size_t n, capacity;
    size_t n_in_one_line; /* weights of miniC2D */
    bool told;            /* of a sampling set */
} gbsi_literal_weights;

/* A line that begins with a comment's c or a w, in which there may be weights. */
gbs_status gbsi_literal_weights_line(gbsi_literal_weights *w, gbsi_text line, gbs_error *err);
/* Adds what the lines came to, behind the clauses.
 * @param counting clauses have no weights of their own: otherwise such lines are refused.
 * @return GBS_ERR_UNSUPPORTED for a projected count. */
gbs_status gbsi_literal_weights_end(gbsi_literal_weights *w, gbsi_clauses *c, const gbsi_text *text,
                                    bool counting, gbs_error *err);
void gbsi_literal_weights_free(gbsi_literal_weights *w);

#endif
