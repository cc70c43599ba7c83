/* SPDX-License-Identifier: Apache-2.0 */
/* What the generators share: numbers that depend on (seed, stream, index) alone, and the couplings
 * and fields of spin models. */
#ifndef GBSI_MODEL_GENERATE_H
#define GBSI_MODEL_GENERATE_H

#include "gibbsite/generate.h"

/* One stream per use, so that what is drawn for one thing never depends on another. Numbers are
 * part of what a seed means and never change. */
typedef enum gbsi_generate_stream {
    GBSI_STREAM_COUPLING = 0, /* grids: index 3 variable + direction; else the coupling's number */
    GBSI_STREAM_FIELD = 1,    /* index variable */
    GBSI_STREAM_PATCH = 2,    /* index 4 patch + number */
    GBSI_STREAM_NOISE = 3,    /* index 6 variable + pair */
    GBSI_STREAM_ARITY = 4,    /* index variable */
    GBSI_STREAM_PARENTS = 5,  /* index (2 max + 3) variable + number */
    GBSI_STREAM_TABLE = 6,    /* index entry, counted through all tables */
    GBSI_STREAM_PAIRING = 7,  /* index half-edge */
    GBSI_STREAM_SWITCH = 8,   /* index switch, counted through */
    GBSI_STREAM_ATTACH = 9,   /* index attempt, counted through */
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

/* ---- generate_spins.c -------------------------------------------------------------------- */

/* What all spin models take: J_ij uniform in coupling -+ coupling_spread, h_i uniform in field -+
 * random_field. */
typedef struct gbsi_generate_spins {
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbsi_generate_spins;

/* Refuse numbers that are not finite, more variables than can be numbered, and a model that this
 * machine could not hold. @param what "ring of 5 variables", for messages. */
gbs_status gbsi_spins_check(const gbsi_generate_spins *spins, const char *what,
                            uint64_t n_variables, uint64_t n_couplings, gbs_error *err);
/* @param index of the coupling in its stream. */
gbs_status gbsi_spins_couple(const gbsi_generate_spins *spins, gbs_builder *builder, uint64_t index,
                             uint32_t a, uint32_t b, gbs_error *err);
/* Fields on variables 0 .. n-1, unless all are zero. */
gbs_status gbsi_spins_add_fields(const gbsi_generate_spins *spins, gbs_builder *builder, uint32_t n,
                                 gbs_error *err);

#endif
