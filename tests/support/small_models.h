/* SPDX-License-Identifier: Apache-2.0 */
/* Small models of every kind for tests that cross concepts. All are deterministic functions of a
 * seed. */
#ifndef GBSI_TESTS_SMALL_MODELS_H
#define GBSI_TESTS_SMALL_MODELS_H

#include <stdbool.h>

#include "gibbsite/gibbsite.h"

/* A stream of test numbers: counter based, so that tests do not depend on their order. */
typedef struct test_stream {
    uint64_t seed;
    uint64_t n;
} test_stream;

uint32_t test_u32(test_stream *s);
uint32_t test_below(test_stream *s, uint32_t n);
double test_uniform(test_stream *s, double low, double high);

/* Random, mostly connected models of n variables, by the class into which their variables fall. */
typedef enum test_family {
    TEST_ISING,    /* binary, couplings, fields, 2x2 tables, parallel factors */
    TEST_POTTS,    /* Potts couplings, arity 3 to 5, unary tables; one J or many */
    TEST_PAIRWISE, /* mixed arities 2 to 4, pairwise tables */
    TEST_TABLE,    /* mixed arities, tables of up to 4 variables */
    TEST_LOGICAL,  /* every logical function, literals of binary and ternary variables */
    TEST_SPIN,     /* spin products of 2 to 7, fields */
    TEST_MIXED,    /* all of the above */
    TEST_BAYES,    /* a random Bayesian network, positive */
    TEST_PRECISE,  /* log-weights so large that sums run in double */
    TEST_N_FAMILIES,
} test_family;

const char *test_family_name(test_family family);
gbs_model *test_model(test_family family, uint64_t seed, uint32_t n);

/* Models large enough to be shared by threads: 40 x 37 noisy pixels of five states; 400 x 6
 * spins, which junction trees answer too. */
gbs_model *test_picture(void);
gbs_model *test_strip(void);

bool test_all_binary(const gbs_model *model);

/* The conformance table: named models that are hard in one way each. */
typedef struct test_case {
    const char *name;
    gbs_model *(*make)(void);
    int observe;   /* variable to observe in state 1, -1: none */
    int crossable; /* single-variable updates reach the whole support */
} test_case;
extern const test_case test_cases[];
extern const size_t n_test_cases;
extern const size_t n_first_test_cases; /* that tests/conformance/digests.txt began with */

/* Computes exact marginals by definition: a loop over all states of the user's model. p is
 * ragged. */
void test_exact(const gbs_model *model, const gbs_evidence *evidence, double *p);

#endif
