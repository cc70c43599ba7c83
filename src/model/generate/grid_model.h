/* SPDX-License-Identifier: Apache-2.0 */
/* The model of gbs_generate_ising() or gbs_generate_potts() in formulas, from which each factor
 * can be computed without the others. */
#ifndef GBSI_GENERATE_GRID_MODEL_H
#define GBSI_GENERATE_GRID_MODEL_H

#include "generate/generators.h"

typedef struct gbsi_grid_model {
    uint32_t size[3]; /* numbers of columns, rows and layers */
    bool torus;
    uint32_t arity;
    uint32_t n_variables;
    uint64_t n_couplings; /* number of factors of two variables; they come before all other factors,
                             ordered by variable and then by direction */
    uint64_t n_factors; /* number of all factors; the factors of one variable, if any, come last, in
                           the order of variables */
    gbs_factor_kind pair, single; /* kinds of the factors of two variables and of one variable */
    uint32_t n_entries; /* number of entries of the table of a factor of one variable; 0 if such
                           factors have weights */
    gbsi_generate_spins spins;
    gbsi_generate_picture picture;
} gbsi_grid_model;

/* Results of a walk through all factors. */
typedef struct gbsi_grid_walk {
    char digest[33];  /* gbs_model_digest() of the model */
    double largest;   /* largest absolute value of a weight or entry */
    double span;      /* upper bound of the span of a conditional: the largest minus the smallest
                         log-weight of its states */
    bool alike;       /* whether all couplings are equal */
    uint64_t n_mixed; /* number of variables whose coupling in the first direction differs from
                         their coupling in the second */
} gbsi_grid_walk;

/* Refuse the options that gbs_generate_ising() and gbs_generate_potts() refuse, except models
 * larger than memory. */
gbs_status gbsi_grid_of_ising(const gbs_generate_ising_options *options, gbsi_grid_model *grid,
                              gbs_error *err);
gbs_status gbsi_grid_of_potts(const gbs_generate_potts_options *options, gbsi_grid_model *grid,
                              gbs_error *err);
gbs_status gbsi_grid_walk_through(const gbsi_grid_model *grid, gbsi_grid_walk *walk,
                                  gbs_error *err);

/* Returns the factor number of the coupling between v and the next variable in direction d. The
 * coupling must exist. */
uint64_t gbsi_grid_coupling_number(const gbsi_grid_model *grid, uint32_t v, unsigned d);
double gbsi_grid_coupling(const gbsi_grid_model *grid, uint32_t v, unsigned d);
/* Returns the weight of the factor whose scope is v alone. If this factor has a table, also
 * computes the entries of the table.
 * @param entry [n_entries] out. */
double gbsi_grid_single(const gbsi_grid_model *grid, uint32_t v, double *entry);

/* Returns the span of the log-weights of the conditional of a variable with n_neighbours
 * neighbours: the sum of the spans of its factors, as in src/engine/plan/class.c. Only for grids
 * made by gbs_generate_potts().
 * @param entry [n_entries] scratch. */
double gbsi_grid_span(const gbsi_grid_model *grid, uint32_t v, unsigned n_neighbours,
                      double *entry);

static inline bool gbsi_grid_has_singles(const gbsi_grid_model *grid)
{
    return grid->n_factors > grid->n_couplings;
}

#endif
