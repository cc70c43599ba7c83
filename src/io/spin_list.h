/* SPDX-License-Identifier: Apache-2.0 */
/* A model of spins as the formats of couplings have it: ln p = c + sum h_i s_i + sum J_ij s_i s_j,
 * s = -1 in state 0 and +1 in state 1. Built into a model, or taken out of one. */
#ifndef GBSI_IO_SPIN_LIST_H
#define GBSI_IO_SPIN_LIST_H

#include "gibbsite/io.h"
#include "io/edges.h"

/* Energies are E; p is proportional to exp(-E). */
typedef enum gbsi_convention {
    GBSI_PHYSICS, /* E = -sum J s s - sum h s */
    GBSI_BQM,     /* E = +sum J s s + sum h s */
    GBSI_MAXCUT,  /* E = +sum w s s: heavy edges are cut; no fields */
    /* What formats mean unless they are told otherwise. */
    GBSI_MTX_CONVENTION = GBSI_PHYSICS,
    GBSI_RUD_CONVENTION = GBSI_MAXCUT,
    GBSI_COO_CONVENTION = GBSI_BQM,
} gbsi_convention;

/* @param word NULL: own. @return GBS_ERR_ARGUMENT if it is none of the three. */
gbs_status gbsi_convention_of(const char *word, gbsi_convention own, gbsi_convention *convention,
                              gbs_error *err);
const char *gbsi_convention_name(gbsi_convention convention);
/* The factor from a number in a file to one of the log-density, and back: +1 or -1. */
double gbsi_convention_sign(gbsi_convention convention);

typedef struct gbsi_spins {
    uint32_t n_variables;
    double constant;
    double *field;    /* [n_variables] */
    gbsi_edges edges; /* i != j, each pair once */
} gbsi_spins;

gbs_status gbsi_spins_init(gbsi_spins *spins, uint32_t n_variables, gbs_error *err);
void gbsi_spins_free(gbsi_spins *spins);

/* sum v_ij x_i x_j + sum v_ii x_i over x in {0, 1}, as fields and edges have the v, becomes one
 * over spins. */
void gbsi_spins_from_binary(gbsi_spins *spins);

/* Times sign, into a model: the constant, fields by variable, couplings as they come. Zeros are
 * left out. */
gbs_status gbsi_spins_build(const gbsi_spins *spins, double sign, gbs_model **model,
                            gbs_error *err);

/* The model as spins, every pair once in the order of its first factor.
 * @param format its name, for messages. @param fields whether it may hold any.
 * @return GBS_ERR_UNSUPPORTED naming the first factor that is more than finite values on at most
 * two binary variables. */
gbs_status gbsi_spins_of_model(const gbs_model *model, const char *format, bool fields,
                               gbsi_spins *spins, gbs_error *err);

#endif
