/* SPDX-License-Identifier: Apache-2.0 */
/* What the generators share: numbers that depend on (seed, stream, index) alone, and edges and
 * fields of spin models. */
#ifndef GBSI_MODEL_GENERATE_H
#define GBSI_MODEL_GENERATE_H

#include "gibbsite/generate.h"

/* One stream per use, so that what is drawn for one thing never depends on another. Numbers are
 * part of what a seed means and never change. */
typedef enum gbsi_generate_stream {
    GBSI_STREAM_COUPLING = 0, /* index 3 variable + direction */
    GBSI_STREAM_FIELD = 1,    /* index variable */
    GBSI_STREAM_PATCH = 2,    /* index 4 patch + number */
    GBSI_STREAM_NOISE = 3,    /* index 6 variable + pair */
    GBSI_STREAM_ARITY = 4,    /* index variable */
    GBSI_STREAM_PARENTS = 5,  /* index (2 max + 3) variable + number */
    GBSI_STREAM_TABLE = 6,    /* index entry, counted through all tables */
} gbsi_generate_stream;

/* Two uniforms in [0, 1) of an index. */
void gbsi_generate_uniforms(uint64_t seed, gbsi_generate_stream stream, uint64_t index,
                            double u[2]);

/* Whether a side of this length has an edge back to its start: with one or two places that edge
 * would be a loop or the same edge again. */
int gbsi_generate_wraps(int torus, uint32_t side);

/* Add n binary variables or variables of one arity. */
gbs_status gbsi_generate_variables(gbs_builder *builder, uint32_t n, uint32_t arity,
                                   gbs_error *err);

#endif
