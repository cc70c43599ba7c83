/* SPDX-License-Identifier: Apache-2.0 */
/* The model of gbs_generate_ising() by formulas: any of its factors without the others. */
#ifndef GBSI_MODEL_GRID_SPINS_H
#define GBSI_MODEL_GRID_SPINS_H

#include "model/generators.h"

typedef struct gbsi_grid_spins {
    gbsi_generate_spins spins; /* size: columns, rows, layers */
    uint32_t n_variables;
    uint64_t n_couplings; /* factors of two variables come first, by variable and direction */
    uint64_t n_factors;   /* then the fields, if there are any, by variable */
} gbsi_grid_spins;

/* What a walk through all factors says. */
typedef struct gbsi_grid_walk {
    char digest[33];  /* gbs_model_digest() of the model */
    double largest;   /* magnitude of a weight */
    bool alike;       /* all couplings are the same */
    uint64_t n_mixed; /* variables whose couplings to the next in the first two directions differ */
} gbsi_grid_walk;

/* Refuses what gbs_generate_ising() refuses, but not models larger than memory. */
gbs_status gbsi_grid_spins_init(gbsi_grid_spins *grid, const gbs_generate_ising_options *options,
                                gbs_error *err);
gbs_status gbsi_grid_spins_walk(const gbsi_grid_spins *grid, gbsi_grid_walk *walk, gbs_error *err);

/* The number of the coupling of v to the next variable in direction d, if it has one. */
uint64_t gbsi_grid_coupling_number(const gbsi_grid_spins *grid, uint32_t v, unsigned d);
double gbsi_grid_coupling(const gbsi_grid_spins *grid, uint32_t v, unsigned d);
double gbsi_grid_field(const gbsi_grid_spins *grid, uint32_t v);

#endif
