/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are timed: one family for each class of variables, in any size. */
#ifndef BENCH_BENCH_MODELS_H
#define BENCH_BENCH_MODELS_H

#include "gibbsite/gibbsite.h"

typedef enum bench_family {
    BENCH_ISING,   /* torus with a different coupling on every edge */
    BENCH_UNIFORM, /* torus with one coupling on all edges, which has few different conditionals */
    /* random graph of degree 4 with a different coupling on every edge; neighbours are far apart in
     * memory */
    BENCH_REGULAR,
    BENCH_PAIRWISE, /* grid of variables with 3 states; each edge has one of 16 tables */
    BENCH_POTTS,    /* grid of variables with 5 states, one coupling: a noisy picture */
    BENCH_TABLE, /* Bayesian network like ALARM: variables have 2 to 4 states and up to 3 parents */
    BENCH_LOGICAL, /* weighted clauses of three binary variables */
    /* as BENCH_PAIRWISE, but each table has an entry of e^-200, so sums are in double */
    BENCH_PRECISE,
    /* Models whose single variables hardly move. */
    BENCH_LADDER, /* two rows of spins, couplings of random sign +-2, small fields */
    BENCH_STRIP,  /* four rows of variables with three states that attract one another strongly */
    BENCH_PARITY, /* running parities of bits that are hardly ever wrong */
} bench_family;

/* @param size side of a grid, or number of variables. */
gbs_model *bench_model(bench_family family, uint32_t size);
/* A description in words, such as "512 x 512 torus". @param text [size of text]. */
void bench_model_text(bench_family family, uint32_t size, char *text, size_t text_size);

#endif
