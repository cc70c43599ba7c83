/* SPDX-License-Identifier: Apache-2.0 */
/* The models that are timed: one family for each class of variable, in any size. */
#ifndef BENCH_BENCH_MODELS_H
#define BENCH_BENCH_MODELS_H

#include "gibbsite/gibbsite.h"

typedef enum bench_family {
    BENCH_ISING,    /* torus, a coupling of its own on every edge */
    BENCH_UNIFORM,  /* torus, one coupling: few conditionals */
    BENCH_REGULAR,  /* the same on a random graph of degree 4: neighbours are far away */
    BENCH_PAIRWISE, /* grid of 3 states, a table on every edge, one of 16 */
    BENCH_POTTS,    /* grid of 5 states, one coupling: a noisy picture */
    BENCH_TABLE,    /* Bayesian network of 2 to 4 states and up to 3 parents, the form of ALARM */
    BENCH_LOGICAL,  /* weighted clauses of three, binary */
    BENCH_PRECISE,  /* the pairwise grid, each table with one entry of e^-200: sums in double */
    /* where single variables hardly move */
    BENCH_LADDER, /* two rows of spins, couplings +-2 at random, small fields */
    BENCH_STRIP,  /* four rows of three states that attract each other strongly */
    BENCH_PARITY, /* running parities of bits that are hardly ever wrong */
} bench_family;

/* @param size side of a grid, or number of variables. */
gbs_model *bench_model(bench_family family, uint32_t size);
/* A description in words, such as "512 x 512 torus". @param text [size of text]. */
void bench_model_text(bench_family family, uint32_t size, char *text, size_t text_size);

#endif
